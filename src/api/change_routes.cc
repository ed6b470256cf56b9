// What people do to the course of an e-mail.
#include "api/route.h"

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
  TRY_VOID(answered((call.services.outbox.*change)(id, call.caller.tenant, reason, call.notes)));
  return no_content();
}

Route change_route(std::string_view path, Role role, std::string_view operation, std::string_view summary,
                   std::string_view description) {
  return {.method = "POST",
          .path = path,
          .role = role,
          .operation = operation,
          .group = "Course of an e-mail",
          .summary = summary,
          .description = description,
          .parameters = {email_id_parameter()},
          .body = {{{json_content_type, "Reason"}}, false},
          .answers = {{204, "Done."},
                      {404, "There is no such e-mail."},
                      {409,
                       "The state of the e-mail forbids it, which `detail` names, or a request with the same "
                       "idempotency key is at work."}}};
}

}  // namespace

std::vector<Route> change_routes() {
  Route cancel = change_route("/emails/{id}/cancel", Role::senders, "cancelEmail", "Do not send an e-mail after all",
                              "Possible as long as it has not been sent and nobody is sending it.");
  cancel.handle = change_email<&Outbox::cancel>;
  Route hold =
      change_route("/emails/{id}/hold", Role::operators, "holdEmail", "Keep an e-mail back until it is released",
                   "It stays HELD until it is released or cancelled.");
  hold.handle = change_email<&Outbox::hold>;
  Route release = change_route("/emails/{id}/release", Role::operators, "releaseEmail",
                               "Let go of an e-mail that is held", "It goes back to where it was held.");
  release.handle = change_email<&Outbox::release>;
  Route requeue = change_route("/emails/{id}/requeue", Role::operators, "requeueEmail", "Do the last step again",
                               "For e-mails that failed or were found invalid, and for those whose worker is gone.");
  requeue.handle = change_email<&Outbox::requeue>;
  return {std::move(cancel), std::move(hold), std::move(release), std::move(requeue)};
}

}  // namespace postino::api
