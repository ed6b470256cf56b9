#include "api/keyed_requests.h"

#include <algorithm>

#include "api/protocol/idempotency_headers.h"
#include "base/hash.h"
#include "base/log.h"
#include "json/canonical.h"
#include "json/writer.h"
#include "store/retry.h"

namespace postino::api {

namespace {

using idempotency::Begun;
using idempotency::KeyState;

constexpr int first_redirection = 300;  // of HTTP's statuses

std::string operation_of(const Route& route) {
  return std::string(route.operation.method).append(" ").append(route.operation.path);
}

// Of what is asked for, not of how it is written: in JSON spaces and the order of members make no difference.
std::string hash_of_call(const Call& call) {
  std::string text(call.request.path());
  text.append("\n").append(call.request.query()).append("\n");
  json::FieldErrors errors;
  if (json::Document document; document.parse(call.request.body, errors))
    json::append_canonical(text, document.root());
  else
    text.append(call.request.body);
  return base::to_hex(base::sha256(text));
}

std::string kept_answer_json(const Route& route, const Reply& reply) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("status").integer(reply.status);
  json.key("contentType").string(reply.content_type);
  if (route.again != nullptr)
    json.key("toldOf").string(reply.told_of);
  else
    json.key("body").string(reply.body);
  json.end_object();
  return text;
}

std::optional<Reply> read_reply(const Route& route, std::string_view text) {
  using Need = json::Fields::Need;
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(text, errors)) return std::nullopt;
  json::Fields fields(document.root(), "", errors);
  const auto status = fields.integer("status", Need::required, 200, 299);
  const auto content_type = fields.text("contentType", Need::required);
  const auto rest = fields.text(route.again != nullptr ? "toldOf" : "body", Need::required);
  if (!errors.empty()) return std::nullopt;
  Reply reply{.status = static_cast<int>(*status), .content_type = std::string(*content_type)};
  (route.again != nullptr ? reply.told_of : reply.body) = std::string(*rest);
  return reply;
}

Outcome replay_answer(const Route& route, Call& call, const std::string& kept) {
  auto reply = read_reply(route, kept);
  if (!reply) {
    auto refusal = refuse_unreadable_key();
    refusal.value().cause = "the response stored under an idempotency key is malformed";
    return refusal;
  }
  if (route.again == nullptr) return replayed(*std::move(reply));
  TRY(Reply again, route.again(call, reply->told_of));
  again.status = reply->status;
  return replayed(std::move(again));
}

template <class T>
base::Result<T, Problem> answered_by_store(store::Answer<T> answer) {
  if (answer) return *std::move(answer);
  base::Error error = store::as_error(answer.error());
  const bool may_pass = error.code == base::ErrorCode::io || error.code == base::ErrorCode::exhausted;
  if (!may_pass) error.code = base::ErrorCode::corrupt;  // no fault of the caller, whatever it is
  return base::propagate(problem_of(std::move(error), {}));
}

// What the execution has noted, and how it notes more.
outbox::ChangeNotes notes_in(idempotency::Guard& guard, idempotency::Record& record) {
  return {record.progress, [&guard, &record](const std::string& text) -> base::Result<void> {
            record.progress = text;
            const auto noted = guard.note_progress(record);
            if (noted) return {};
            base::Error error = store::as_error(noted.error());
            if (error.code == base::ErrorCode::conflict)
              error.message = "another request with the same idempotency key has taken over";
            return base::propagate(std::move(error));
          }};
}

// With which a route answers that it has done what it was asked for.
int success_of(const Route& route) {
  for (const AnswerDescription& answer : route.operation.answers)
    if (answer.status < first_redirection) return answer.status;
  return 200;
}

// Has the commit of what is done write down the answer as well. `noted` is set to it when one was to do so.
store::NoteAnswer note_in_commit(idempotency::Guard& guard, const Route& route, const idempotency::Record& record,
                                 std::string& noted) {
  return [&guard, &route, &record, &noted](const std::string& told_of) -> store::TransactAction {
    Reply reply{.status = success_of(route), .content_type = std::string(json_content_type)};
    reply.told_of = told_of;
    noted = kept_answer_json(route, reply);
    return guard.completion(record, noted);
  };
}

// Has each of several commits write down how far the request has come.
store::NoteProgress progress_in_commits(idempotency::Guard& guard, const idempotency::Record& record) {
  return {record.progress, [&guard, &record](const std::string& text) -> store::TransactAction {
            idempotency::Record further = record;
            further.progress = text;
            return guard.progress_note(std::move(further));
          }};
}

// What was done is done, and is answered as such, also when its record cannot be written. The record's lease ends, and
// the key is free then. `noted`: the answer that the commit of what was done may have written; empty: there was none.
void note(idempotency::Guard& guard, const Route& route, idempotency::Record& record, const Outcome& outcome,
          const std::string& noted) {
  // What was refused has changed nothing, whatever it had noted: the key is free for other requests.
  if (!outcome && outcome.error().type.status < first_server_error) record.progress.clear();
  const std::string answer = outcome ? kept_answer_json(route, *outcome) : "";
  auto written = outcome ? guard.complete(record, answer) : guard.fail(record);
  if (written || (!noted.empty() && (!outcome || answer == noted))) return;
  // What followed from the commit, such as reminders that were called back, is in no answer that it could write.
  if (!noted.empty()) written = guard.amend(record, noted, answer);
  if (!written)
    base::log_warning("api", "a response could not be stored under its idempotency key",
                      {{"operation", record.operation}, {"cause", written.error().message}});
}

}  // namespace

bool takes_key(const Route& route) { return route.operation.method == "POST" && !route.own_keys; }

void describe_key(Route& route) {
  route.operation.parameters.push_back(idempotency_key_parameter());
  route.operation.parameters.push_back(idempotency_expiry_parameter());
  std::vector<AnswerDescription>& answers = route.operation.answers;
  for (const AnswerDescription& answer :
       {AnswerDescription{409, key_conflict, {}},
        AnswerDescription{422, "The idempotency key was used for another request.", {}}})
    if (std::ranges::find(answers, answer.status, &AnswerDescription::status) == answers.end())
      answers.push_back(answer);
}

Outcome handle_once_per_key(const Route& route, Call& call, const std::function<Outcome()>& handle) {
  TRY(const std::optional<IdempotencyHeaders> headers, read_idempotency_headers(call.request));
  if (!headers) return handle();
  idempotency::Guard& guard = route.again != nullptr ? call.services.store_keys : call.services.request_keys;
  TRY(Begun begun, answered_by_store(guard.begin(operation_of(route), owned_key(call.caller, headers->key),
                                                 hash_of_call(call), headers->life)));
  switch (begun.state) {
    case KeyState::execute:
      break;
    case KeyState::replay:
      return replay_answer(route, call, begun.record.response);
    case KeyState::in_progress:
      return refuse_key_in_progress();
    case KeyState::other_request:
      return refuse_key_reused();
    case KeyState::no_room:
      return refuse(problems::overloaded, "Too many answers have not been taken. Try again in a moment.");
    case KeyState::unreadable:
      return refuse_unreadable_key();
  }
  const outbox::ChangeNotes notes = notes_in(guard, begun.record);
  call.notes = &notes;
  std::string noted;
  if (route.again != nullptr) {
    call.note_answer = note_in_commit(guard, route, begun.record, noted);
    call.note_progress = progress_in_commits(guard, begun.record);
  }
  Outcome outcome = handle();
  call.notes = nullptr;
  call.note_answer = nullptr;
  call.note_progress = {};
  note(guard, route, begun.record, outcome, noted);
  return outcome;
}

}  // namespace postino::api
