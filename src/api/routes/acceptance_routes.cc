// POST /emails: the way in.
#include <algorithm>
#include <memory>

#include "api/protocol/idempotency_headers.h"
#include "api/protocol/limits.h"
#include "api/protocol/quota_headers.h"
#include "api/routes/route_groups.h"
#include "base/hash.h"
#include "json/writer.h"
#include "outbox/outbox.h"

namespace postino::api {

namespace {

using outbox::AcceptAnswer;
using outbox::AcceptError;
using outbox::AcceptOutcome;
using outbox::AcceptStatus;
using outbox::Outbox;
using outbox::Payload;

std::string_view code_of(AcceptError error) {
  switch (error) {
    case AcceptError::duplicated_id:
      return "DUPLICATED_ID";
    case AcceptError::storage:
      return "STORAGE_ERROR";
    case AcceptError::database:
      return "DATABASE_ERROR";
    case AcceptError::unknown:
      return "OUTCOME_UNKNOWN";
  }
  return "";
}

// Reads e-mails one after the other, and notes what is wrong with them.
class PayloadReader {
 public:
  PayloadReader(const Call& call, json::FieldErrors& errors)
      : outbox_(call.services.outbox), now_(call.services.clock.now()), errors_(errors) {}

  void read(json::Element element, const std::string& path) {
    auto payload = outbox::read_payload(element, path, now_, errors_);
    const auto url = element.member("callback_url");
    if (outbox_.refuses_callback(std::string(url ? url->text().value_or("") : "")))
      errors_.add(path + (path.empty() ? "" : ".") + "callback_url", outbox::leads_inside_rule);
    if (payload) payloads_.push_back(*std::move(payload));
  }

  std::vector<Payload> take() { return std::move(payloads_); }

 private:
  Outbox& outbox_;
  const base::TimePoint now_;
  json::FieldErrors& errors_;
  std::vector<Payload> payloads_;
};

// An e-mail as it is, without the list around it.
bool is_one_email(json::Element root) {
  return root.is_object() && !root.member("data") && (root.member("from") || root.member("to"));
}

base::Result<std::vector<Payload>, Problem> read_payloads(const Call& call) {
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(call.request.body, errors)) return refuse_fields(problems::malformed_json, errors);
  PayloadReader reader(call, errors);
  const json::Element root = document.root();
  if (is_one_email(root)) {
    reader.read(root, "");
  } else {
    json::Fields fields(root, "", errors);
    const auto data = fields.list("data", json::Fields::Need::required, Limits::emails_in_a_request);
    if (data && data->empty()) fields.refuse("data", "must have at least one element");
    fields.refuse_others();
    for (std::size_t i = 0; data && i < data->size(); ++i) reader.read((*data)[i], json::element_path("data", i));
  }
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  return reader.take();
}

// Of what is asked for, not of how it is written: spaces and the order of members make no difference.
std::string hash_of_payloads(const std::vector<Payload>& payloads, const std::string& tenant) {
  std::string text = "POST /emails\n" + tenant;
  for (const Payload& payload : payloads) text.append("\n").append(outbox::to_json(payload));
  return base::to_hex(base::sha256(text));
}

// Keys are a tenant's own or, of callers without one, the API key's.
Outbox::KeyedRequest keyed_request(const IdempotencyHeaders& headers, const std::vector<Payload>& payloads,
                                   const Caller& caller) {
  const std::string owner = caller.tenant.empty() ? caller.name : "";
  return {owner + "/" + headers.key, hash_of_payloads(payloads, caller.tenant), headers.life};
}

struct Summary {
  std::int64_t total = 0;
  std::int64_t successful = 0;

  int status() const {
    if (successful == total) return 201;
    return successful > 0 ? 200 : 422;
  }
};

bool is_unknown(const AcceptOutcome& outcome) { return outcome.error == AcceptError::unknown; }

bool is_unstored(const AcceptOutcome& outcome) {
  return outcome.error == AcceptError::storage || outcome.error == AcceptError::database || is_unknown(outcome);
}

std::string_view status_of(const AcceptOutcome& outcome) {
  if (is_unknown(outcome)) return "UNKNOWN";
  return outcome.error ? "REJECTED" : "ACCEPTED";
}

// Why the store did not take it is in the log, and nothing for callers.
std::string message_of(const AcceptOutcome& outcome) {
  if (is_unknown(outcome)) return "it is not known whether the e-mail was stored; look for its id";
  return is_unstored(outcome) ? "the e-mail was not stored; try again later" : outcome.message;
}

tl::unexpected<Problem> refuse_unknown_outcome() {
  return refuse(problems::outcome_unknown,
                "The e-mails may have been stored, and then they are sent. Repeat the request with the same "
                "Idempotency-Key, or with the same ids: nothing is accepted twice. A request that had neither may be "
                "executed twice.");
}

Summary summary_of(const std::vector<AcceptOutcome>& outcomes) {
  Summary summary{static_cast<std::int64_t>(outcomes.size()), 0};
  for (const AcceptOutcome& outcome : outcomes) summary.successful += outcome.error ? 0 : 1;
  return summary;
}

void write_result(json::Writer& json, const AcceptOutcome& outcome) {
  json.begin_object();
  json.key("id").string(outcome.id);
  json.key("status").string(status_of(outcome));
  if (outcome.error) {
    json.key("error").begin_object();
    json.key("code").string(code_of(*outcome.error));
    json.key("message").string(message_of(outcome));
    json.end_object();
  }
  json.end_object();
}

std::string render(const std::vector<AcceptOutcome>& outcomes) {
  const Summary summary = summary_of(outcomes);
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("summary").begin_object();
  json.key("total").integer(summary.total);
  json.key("successful").integer(summary.successful);
  json.key("failed").integer(summary.total - summary.successful);
  json.end_object();
  json.key("results").begin_array();
  for (const AcceptOutcome& outcome : outcomes) write_result(json, outcome);
  json.end_array();
  json.end_object();
  return text;
}

Outcome answer_of(const std::vector<AcceptOutcome>& outcomes) {
  // It is not what was handed in.
  if (!outcomes.empty() && std::ranges::all_of(outcomes, is_unstored)) {
    const AcceptOutcome& first = outcomes.front();
    auto refusal = std::ranges::any_of(outcomes, is_unknown)
                       ? refuse_unknown_outcome()
                       : refuse(problems::store_unavailable,
                                first.error == AcceptError::storage
                                    ? "No e-mail was stored: payloads cannot be written. Try again in a moment."
                                    : "No e-mail was stored. Try again in a moment.");
    refusal.value().cause = first.message;
    return refusal;
  }
  return json_reply(render(outcomes), summary_of(outcomes).status());
}

// The summary in an answer that render() wrote.
std::optional<Summary> read_summary(std::string_view answer) {
  constexpr std::int64_t most = 1'000'000;
  using Need = json::Fields::Need;
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(answer, errors)) return std::nullopt;
  json::Fields fields(document.root(), "", errors);
  const auto element = fields.any("summary", Need::required);
  if (!element) return std::nullopt;
  json::Fields summary(*element, "summary", errors);
  const auto total = summary.integer("total", Need::required, 0, most);
  const auto successful = summary.integer("successful", Need::required, 0, most);
  if (!errors.empty()) return std::nullopt;
  return Summary{*total, *successful};
}

Outcome replay_acceptance(std::string answer) {
  const auto summary = read_summary(answer);
  if (!summary)
    return base::propagate(
        problem_of({base::ErrorCode::corrupt, "the response stored under an idempotency key is malformed"}, {}));
  return replayed(json_reply(std::move(answer), summary->status()));
}

// The e-mails of a request, in the quotas of its caller: those that are not accepted are given back.
class EmailQuota {
 public:
  EmailQuota(const Call& call, std::size_t count)
      : quotas_(call.caller.quotas), now_(call.services.clock.now()), count_(static_cast<std::int64_t>(count)) {}
  ~EmailQuota() {
    if (taken_ > 0) access::give_back_emails(quotas_, now_, taken_);
  }
  EmailQuota(const EmailQuota&) = delete;
  EmailQuota& operator=(const EmailQuota&) = delete;

  std::optional<access::QuotaState> take() {
    if (quotas_.empty()) return std::nullopt;
    auto used_up = access::take_emails(quotas_, now_, count_);
    if (!used_up) taken_ = count_;
    return used_up;
  }
  void keep(std::int64_t accepted) { taken_ -= std::min(taken_, accepted); }

 private:
  const access::QuotaMeters quotas_;
  const base::TimePoint now_;
  const std::int64_t count_;
  std::int64_t taken_ = 0;
};

Outcome accept_emails(Call& call) {
  TRY(const std::optional<IdempotencyHeaders> headers, read_idempotency_headers(call.request));
  if (!headers && call.services.require_idempotency_key)
    return refuse(problems::idempotency_key_required, "POST /emails requires the header Idempotency-Key.");
  TRY(std::vector<Payload> payloads, read_payloads(call));
  std::optional<Outbox::KeyedRequest> keyed;
  if (headers) keyed = keyed_request(*headers, payloads, call.caller);
  EmailQuota quota(call, payloads.size());
  if (const auto used_up = quota.take()) return refuse_over_quota(*used_up);
  TRY(AcceptAnswer answer,
      answered(call.services.outbox.accept(std::move(payloads), call.caller.tenant, keyed, render)));
  switch (answer.status) {
    case AcceptStatus::done:
      quota.keep(summary_of(answer.outcomes).successful);
      return answer_of(answer.outcomes);
    case AcceptStatus::replayed:
      return replay_acceptance(std::move(answer.stored_answer));
    case AcceptStatus::in_progress:
      return refuse_key_in_progress();
    case AcceptStatus::unreadable_key:
      return refuse_unreadable_key();
    case AcceptStatus::no_room:
      return refuse(problems::overloaded, "Too many large e-mails are being worked on. Try again in a moment.");
    case AcceptStatus::unknown:
      return refuse_unknown_outcome();
    case AcceptStatus::other_request:
      break;
  }
  return refuse_key_reused();
}

// Most requests: small, and without a key. They are read at once, and share a commit with others.
bool begin_accepting(Call& call, const Finish& finish) {
  constexpr std::size_t quickly_read = 128 << 10;
  const auto headers = read_idempotency_headers(call.request);
  if (!headers || *headers || call.services.require_idempotency_key || call.request.body.size() > quickly_read)
    return false;
  auto payloads = read_payloads(call);
  if (!payloads) {
    finish(base::propagate(std::move(payloads).error()));
    return true;
  }
  const auto quota = std::make_shared<EmailQuota>(call, payloads->size());
  if (const auto used_up = quota->take()) {
    finish(refuse_over_quota(*used_up));
    return true;
  }
  const auto answer = [finish, quota](base::Result<std::vector<AcceptOutcome>> outcomes) {
    if (auto accepted = answered(std::move(outcomes)); accepted) {
      quota->keep(summary_of(*accepted).successful);
      finish(answer_of(*accepted));
    } else {
      finish(base::propagate(std::move(accepted).error()));
    }
  };
  if (!call.services.outbox.accept_soon(*std::move(payloads), call.caller.tenant, answer))
    finish(refuse(problems::overloaded, "Try again in a moment."));
  return true;
}

}  // namespace

std::vector<Route> acceptance_routes() {
  const std::vector<Content> answer{{json_content_type, "Acceptance"}};
  return {{
      .operation =
          {.id = "acceptEmails",
           .method = "POST",
           .path = "/emails",
           .right = Right::send,
           .group = "E-mails",
           .summary = "Submit e-mails",
           .description =
               "A single e-mail need not be wrapped in `data`; the response is the same. If one element is malformed, "
               "all are refused. Otherwise each e-mail is either accepted and stored "
               "durably, or refused, independently of the others. The results are in the order of the "
               "elements.\n\nWith an Idempotency-Key, a repeated request does not send mail twice: it gets the stored "
               "response with the same status. Keys belong to the tenant or, without one, to the API key.\n\nThe code "
               "OUTCOME_UNKNOWN, of a 503 or of one e-mail, says that the store failed while it was writing: the "
               "e-mails may have been stored. Repeat the request with the same Idempotency-Key or the same ids. With "
               "every other code, what was refused is not there.",
           .parameters = {idempotency_key_parameter(), idempotency_expiry_parameter()},
           .body = {{{json_content_type, "Submission"}}, true},
           .answers = {{200, "Some e-mails were accepted.", answer},
                       {201, "All e-mails were accepted.", answer},
                       {409, key_conflict},
                       {422, "No e-mail was accepted, or the idempotency key was used for another request.", answer}}},
      .handle = accept_emails,
      .begin = begin_accepting,
      .own_keys = true,
  }};
}

}  // namespace postino::api
