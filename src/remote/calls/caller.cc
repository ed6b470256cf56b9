#include "remote/calls/caller.h"

#include <algorithm>

#include "base/text.h"
#include "remote/protocol/checksum.h"
#include "store/caller_patience.h"

namespace postino::remote {

namespace {

using Next = Verdict::Next;

constexpr std::string_view data_prefix = "DynamoDB_20120810.";
constexpr std::string_view streams_prefix = "DynamoDBStreams_20120810.";
constexpr const char* content_type = "application/x-amz-json-1.0";
// Items of 16 MB, in the widest form that JSON gives them.
constexpr std::size_t largest_answer = 64 << 20;
constexpr base::Milliseconds longest_nap{50};

// A stream that is throttled holds up no one who reads or writes its table.
std::string rate_of(const Call& call) { return call.api == Api::data ? call.table : "stream of " + call.table; }

// Of some operations the service does not say which table it does not have. Its message stays as it is, for those who
// call it through us.
void name_table(const Call& call, store::Error& error) {
  if (call.api != Api::data || call.table.empty() || error.message.find(call.table) != std::string::npos) return;
  store::ErrorDetails details;
  details.table = call.table;
  if (call.operation.starts_with("Batch") || call.operation.starts_with("Transact"))
    details.table.append(", or another of this ").append(call.operation);
  error.details = std::make_shared<const store::ErrorDetails>(std::move(details));
}

bool was_refused_by_condition(const Outcome& outcome) {
  if (outcome.answer) return false;
  const store::Error& error = outcome.answer.error();
  if (error.type == store::ErrorType::conditional_check_failed) return true;
  return error.type == store::ErrorType::transaction_canceled && error.details != nullptr &&
         std::ranges::any_of(error.details->reasons,
                             [](const auto& reason) { return reason.code == "ConditionalCheckFailed"; });
}

}  // namespace

struct Caller::Progress {
  net::Deadline end;
  std::string rate;
  int attempts = 0;
  std::optional<store::Error> unknown;  // of the first attempt that may have been done
  bool has_new_keys = false;
  bool has_new_time = false;
  int cost = 0;  // of the last repeat
};

base::Result<std::unique_ptr<Caller>> Caller::create(CallerOptions options, const base::Clock& clock,
                                                     base::Random& random) {
  if (options.region.empty()) return base::invalid("region must not be empty");
  if (options.credentials == nullptr) return base::invalid("credentials must be given");
  if (options.attempts < 1 || options.most_calls < 1)
    return base::invalid("there must be at least one attempt, and one call at a time");
  if (options.call_time <= std::chrono::milliseconds(0)) return base::invalid("the time of a call must not be zero");
  http::ClientOptions client_options;
  client_options.allow_private_addresses = true;  // the operator has named it
  client_options.tls = options.tls;
  client_options.max_response_bytes = largest_answer;
  client_options.max_idle_connections = static_cast<std::size_t>(options.most_calls);
  client_options.shutdown_deadline = options.shutdown_deadline;
  TRY(std::unique_ptr<http::Client> client, http::Client::create(std::move(client_options)));
  return std::unique_ptr<Caller>(new Caller(std::move(options), std::move(client), clock, random));
}

Caller::Caller(CallerOptions options, std::unique_ptr<http::Client> client, const base::Clock& clock,
               base::Random& random)
    : options_(std::move(options)),
      client_(std::move(client)),
      clock_(clock),
      random_(random),
      service_clock_(clock),
      limit_(options_.most_calls),
      health_(options_.endpoint.authority(), options_.streams_endpoint.authority(), options_.needed) {}

bool Caller::is_ending() const {
  return options_.shutdown_deadline != nullptr && options_.shutdown_deadline->is_over();
}

bool Caller::pause(base::Milliseconds time) const {
  for (base::Milliseconds left = time; left > base::Milliseconds(0) && !is_ending(); left -= longest_nap)
    options_.sleep(std::min(left, longest_nap));
  return !is_ending();
}

// The end of the process may be told while it waits.
std::optional<CallLimit::Place> Caller::wait_for_place(net::Deadline end) {
  while (true) {
    auto place = limit_.enter(std::min(end, net::deadline_in(longest_nap)));
    if (place || is_ending() || std::chrono::steady_clock::now() >= end) return place;
  }
}

Verdict Caller::judge(const Call& call, http::ClientResponse response, const Take& take) {
  const std::string_view checksum = response.header("x-amz-crc32");
  if (!has_right_checksum(checksum, response.body))
    return spoilt_answer("the answer does not have the checksum that it tells");
  // Amazon's answers all have one. Where they had one, an answer without it comes from something in between.
  std::atomic<bool>& tells_checksums = call.api == Api::data ? data_tells_checksums_ : streams_tell_checksums_;
  const std::string type(response.header("content-type"));
  const bool is_of_its_type = base::equal_ignoring_case(type.substr(0, type.find(';')), content_type);
  if (response.status == 200 && checksum.empty() && tells_checksums)
    return is_of_its_type ? spoilt_answer("the answer has no checksum, as others had")
                          : judge_foreign_answer(response.status, type, acquaintance(call.api));
  if (response.status == 200) {
    const auto taken = take(std::move(response.body));
    if (!taken && !is_of_its_type) return judge_foreign_answer(response.status, type, acquaintance(call.api));
    if (!taken) return spoilt_answer("the answer cannot be read: " + taken.error().message);
    if (!checksum.empty()) tells_checksums = true;
    service_clock_.learn(response.header("date"));
    note_answered(call.api);
    return {};
  }
  auto refusal = decode_refusal(response.status, std::move(response.body));
  if (!refusal) return judge_foreign_answer(response.status, type, acquaintance(call.api));
  note_answered(call.api);
  if (refusal->error.type == store::ErrorType::resource_not_found) name_table(call, refusal->error);
  const bool is_other_time = service_clock_.learn(response.header("date"));
  Verdict verdict = judge_refusal(call.api, response.status, *std::move(refusal));
  if (verdict.next == Next::correct_time && !is_other_time) verdict.next = Next::give_up;
  return verdict;
}

Verdict Caller::send(const Call& call, const Take& take, const Progress& progress) {
  const auto keys = options_.credentials->keys();
  if (!keys) return without_keys(keys.error());
  const bool is_of_streams = call.api == Api::streams;
  http::ClientRequest request{"POST", is_of_streams ? options_.streams_endpoint : options_.endpoint, {}, {}};
  request.headers = {
      {"Content-Type", content_type},
      {"X-Amz-Target", std::string(is_of_streams ? streams_prefix : data_prefix).append(call.operation)}};
  request.body = progress.unknown && call.body_of_repeat ? call.body_of_repeat() : call.body;
  signature::sign_request(request, *keys, {options_.region, "dynamodb"}, service_clock_.now());
  // One that hangs leaves time for another.
  const net::Deadline deadline = std::min(progress.end, net::deadline_in(options_.call_time / 2));
  auto sent = client_->attempt(request, deadline);
  if (sent.response) return judge(call, *std::move(sent.response), take);
  const bool is_timeout = std::chrono::steady_clock::now() >= deadline;
  return no_answer(sent.response.error().message, sent.was_sent, is_timeout, acquaintance(call.api));
}

Verdict Caller::attempt(const Call& call, const Take& take, Progress& progress) {
  const base::Milliseconds wait = rates_.take(progress.rate, clock_.monotonic());
  if (net::deadline_in(wait) >= progress.end || !pause(wait)) {
    rates_.give_back(progress.rate);
    return {.next = Next::give_up,
            .error = {store::ErrorType::throttling, "the table is throttled, and the call's turn did not come in time"},
            .trouble = Trouble::throttled};
  }
  const auto place = wait_for_place(progress.end);
  if (!place) {
    rates_.give_back(progress.rate);
    return {.next = Next::give_up,
            .error = {store::ErrorType::service_unavailable, "too many calls of DynamoDB are waiting"},
            .trouble = Trouble::untried};
  }
  ++progress.attempts;
  return send(call, take, progress);
}

void Caller::note(const Call& call, const Verdict& verdict, Progress& progress) {
  counts_.count(call.operation, call.table, [&](RemoteCounts& counts) {
    ++counts.attempts;
    counts.throttled += verdict.is_throttled ? 1 : 0;
  });
  if (verdict.is_throttled) rates_.is_throttled(progress.rate, clock_.monotonic());
  if (verdict.next == Next::done) {
    rates_.succeeds(progress.rate, clock_.monotonic());
    budget_.succeed(progress.cost);
  }
  if (verdict.may_be_done && !progress.unknown) progress.unknown = verdict.error;
}

bool Caller::may_go_on(const Call& call, const Verdict& verdict, Progress& progress) {
  if (verdict.may_be_done && !call.is_repeatable) return false;
  if (verdict.next == Next::renew_keys && !progress.has_new_keys) {
    options_.credentials->refused();
    return progress.has_new_keys = true;
  }
  if (verdict.next == Next::correct_time && !progress.has_new_time) return progress.has_new_time = true;
  if (verdict.next != Next::try_later || progress.attempts >= options_.attempts) return false;
  const base::Milliseconds delay = options_.backoff.full_jitter(progress.attempts, random_);
  if (net::deadline_in(delay) >= progress.end) return false;
  const auto cost = budget_.take(verdict.is_timeout);
  if (!cost) return false;
  progress.cost = *cost;
  return pause(delay);
}

Outcome Caller::attempt_until_done(const Call& call, const Take& take) {
  const auto begun = std::chrono::steady_clock::now();
  const auto patience = store::CallerPatience::left(options_.call_time);
  if (patience < std::chrono::milliseconds(1))
    return {store::refuse(store::ErrorType::service_unavailable,
                          "DynamoDB has not answered earlier calls of this request, and is not called again"),
            false, Trouble::untried};
  Progress progress{.end = begun + patience, .rate = rate_of(call)};
  while (true) {
    const int before = progress.attempts;
    Verdict verdict = attempt(call, take, progress);
    if (progress.attempts > before) note(call, verdict, progress);
    if (verdict.next == Next::done) return {{}, progress.unknown.has_value()};
    if (may_go_on(call, verdict, progress)) continue;
    if (verdict.trouble == Trouble::unusable || verdict.trouble == Trouble::throttled ||
        verdict.trouble == Trouble::untried)
      store::CallerPatience::spend(std::chrono::steady_clock::now() - begun);
    // What was refused for now says nothing about what was sent before.
    const bool is_final = verdict.next == Next::give_up && progress.attempts > before;
    store::Error& error = progress.unknown && !is_final ? *progress.unknown : verdict.error;
    return {base::propagate(std::move(error)), progress.unknown.has_value(), verdict.trouble};
  }
}

bool Caller::has_failed(const Call& call, const Outcome& outcome) const {
  if (outcome.answer) return false;
  const store::ErrorType type = outcome.answer.error().type;
  if (type == store::ErrorType::internal_server_error || type == store::ErrorType::service_unavailable) return true;
  return outcome.trouble != Trouble::none && (outcome.trouble == Trouble::unusable ||
                                              health_.is_needed(call.api, call.operation, call.table, outcome.trouble));
}

Outcome Caller::call(const Call& call, const Take& take) {
  const base::Milliseconds begun = clock_.monotonic();
  Outcome outcome = attempt_until_done(call, take);
  counts_.count(call.operation, call.table, [&](RemoteCounts& counts) {
    ++counts.calls;
    counts.failed += has_failed(call, outcome) ? 1 : 0;
    counts.refused_writes += was_refused_by_condition(outcome) ? 1 : 0;
  });
  FinishedCall finished{.api = call.api,
                        .operation = call.operation,
                        .table = call.table,
                        .begun = begun,
                        .ended = clock_.monotonic(),
                        .trouble = outcome.trouble};
  if (!outcome.answer) finished.why = outcome.answer.error().message;
  health_.note(finished);
  return outcome;
}

}  // namespace postino::remote
