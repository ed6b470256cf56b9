// Callbacks that were given up.
#include "api/routes/email_json.h"
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

Outcome list_dead_callbacks(Call& call) {
  TRY(const Page page, call.page());
  TRY(const outbox::EmailPage emails,
      answered_page(call.services.outbox.dead_callbacks(call.caller.tenant, page.cursor, page.limit)));
  return json_reply(to_json(emails, call.caller.role));
}

Outcome replay_callback(Call& call) {
  TRY(const std::string id, call.email_id());
  TRY_VOID(call.no_fields());
  TRY_VOID(answered_change(call, id, call.services.outbox.replay_callback(id, call.caller.tenant, call.notes)));
  return no_content();
}

}  // namespace

std::vector<Route> callback_routes() {
  return {
      {.operation = {.id = "listDeadCallbacks",
                     .method = "GET",
                     .path = "/dead-callbacks",
                     .right = Right::read,
                     .group = "Callbacks",
                     .summary = "List e-mails whose callback was given up",
                     .parameters = {cursor_parameter(), limit_parameter()},
                     .answers = {{200, "A page of e-mails.", {{json_content_type, "EmailPage"}}}}},
       .handle = list_dead_callbacks,
       .large_answer = true},
      {.operation =
           {.id = "replayCallback",
            .method = "POST",
            .path = "/dead-callbacks/{id}/replay",
            .right = Right::operate,
            .group = "Callbacks",
            .summary = "Repeat a callback that was given up",
            .parameters = {email_id_parameter()},
            .body = {{{json_content_type, "Nothing"}}, false},
            .answers =
                {{204, "The callback is attempted again."},
                 {404, "No e-mail has this id."},
                 {409,
                  "The callback was not given up, the record of the e-mail cannot be read, or a request with the "
                  "same idempotency key is in progress."}}},
       .handle = replay_callback},
  };
}

}  // namespace postino::api
