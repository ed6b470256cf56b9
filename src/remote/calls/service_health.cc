#include "remote/calls/service_health.h"

#include <algorithm>

#include "base/log.h"

namespace postino::remote {

namespace {

net::LastingTrouble::Instant instant_of(base::Milliseconds monotonic) {
  return net::LastingTrouble::Instant(monotonic);
}

std::string_view word_of(Api api) { return api == Api::data ? "DynamoDB" : "DynamoDB Streams"; }

std::string_view word_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::denied:
      return "calls are not allowed";
    case Trouble::missing:
      return "a table is missing";
    default:
      return "calls are throttled";
  }
}

base::Milliseconds memory_of(Trouble trouble) {
  return trouble == Trouble::throttled ? ServiceHealth::throttling_forgotten_after : ServiceHealth::forgotten_after;
}

bool is_transaction(std::string_view operation) { return operation.starts_with("Transact"); }
// It is about several tables, and the service does not say which of them it does not have.
bool is_of_several(std::string_view operation) { return is_transaction(operation) || operation.starts_with("Batch"); }

}  // namespace

ServiceHealth::ServiceHealth(std::string data_endpoint, std::string streams_endpoint, NeededTables needed)
    : data_{.name = std::move(data_endpoint)},
      streams_{.name = std::move(streams_endpoint)},
      needed_(std::move(needed)) {}

bool ServiceHealth::is_needed(Api api, std::string_view operation, std::string_view table, Trouble trouble) const {
  const auto found = needed_.find(table);
  if (api == Api::streams) return found != needed_.end() && trouble != Trouble::missing;
  if (found == needed_.end()) return false;
  return trouble == Trouble::missing || is_transaction(operation) || found->second.contains(operation);
}

void ServiceHealth::note(const FinishedCall& call) {
  switch (call.trouble) {
    case Trouble::none:
      note_answer(call);
      if (has_refusals_) forget_refusals(call);
      return;
    case Trouble::untried:
      return;
    case Trouble::unusable:
      return note_failure(call);
    case Trouble::denied:
    case Trouble::missing:
    case Trouble::throttled:
      note_answer(call);
      if (is_needed(call.api, call.operation, call.table, call.trouble)) note_refusal(call);
      return;
  }
}

void ServiceHealth::note_answer(const FinishedCall& call) {
  Endpoint& endpoint = this->endpoint(call.api);
  endpoint.last_success = call.ended.count();
  if (!endpoint.has_failed) return;
  {
    const std::lock_guard lock(mutex_);
    endpoint.has_failed = false;
  }
  if (endpoint.told.works())
    base::log_info("store", std::string(word_of(call.api)) + " can be used again", {{"name", endpoint.name}});
}

void ServiceHealth::note_failure(const FinishedCall& call) {
  Endpoint& endpoint = this->endpoint(call.api);
  {
    const std::lock_guard lock(mutex_);
    // A call that was repeated for long has seen for as long that it does not work.
    if (!endpoint.has_failed)
      endpoint.failures.since = std::max(call.begun, base::Milliseconds(endpoint.last_success.load()));
    endpoint.has_failed = true;
    endpoint.failures.last = call.ended;
    endpoint.failures.why = call.why;
    if (!endpoint.failures.has_lasted()) return;
  }
  if (endpoint.told.fails(std::string(call.why), instant_of(call.ended)))
    base::log_error("store", std::string(word_of(call.api)) + " cannot be used",
                    {{"name", endpoint.name}, {"error", std::string(call.why)}});
}

void ServiceHealth::note_refusal(const FinishedCall& call) {
  const bool is_of_table = call.trouble == Trouble::missing && !is_of_several(call.operation);
  const Refusal refusal(call.api, call.trouble, is_of_table ? "" : call.operation, call.table);
  const std::lock_guard lock(mutex_);
  auto found = refusals_.find(refusal);
  if (found == refusals_.end()) {
    if (refusals_.size() >= most_refusals) return;  // there is enough to be told
    found = refusals_.emplace(refusal, Failures{.since = call.ended}).first;
    has_refusals_ = true;
  }
  Failures& failures = found->second;
  if (call.ended - failures.last > memory_of(call.trouble)) failures.since = call.ended;
  failures.last = call.ended;
  failures.why = call.why;
  if (!failures.has_lasted()) return;
  const std::string text = text_of(refusal, failures);
  if (told_[Kind(call.api, call.trouble)].fails(text, instant_of(call.ended)))
    base::log_error("store", std::string(word_of(call.trouble)), {{"error", text}});
}

// What has succeeded is allowed, and there, and not throttled any more.
void ServiceHealth::forget_refusals(const FinishedCall& call) {
  const std::lock_guard lock(mutex_);
  std::set<Kind> ended;
  for (auto each = refusals_.begin(); each != refusals_.end();) {
    const auto& [api, trouble, operation, table] = each->first;
    const bool has_succeeded =
        api == call.api && table == call.table && (operation.empty() || operation == call.operation);
    const bool is_over = has_succeeded || call.ended - each->second.last > memory_of(trouble);
    if (is_over) ended.insert(Kind(api, trouble));
    each = is_over ? refusals_.erase(each) : std::next(each);
  }
  has_refusals_ = !refusals_.empty();
  for (const Kind& kind : ended) tell_end(kind);
}

void ServiceHealth::tell_end(const Kind& kind) {
  const auto is_of_kind = [&](const auto& entry) {
    return Kind(std::get<0>(entry.first), std::get<1>(entry.first)) == kind && entry.second.has_lasted();
  };
  if (std::ranges::any_of(refusals_, is_of_kind)) return;
  if (told_[kind].works())
    base::log_info("store", "this is over: " + std::string(word_of(std::get<Trouble>(kind))),
                   {{"name", endpoint(std::get<Api>(kind)).name}});
}

std::string ServiceHealth::text_of(const Refusal& refusal, const Failures& failures) const {
  const auto& [api, trouble, operation, table] = refusal;
  const std::string name = std::string(word_of(api)) + " " + endpoint(api).name;
  if (trouble == Trouble::missing)
    return name + " has no table " + table + (operation.empty() ? "" : ", or another that " + operation + " is about") +
           ": restore it from a backup. Only postino tables apply makes it again, and it is empty then";
  const std::string call = operation + " of table " + table;
  if (trouble == Trouble::denied)
    return name + " does not allow " + call +
           ": give the server's keys the rights that postino tables export --format iam prints (" + failures.why + ")";
  return name + " throttles " + call + ": give the table more throughput (" + failures.why + ")";
}

std::vector<std::string> ServiceHealth::problems(Api api, base::Milliseconds now) const {
  const Endpoint& endpoint = this->endpoint(api);
  std::vector<std::string> found;
  if (!endpoint.has_failed && !has_refusals_) return found;
  const std::lock_guard lock(mutex_);
  if (endpoint.has_failed && endpoint.failures.has_lasted())
    found.push_back(std::string(word_of(api)) + " " + endpoint.name +
                    " could not be used at the last attempt: " + endpoint.failures.why);
  for (const auto& [refusal, failures] : refusals_)
    if (std::get<Api>(refusal) == api && failures.has_lasted() &&
        now - failures.last <= memory_of(std::get<Trouble>(refusal)))
      found.push_back(text_of(refusal, failures));
  return found;
}

}  // namespace postino::remote
