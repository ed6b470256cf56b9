// The sandbox, where mail goes as long as there is no relay.
#include "api/routes/email_json.h"
#include "api/routes/route_groups.h"
#include "base/timestamp.h"
#include "store/list_cursor.h"

namespace postino::api {

namespace {

using outbox::MailboxEntry;
using outbox::MailboxPage;
using outbox::SandboxMailbox;

base::Result<SandboxMailbox*, Problem> mailbox_of(const Call& call) {
  if (call.services.mailbox == nullptr)
    return refuse(problems::no_sandbox, "There is a sandbox only if no mail server is configured.");
  return call.services.mailbox;
}

// The sandbox knows no tenants; the e-mails it has got do.
base::Result<bool> may_see(const Call& call, const std::string& id) {
  if (call.caller.tenant.empty()) return true;
  const auto shown = call.services.outbox.show(id, call.caller.tenant);
  if (!shown && shown.error().code == base::ErrorCode::not_found) return false;
  if (!shown) return base::propagate(shown.error());
  return true;
}

void write_entry(json::Writer& json, const MailboxEntry& entry) {
  json.begin_object();
  json.key("id").string(entry.id);
  json.key("received_at").string(base::format_timestamp(entry.received));
  json.key("from").string(entry.sender);
  json.key("to").begin_array();
  for (const std::string& recipient : entry.recipients) json.string(recipient);
  json.end_array();
  json.key("subject").string(entry.subject);
  json.key("size").integer(entry.size);
  json.end_object();
}

// A cursor is the place of an entry, which a tenant must not learn of others' mail. So a page of a tenant goes on until
// it has what was asked for, unless very much mail of others stands between.
base::Result<MailboxPage, Problem> visible_mail(const Call& call, SandboxMailbox& mailbox, const Page& wanted) {
  constexpr std::size_t most_looked_at = 500;
  const std::string& tenant = call.caller.tenant;
  const auto limit = static_cast<std::size_t>(wanted.limit);
  MailboxPage found;
  TRY(found.cursor, answered_page(store::read_tenant_cursor(tenant, wanted.cursor)));
  std::size_t looked_at = 0;
  do {
    const auto missing = static_cast<int>(limit - found.entries.size());
    TRY(MailboxPage next, answered_page(mailbox.list(found.cursor, missing)));
    for (MailboxEntry& entry : next.entries) {
      auto visible = may_see(call, entry.id);
      // Whose it is cannot be told, so that a tenant is not shown it.
      if (!visible && visible.error().code == base::ErrorCode::corrupt) visible = false;
      TRY(const bool is_visible, answered(std::move(visible)));
      if (is_visible) found.entries.push_back(std::move(entry));
    }
    looked_at += next.entries.size();
    found.cursor = std::move(next.cursor);
  } while (!found.cursor.empty() && found.entries.size() < limit && looked_at < most_looked_at);
  found.cursor = store::tenant_cursor(tenant, found.cursor);
  return found;
}

Outcome list_mailbox(Call& call) {
  TRY(SandboxMailbox * mailbox, mailbox_of(call));
  TRY(const Page page, call.page());
  TRY(const MailboxPage found, visible_mail(call, *mailbox, page));
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("data").begin_array();
  for (const MailboxEntry& entry : found.entries) write_entry(json, entry);
  json.end_array();
  write_cursor(json, found.cursor);
  json.end_object();
  return json_reply(std::move(text));
}

Outcome show_mail(Call& call) {
  TRY(SandboxMailbox * mailbox, mailbox_of(call));
  TRY(const std::string id, call.email_id());
  TRY(const bool visible, answered_about(call, id, may_see(call, id)));
  std::optional<std::string> message;
  if (visible) {
    TRY(message, answered_with_contents(call, id, mailbox->message(id, call.admit()), problems::message_not_found));
  }
  if (!message) return refuse(problems::message_not_found, "No message in the sandbox has this id.");
  return message_reply(*std::move(message), id);
}

Outcome clear_mailbox(Call& call) {
  TRY(SandboxMailbox * mailbox, mailbox_of(call));
  TRY(const std::int64_t removed, answered(mailbox->clear()));
  return json_reply("{\"removed\":" + std::to_string(removed) + "}");
}

}  // namespace

std::vector<Route> mailbox_routes() {
  constexpr std::string_view no_sandbox = "There is no sandbox, because a mail server is configured (code NO_SANDBOX).";
  return {
      {.operation = {.id = "listMailbox",
                     .method = "GET",
                     .path = "/mailbox",
                     .right = Right::read,
                     .group = "Sandbox",
                     .summary = "List the mail in the sandbox, newest first",
                     .description = "An API key of a tenant sees the mail of this tenant only, and its pages can have "
                                    "fewer elements than `limit`. On the last page, `cursor` is null.",
                     .parameters = {cursor_parameter(), limit_parameter()},
                     .answers = {{200, "A page of the mail in the sandbox.", {{json_content_type, "MailboxPage"}}},
                                 {404, no_sandbox}}},
       .handle = list_mailbox,
       .large_answer = true},
      {.operation = {.id = "getMail",
                     .method = "GET",
                     .path = "/mailbox/{id}",
                     .right = Right::read,
                     .group = "Sandbox",
                     .summary = "Show a message in the sandbox",
                     .parameters = {email_id_parameter()},
                     .answers = {{200, "The message.", {{message_content_type, ""}}},
                                 {404, "No message in the sandbox has this id, or there is no sandbox."},
                                 {409, "The record of the e-mail cannot be read (code UNREADABLE_EMAIL)."}}},
       .handle = show_mail,
       .large_answer = true},
      {.operation = {.id = "clearMailbox",
                     .method = "DELETE",
                     .path = "/mailbox",
                     .right = Right::operate,
                     .group = "Sandbox",
                     .summary = "Empty the sandbox",
                     .answers = {{200, "The number of messages removed.", {{json_content_type, "Removal"}}},
                                 {404, no_sandbox}}},
       .handle = clear_mailbox,
       .shared = true},
  };
}

}  // namespace postino::api
