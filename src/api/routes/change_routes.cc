// What people do to the course of an e-mail.
#include "api/routes/reminder_requests.h"
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

using outbox::Email;
using outbox::Outbox;

using Change = base::Result<Email> (Outbox::*)(const std::string& id, const std::string& tenant,
                                               const std::string& reason, const outbox::ChangeNotes* notes);

template <Change change>
Outcome change_email(Call& call) {
  TRY(const std::string id, call.email_id());
  TRY(const std::string reason, call.reason());
  auto changed = (call.services.outbox.*change)(id, call.caller.tenant, reason, call.notes);
  note_email(call, id);
  TRY_VOID(answered_change(call, id, std::move(changed)));
  return no_content();
}

// What decides on reminders decides also when one is to be sent once more.
Outcome requeue_email(Call& call) {
  TRY(const std::string id, call.email_id());
  // Whose e-mail it is, is told first: others learn nothing.
  if (call.services.reminders != nullptr && call.services.outbox.show(id, call.caller.tenant))
    TRY_VOID(answered(call.services.reminders->deliveries().check_requeue(id)));
  return change_email<&Outbox::requeue>(call);
}

Outcome retry_email(Call& call) {
  TRY(const std::string id, call.email_id());
  TRY_VOID(call.no_fields());
  auto retried = call.services.outbox.retry(id, call.caller.tenant, call.notes);
  note_email(call, id);
  TRY_VOID(answered_change(call, id, std::move(retried)));
  return no_content();
}

Operation change_operation(std::string_view id, std::string_view path, Right right, std::string_view summary,
                           std::string_view description, std::string_view body = "Reason") {
  return {.id = id,
          .method = "POST",
          .path = path,
          .right = right,
          .group = "Changes of an e-mail",
          .summary = summary,
          .description = description,
          .parameters = {email_id_parameter()},
          .body = {{{json_content_type, body}}, false},
          .answers = {{204, "Done."},
                      {404, "No e-mail has this id."},
                      {409,
                       "The state of the e-mail does not allow this (`detail` names the state), its record cannot be "
                       "read, or a request with the same idempotency key is in progress."}}};
}

}  // namespace

std::vector<Route> change_routes() {
  return {
      {.operation = change_operation("cancelEmail", "/emails/{id}/cancel", Right::send, "Cancel an e-mail",
                                     "Possible as long as it has not been sent and no worker is sending it."),
       .handle = change_email<&Outbox::cancel>,
       .audited = Audited::always},
      {.operation =
           change_operation("holdEmail", "/emails/{id}/hold", Right::operate, "Hold an e-mail until it is released",
                            "It stays HELD until it is released or cancelled."),
       .handle = change_email<&Outbox::hold>},
      {.operation = change_operation(
           "releaseEmail", "/emails/{id}/release", Right::operate, "Release a held e-mail",
           "It goes back to the state it was held in. Attempts, and the time after which it is given up, "
           "count again."),
       .handle = change_email<&Outbox::release>},
      {.operation = change_operation(
           "requeueEmail", "/emails/{id}/requeue", Right::operate,
           "Retry an e-mail that has failed, is invalid or is stuck",
           "For e-mails that are FAILED or INVALID, and for e-mails whose worker is lost: those whose lease has ended. "
           "Attempts, and the time after which the e-mail is given up, start over. The e-mail of a reminder is refused "
           "when the reminder no longer counts for the rules, or its customer gets no reminders any more."),
       .handle = requeue_email},
      {.operation = change_operation(
           "retryEmail", "/emails/{id}/retry", Right::operate, "Try a waiting e-mail now",
           "For e-mails that are READY or ACCEPTED and wait for their next attempt, which is made at once. An e-mail "
           "with a `send_at` that has not come yet is refused. The change is not in the history; the attempt is.",
           "Nothing"),
       .handle = retry_email},
  };
}

}  // namespace postino::api
