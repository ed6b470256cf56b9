#include "support/record/ticket_email.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "item/attribute_text.h"
#include "item/fields.h"
#include "objects/large_attributes.h"
#include "support/record/ticket_item.h"

namespace postino::support {

std::string email_sort(const TicketEmail& email) {
  constexpr std::size_t digits = 8;
  return std::string(email_begin) + write_time(email.at) + "#" +
         base::to_hex(base::sha256(email.message_id)).substr(0, digits);
}

item::Item email_item(const Keys& keys, const TicketEmail& email) {
  item::Item item = Keys::key(keys.ticket(email.ticket_id), email_sort(email));
  item.set("entity_type", "email");
  item.set("ticket_id", email.ticket_id);
  item.set("direction", email.received ? "received" : "sent");
  item.set("timestamp", write_time(email.at));
  const auto set = [&](const char* name, const std::string& text) {
    if (!text.empty()) item.set(name, text);
  };
  set("message_id", email.message_id);
  set("email_id", email.email_id);
  set("kind", email.kind);
  set("from", email.from);
  set("subject", email.subject);
  set("text", email.text);
  set("in_reply_to", email.in_reply_to);
  set("by", email.by);
  if (!email.to.empty()) item.set("to", item::List(email.to.begin(), email.to.end()));
  if (email.is_cut) item.set("is_cut", true);
  if (email.brought_by_customer) item.set("brought_by_customer", true);
  return item;
}

base::Result<TicketEmail> read_email(const item::Item& item) {
  TRY_VOID(objects::check_whole(item));
  item::Fields fields(item);
  TicketEmail email;
  email.sort = fields.text("SK");
  email.ticket_id = fields.text("ticket_id");
  email.received = fields.text("direction") == "received";
  email.message_id = fields.text("message_id");
  email.email_id = fields.text("email_id");
  email.kind = fields.text("kind");
  email.from = fields.text("from");
  email.subject = fields.text("subject");
  email.text = fields.text("text");
  email.in_reply_to = fields.text("in_reply_to");
  email.by = fields.text("by");
  email.is_cut = fields.flag("is_cut");
  email.brought_by_customer = fields.flag("brought_by_customer");
  if (const item::AttributeValue* const to = item.find("to"))
    if (const auto* const list = to->get_if<item::List>())
      for (const item::AttributeValue& each : *list)
        if (const auto* const text = each.get_if<std::string>()) email.to.push_back(*text);
  if (const auto at = read_time(fields.text("timestamp")))
    email.at = *at;
  else
    fields.fault("timestamp", "a time such as 2025-11-18T10:30:00Z");
  TRY_VOID(fields.check(key_text(item)));
  return email;
}

item::Item mail_reference_item(const Keys& keys, const TicketEmail& email) {
  item::Item item = Keys::key(keys.mail(email.message_id), mail_sort);
  item.set("entity_type", "mail_reference");
  item.set("ticket_id", email.ticket_id);
  item.set("email", email_sort(email));
  return item;
}

MailReference read_mail_reference(const item::Item& item) {
  return {item::attribute_text(item, "ticket_id"), item::attribute_text(item, "email")};
}

std::vector<std::string> message_ids_in(std::string_view header, std::size_t most) {
  std::vector<std::string> ids;
  while (ids.size() < most) {
    const std::size_t begin = header.find('<');
    if (begin == std::string_view::npos) break;
    const std::size_t end = header.find('>', begin);
    if (end == std::string_view::npos) break;
    const std::string_view id = base::trim(header.substr(begin + 1, end - begin - 1));
    header.remove_prefix(end + 1);
    if (id.empty() || id.size() > TicketLimits::message_id_bytes) continue;
    if (std::ranges::find(ids, id) == ids.end()) ids.emplace_back(id);
  }
  return ids;
}

}  // namespace postino::support
