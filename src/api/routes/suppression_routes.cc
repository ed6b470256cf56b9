// The addresses that get no mail any more.
#include "api/routes/email_json.h"
#include "api/routes/route_groups.h"
#include "base/timestamp.h"
#include "mail/address.h"

namespace postino::api {

namespace {

std::string suppressions_json(const outbox::SuppressionPage& page) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("data").begin_array();
  for (const outbox::Suppression& suppression : page.suppressions) {
    json.begin_object();
    json.key("address").string(suppression.address);
    json.key("reason").string(suppression.reason);
    json.key("since").string(base::format_timestamp(suppression.since));
    json.end_object();
  }
  json.end_array();
  write_cursor(json, page.cursor);
  json.end_object();
  return text;
}

Outcome list_suppressions(Call& call) {
  TRY(const Page page, call.page());
  TRY(const outbox::SuppressionPage suppressions,
      answered_page(call.services.outbox.suppressions(call.caller.tenant, page.cursor, page.limit)));
  return json_reply(suppressions_json(suppressions));
}

// Suppressing twice is the same as once.
template <class T>
base::Result<T, Problem> answered_suppression(base::Result<T> answer) {
  if (answer || answer.error().code != base::ErrorCode::io) return answered(std::move(answer));
  return refuse_in_doubt("The list may have been changed. Look at it, or repeat the request.",
                         std::move(answer).error());
}

Outcome suppress(Call& call) {
  const std::string& address = call.path_parameter("address");
  const auto mailbox = mail::parse_mailbox(address);
  if (!mailbox) return refuse_field("address", mailbox.error().message);
  if (mailbox->address != address) return refuse_field("address", "must be an address without a name");
  TRY(const std::string reason, call.reason());
  TRY_VOID(answered_suppression(call.services.outbox.suppress(call.caller.tenant, address, reason)));
  return no_content();
}

Outcome unsuppress(Call& call) {
  const std::string& address = call.path_parameter("address");
  bool was_suppressed = false;
  if (address.size() <= mail::longest_mailbox_address) {
    TRY(was_suppressed, answered_suppression(call.services.outbox.unsuppress(call.caller.tenant, address)));
  }
  if (!was_suppressed) return refuse(problems::not_suppressed, "There is nothing to remove.");
  return no_content();
}

Parameter address_parameter() {
  return {"address",
          ParameterPlace::path,
          {.type = "string",
           .description = "The address, without a name.",
           .format = "email",
           .most = limit_of(mail::longest_mailbox_address)}};
}

}  // namespace

std::vector<Route> suppression_routes() {
  return {
      {.operation = {.id = "listSuppressions",
                     .method = "GET",
                     .path = "/suppressions",
                     .right = Right::read,
                     .group = "Suppressions",
                     .summary = "List suppressed addresses",
                     .parameters = {cursor_parameter(), limit_parameter()},
                     .answers = {{200, "A page of suppressed addresses.", {{json_content_type, "SuppressionPage"}}}}},
       .handle = list_suppressions,
       .large_answer = true},
      {.operation = {.id = "suppressAddress",
                     .method = "PUT",
                     .path = "/suppressions/{address}",
                     .right = Right::operate,
                     .group = "Suppressions",
                     .summary = "Suppress an address",
                     .parameters = {address_parameter()},
                     .body = {{{json_content_type, "Reason"}}, false},
                     .answers = {{204, "The address is suppressed."}}},
       .handle = suppress},
      {.operation = {.id = "unsuppressAddress",
                     .method = "DELETE",
                     .path = "/suppressions/{address}",
                     .right = Right::operate,
                     .group = "Suppressions",
                     .summary = "Remove an address from the suppression list",
                     .parameters = {address_parameter()},
                     .answers = {{204, "The address is no longer suppressed."},
                                 {404, "The address was not suppressed."}}},
       .handle = unsuppress},
  };
}

}  // namespace postino::api
