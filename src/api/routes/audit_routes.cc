// Who did what, and whether that is still what was written down.
#include <algorithm>

#include "api/routes/json_answer.h"
#include "api/routes/json_members.h"
#include "api/routes/route_groups.h"

namespace postino::api {

void write_json(AnswerWriter& json, const access::AuditEntry& entry) {
  const access::AuditEvent& event = entry.event;
  json.begin_object();
  time_member(json, "at", entry.at);
  text_member(json, "actor", event.actor);
  json.key("kind").string(event.kind);
  text_member(json, "tenant", event.tenant);
  text_member(json, "from", event.from);
  json.key("action").string(event.action);
  text_member(json, "subject", event.subject);
  json.key("result").string(event.result);
  text_member(json, "detail", event.detail);
  text_member(json, "request_id", event.request_id);
  json.key("chain").string(entry.chain);
  json.key("number").integer(entry.number);
  json.end_object();
}

namespace {

constexpr std::size_t most_known_entries = 20;
constexpr std::string_view audit_results[] = {access::AuditEvent::allowed, access::AuditEvent::refused,
                                              access::AuditEvent::failed};

base::Result<access::AuditReader*, Problem> audit_reader_of(const Call& call) {
  if (call.services.audit == nullptr) return refuse(problems::no_audit, "The server writes no audit.");
  return call.services.audit;
}

std::string verdict_json(const access::AuditVerdict& verdict) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("intact").boolean(verdict.is_intact());
  json.key("entries").integer(verdict.entries);
  json.key("heads").begin_array();
  for (const access::AuditHead& head : verdict.heads) json.string(access::text_of(head));
  json.end_array();
  json.key("faults").begin_array();
  for (const access::AuditFault& fault : verdict.faults) {
    json.begin_object();
    text_member(json, "chain", fault.chain);
    if (fault.number > 0) json.key("number").integer(fault.number);
    json.key("fault").string(fault.fault);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text;
}

Outcome list_audit_entries(Call& call) {
  TRY(access::AuditReader * audit, audit_reader_of(call));
  access::AuditQuestion question;
  question.tenant = call.caller.tenant;
  question.actor = call.text("actor");
  question.action = call.text("action");
  question.subject = call.text("subject");
  question.result = call.text("result");
  if (!question.result.empty() && std::ranges::find(audit_results, question.result) == std::end(audit_results))
    return refuse_field("result", "must be allowed, refused or failed");
  TRY(const TimeRange range, call.time_range());
  question.since = range.since;
  question.until = range.until;
  TRY(const Page page, call.page());
  question.cursor = page.cursor;
  question.limit = page.limit;
  TRY(const auto entries, answered_page(audit->list(question)));
  return json_reply(page_json(entries));
}

base::Result<std::vector<access::KnownEntry>, Problem> known_entries(const std::string& text) {
  std::vector<access::KnownEntry> known;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    auto entry = access::parse_known_entry(rest.substr(0, end));
    if (!entry) return refuse_field("known", entry.error().message);
    known.push_back(*std::move(entry));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (known.size() > most_known_entries)
    return refuse_field("known", "must not have more than " + std::to_string(most_known_entries) + " entries");
  return known;
}

Outcome verify_audit(Call& call) {
  TRY(access::AuditReader * audit, audit_reader_of(call));
  TRY(const auto known, known_entries(call.text("known")));
  const auto verdict = audit->verify(known);
  if (!verdict && verdict.error().code == base::ErrorCode::conflict)
    return refuse(problems::overloaded, as_sentence(verdict.error().message));
  if (!verdict) return base::propagate(problem_of(verdict.error(), problems::internal_error));
  return json_reply(verdict_json(*verdict));
}

Parameter audit_filter(std::string_view name, std::string_view description) {
  return {name, ParameterPlace::query, {.type = "string", .description = std::string(description)}};
}

std::vector<Parameter> audit_list_parameters() {
  std::vector<Parameter> parameters = {
      audit_filter("actor", "Only what this caller did: the name of a user or an API key, or the id of an access key."),
      audit_filter("action", "Only actions that begin so, such as approveDraft or dynamodb:."),
      audit_filter("subject", "Only about what begins so."),
      {"result",
       ParameterPlace::query,
       {.type = "string", .description = "Only with this result.", .choices = {"allowed", "refused", "failed"}}}};
  for (Parameter& parameter : range_parameters("events")) parameters.push_back(std::move(parameter));
  parameters.push_back(cursor_parameter());
  parameters.push_back(limit_parameter());
  return parameters;
}

}  // namespace

std::vector<Route> audit_routes() {
  constexpr std::string_view none = "The server writes no audit (NO_AUDIT).";
  return {
      {.operation = {.id = "listAudit",
                     .method = "GET",
                     .path = "/audit",
                     .right = Right::audit,
                     .group = "Audit",
                     .summary = "List who did what, newest first",
                     .description =
                         "What callers of both APIs have done or tried. A page can have fewer elements than `limit`, "
                         "or none, and not be the last: go on as long as `cursor` is not null.",
                     .parameters = audit_list_parameters(),
                     .answers = {{200, "A page of entries.", {{json_content_type, "AuditEntryPage"}}}, {404, none}}},
       .handle = list_audit_entries,
       .large_answer = true},
      {.operation = {.id = "verifyAudit",
                     .method = "GET",
                     .path = "/audit/verification",
                     .right = Right::audit,
                     .group = "Audit",
                     .summary = "Tell whether entries of the audit were changed or removed",
                     .description = "Looks at all entries, which takes a while where there are many.",
                     .parameters = {audit_filter(
                         "known",
                         "Heads that earlier verifications have told, separated by commas: it is "
                         "a fault when these entries are not there any more, or are other ones.")},
                     .answers = {{200, "What was found.", {{json_content_type, "AuditVerdict"}}}, {404, none}}},
       .handle = verify_audit,
       .shared = true},
  };
}

}  // namespace postino::api
