// Drafts of reminders: made, revised, approved, rejected.
#include <algorithm>
#include <iterator>

#include "api/routes/reminder_json.h"
#include "api/routes/reminder_parameters.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

constexpr std::string_view any_status = "any";

// What is missing for all drafts alike must not be found out by the approver alone.
reminders::ShownDraft with_sender(const reminders::Reminders& service, reminders::ShownDraft shown) {
  if (shown.stopped.empty() && shown.draft.status == reminders::DraftStatus::draft)
    shown.stopped = service.approvals().missing_sender(shown.draft);
  return shown;
}

// An answer that tells of a draft.
Reply draft_reply(const reminders::Reminders& service, const reminders::ShownDraft& shown, int status = 200) {
  Reply reply = json_reply(thing_json(with_sender(service, shown)), status);
  reply.told_of = shown.draft.id;
  return reply;
}

Outcome draft_again(Call& call, const std::string& id) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::ShownDraft shown, answered(service->drafts().find(id, call.caller.tenant)));
  return draft_reply(*service, shown);
}

Outcome make_draft(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::NewDraft draft, read_new_draft(call.request.body));
  TRY(const reminders::ShownDraft shown,
      answered_in(draft_fields, service->drafts().make(draft, actor_of(call, draft.created_by)), named_in_draft));
  return draft_reply(*service, shown, 201);
}

Outcome make_drafts(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const std::vector<reminders::NewDraft> drafts, read_new_drafts(call.request.body));
  TRY(auto answers, answered(service->drafts().make_all(drafts, actor_of(call))));
  std::vector<BulkResult> results;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) {
      results.push_back({with_sender(*service, *std::move(answers[i])), ""});
      continue;
    }
    reminders::Refusal& refusal = answers[i].error();
    rename_fields(refusal, draft_fields);
    name_field(refusal, named_in_draft);
    for (reminders::FieldFault& fault : refusal.faults) fault.field.insert(0, json::element_path("drafts", i) + ".");
    results.push_back({std::nullopt, bulk_error_json(std::move(refusal))});
  }
  Reply reply = json_reply(bulk_json(drafts, results));
  // A line for each: the id of a draft, or the error, which is an object.
  for (const BulkResult& result : results)
    reply.told_of.append(result.draft ? result.draft->draft.id : result.error).append("\n");
  return reply;
}

Outcome drafts_again(Call& call, const std::string& told_of) {
  TRY(auto* service, reminders_of(call));
  TRY(const std::vector<reminders::NewDraft> drafts, read_new_drafts(call.request.body));
  std::vector<BulkResult> results;
  for (std::size_t begin = 0, end = told_of.find('\n'); end != std::string::npos;
       begin = end + 1, end = told_of.find('\n', begin)) {
    const std::string line = told_of.substr(begin, end - begin);
    if (line.starts_with('{')) {
      results.push_back({std::nullopt, line});
      continue;
    }
    auto shown = service->drafts().find(line, call.caller.tenant);
    if (shown)
      results.push_back({with_sender(*service, *std::move(shown)), ""});
    else
      results.push_back({std::nullopt, bulk_error_json(std::move(shown).error())});
  }
  return json_reply(bulk_json(drafts, results));
}

base::Result<std::optional<reminders::DraftStatus>, Problem> draft_status(const Call& call) {
  if (call.query.find("status") == nullptr) return std::optional(reminders::DraftStatus::draft);
  const std::string text = call.text("status");
  if (text == any_status) return std::optional<reminders::DraftStatus>();
  if (const auto status = reminders::parse_draft_status(text)) return status;
  return refuse_field("status", "must be draft, approved, rejected, withdrawn, expired or any");
}

Outcome list_drafts(Call& call) {
  TRY(auto* service, reminders_of(call));
  reminders::DraftFilter filter;
  TRY(filter.status, draft_status(call));
  filter.customer_id = call.text("customer_id");
  TRY(filter.reminder_type, type_in_query(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  TRY(auto drafts, answered(service->drafts().list(filter, page, call.caller.tenant)));
  for (reminders::ShownDraft& shown : drafts.entries) shown = with_sender(*service, std::move(shown));
  return json_reply(page_json(drafts));
}

Outcome show_draft(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::ShownDraft shown,
      answered(service->drafts().find(call.path_parameter("id"), call.caller.tenant)));
  return json_reply(thing_json(with_sender(*service, shown)));
}

Outcome revise_draft(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const RevisionRequest request, read_revision(call.request.body));
  TRY(const reminders::ShownDraft shown, answered_in(draft_fields,
                                                     service->drafts().revise(call.path_parameter("id"), request.seen,
                                                                              request.text, actor_of(call, request.by)),
                                                     named_revision));
  return draft_reply(*service, shown, 201);
}

Outcome list_revisions(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto revisions, answered(service->drafts().revisions(call.path_parameter("id"), call.caller.tenant)));
  return json_reply(list_json(revisions));
}

Outcome compare_revisions(Call& call) {
  TRY(auto* service, reminders_of(call));
  const std::string& id = call.path_parameter("id");
  TRY(const std::optional<int> from, call.number("from", reminders::largest_revision));
  TRY(const std::optional<int> to, call.number("to", reminders::largest_revision));
  TRY(const reminders::RevisionDiff diff, answered(service->drafts().diff(id, from, to, call.caller.tenant)));
  return json_reply(thing_json(diff));
}

Outcome approve(const Call& call, reminders::Reminders& service, const std::string& id, const DecisionRequest& request,
                std::span<const NamedThing> named) {
  TRY(const reminders::SentReminder sent,
      answered_about(named, service.approvals().approve(id, request.seen, actor_of(call, request.by))));
  service.wake();
  Reply reply = json_reply(thing_json(sent));
  reply.told_of = sent.place();
  return reply;
}

Outcome reminder_again(Call& call, const std::string& told_of) {
  TRY(auto* service, reminders_of(call));
  const std::size_t slash = std::min(told_of.find('/'), told_of.size() - 1);
  TRY(const reminders::SentReminder sent,
      answered(service->history().find(told_of.substr(slash + 1), told_of.substr(0, slash), call.caller.tenant)));
  return json_reply(thing_json(sent));
}

Outcome approve_draft(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const DecisionRequest request, read_approval(call.request.body));
  return approve(call, *service, call.path_parameter("id"), request, named_revision);
}

Outcome approve_and_send(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const DecisionRequest request, read_named_approval(call.request.body));
  return approve(call, *service, request.draft_id, request, named_in_approval);
}

Outcome reject_draft(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const DecisionRequest request, read_rejection(call.request.body));
  TRY(const reminders::ShownDraft shown,
      answered_about(named_revision, service->drafts().reject(call.path_parameter("id"), request.seen, request.reason,
                                                              actor_of(call, request.by))));
  return draft_reply(*service, shown);
}

Parameter draft_id_parameter() {
  return {"id",
          ParameterPlace::path,
          {.type = "string", .description = "The id of the draft.", .example = R"("20250921_143022_cust_001")"}};
}

std::vector<Parameter> revision_parameters() {
  const auto number = [](std::string description) {
    return Schema{
        .type = "integer", .description = std::move(description), .least = 1, .most = reminders::largest_revision};
  };
  return {draft_id_parameter(),
          {"from", ParameterPlace::query, number("The earlier revision; the one before `to` by default.")},
          {"to", ParameterPlace::query, number("The later revision; the current one by default.")}};
}

AnswerDescription no_draft() { return {404, "No draft has this id.", {}}; }

std::vector<Parameter> draft_list_parameters() {
  return {{"status",
           ParameterPlace::query,
           {.type = "string",
            .description = "Only drafts with this status; any: all of them.",
            .choices = {"draft", "approved", "rejected", "withdrawn", "expired", "any"},
            .default_value = R"("draft")"}},
          customer_filter(),
          type_filter(),
          cursor_parameter(),
          limit_parameter()};
}

std::vector<Route> reading_routes() {
  return {
      {.operation = {.id = "listDrafts",
                     .method = "GET",
                     .path = "/reminders/drafts",
                     .right = Right::read_reminders,
                     .group = "Reminders",
                     .summary = "List drafts of reminders, newest first",
                     .description =
                         "By default those that wait for approval. Each has what the rules say about it now.",
                     .parameters = draft_list_parameters(),
                     .answers = {{200, "A page of drafts.", {{json_content_type, "DraftPage"}}}},
                     .former_path = "/email-drafts"},
       .handle = list_drafts,
       .large_answer = true},
      {.operation = {.id = "getDraft",
                     .method = "GET",
                     .path = "/reminders/drafts/{id}",
                     .right = Right::read_reminders,
                     .group = "Reminders",
                     .summary = "Show a draft",
                     .parameters = {draft_id_parameter()},
                     .answers = {{200, "The draft.", {{json_content_type, "Draft"}}}, no_draft()}},
       .handle = show_draft},
      {.operation = {.id = "listRevisions",
                     .method = "GET",
                     .path = "/reminders/drafts/{id}/revisions",
                     .right = Right::read_reminders,
                     .group = "Reminders",
                     .summary = "List the revisions of a draft, oldest first",
                     .parameters = {draft_id_parameter()},
                     .answers = {{200, "The revisions.", {{json_content_type, "RevisionList"}}}, no_draft()}},
       .handle = list_revisions,
       .large_answer = true},
      {.operation = {.id = "compareRevisions",
                     .method = "GET",
                     .path = "/reminders/drafts/{id}/diff",
                     .right = Right::read_reminders,
                     .group = "Reminders",
                     .summary = "Compare two revisions of a draft",
                     .description =
                         "Each line begins with a space (in both), a minus sign (in the earlier revision) or "
                         "a plus sign (in the later one).",
                     .parameters = revision_parameters(),
                     .answers = {{200, "What has changed.", {{json_content_type, "RevisionDiff"}}}, no_draft()}},
       .handle = compare_revisions},
  };
}

std::vector<Route> drafting_routes() {
  return {
      {.operation = {.id = "draftReminder",
                     .method = "POST",
                     .path = "/reminders/drafts",
                     .right = Right::draft_reminders,
                     .group = "Reminders",
                     .summary = "Draft a reminder",
                     .description = "From a template, or with a text. Nothing is sent before a person has approved it. "
                                    "`decision` tells whether the rules would refuse it now, and from when on they "
                                    "would not.",
                     .body = {{{json_content_type, "NewDraft"}}, true},
                     .answers = {{201, "The draft.", {{json_content_type, "Draft"}}},
                                 {404, "There is no such customer (code CUSTOMER_NOT_FOUND) or template."},
                                 {409, "A record cannot be read (`detail` says which and why)."}},
                     .former_path = "/draft-email"},
       .handle = make_draft,
       .again = draft_again},
      {.operation = {.id = "draftReminders",
                     .method = "POST",
                     .path = "/reminders/drafts/bulk",
                     .right = Right::draft_reminders,
                     .group = "Reminders",
                     .summary = "Draft several reminders",
                     .description = "At most 100. If one element is malformed, all are refused. Otherwise each becomes "
                                    "a draft or is refused, independently of the others; the results are in the order "
                                    "of the elements.",
                     .body = {{{json_content_type, "NewDrafts"}}, true},
                     .answers = {{200, "A result for each.", {{json_content_type, "DraftResults"}}}}},
       .handle = make_drafts,
       .again = drafts_again},
      {.operation = {.id = "reviseDraft",
                     .method = "POST",
                     .path = "/reminders/drafts/{id}/revisions",
                     .right = Right::draft_reminders,
                     .group = "Reminders",
                     .summary = "Revise a draft",
                     .description =
                         "The text becomes the next revision. `revision` is the one that the caller has seen.",
                     .parameters = {draft_id_parameter()},
                     .body = {{{json_content_type, "NewRevision"}}, true},
                     .answers = {{201, "The draft with its new revision.", {{json_content_type, "Draft"}}},
                                 no_draft(),
                                 {409,
                                  "Another revision is current (OTHER_REVISION, with `current_revision`), the draft "
                                  "was decided on or has expired (WRONG_REMINDER_STATE), or the data of the customer "
                                  "was erased (REMINDERS_STOPPED)."}}},
       .handle = revise_draft,
       .again = draft_again},
  };
}

Operation approval_operation(std::string_view id, std::string_view path, std::string_view summary,
                             std::string_view schema) {
  return {.id = id,
          .method = "POST",
          .path = path,
          .right = Right::approve_reminders,
          .group = "Reminders",
          .summary = summary,
          .description =
              "`revision` is the one that the approver has seen, and exactly its text is sent, once. In one "
              "commit the rules hold, the draft is approved, the reminder is on record, and the outbox has "
              "the e-mail.",
          .body = {{{json_content_type, schema}}, true},
          .answers = {
              {200, "The reminder.", {{json_content_type, "SentReminder"}}},
              {403,
               "The API key does not allow this. Or the caller has drafted it, or it is not known who has "
               "(SAME_PERSON), if the server is configured to refuse this."},
              no_draft(),
              {409,
               "Another revision is current (OTHER_REVISION, with `current_revision`); the draft was decided on or "
               "has expired (WRONG_REMINDER_STATE); a rule refuses it (REMINDER_RULE, with `rule` and, if waiting "
               "helps, `allowed_from`); the customer gets no reminders (REMINDERS_STOPPED); or no sender is configured "
               "(NO_SENDER)."}}};
}

std::vector<Route> deciding_routes() {
  Operation approve =
      approval_operation("approveDraft", "/reminders/drafts/{id}/approve", "Approve a draft and send it", "Approval");
  approve.parameters = {draft_id_parameter()};
  return {
      {.operation = std::move(approve), .handle = approve_draft, .again = reminder_again},
      {.operation = approval_operation("approveAndSend", "/approve-and-send",
                                       "Approve a draft that the body names, and send it", "NamedApproval"),
       .handle = approve_and_send,
       .again = reminder_again},
      {.operation = {.id = "rejectDraft",
                     .method = "POST",
                     .path = "/reminders/drafts/{id}/reject",
                     .right = Right::approve_reminders,
                     .group = "Reminders",
                     .summary = "Reject a draft",
                     .parameters = {draft_id_parameter()},
                     .body = {{{json_content_type, "Rejection"}}, true},
                     .answers = {{200, "The rejected draft.", {{json_content_type, "Draft"}}},
                                 no_draft(),
                                 {409,
                                  "Another revision is current (OTHER_REVISION, with `current_revision`), or the "
                                  "draft was decided on or has expired (WRONG_REMINDER_STATE)."}}},
       .handle = reject_draft,
       .again = draft_again},
  };
}

}  // namespace

std::vector<Route> draft_routes() {
  std::vector<Route> routes = reading_routes();
  std::ranges::move(drafting_routes(), std::back_inserter(routes));
  std::ranges::move(deciding_routes(), std::back_inserter(routes));
  return with_reminder_answers(std::move(routes));
}

}  // namespace postino::api
