#include "mail/address_syntax.h"
#include "mail/body.h"
#include "mail/encoding/transfer_encoding.h"
#include "mail/header_line.h"
#include "mail/mail_date.h"
#include "mail/message.h"
#include "mail/message_rules.h"

namespace postino::mail {

namespace {

using base::Result;

Result<void> append_mailboxes(std::string& out, std::string_view name, std::string_view field,
                              const std::vector<Mailbox>& mailboxes) {
  if (mailboxes.empty()) return {};
  HeaderLine line(out, name);
  for (std::size_t i = 0; i < mailboxes.size(); ++i) {
    TRY(const std::string address, in_field(field_name(field, i), to_header_address(mailboxes[i].address)));
    if (i > 0) line.attach(",");
    line.add_mailbox(mailboxes[i].name, address);
  }
  return {};
}

Result<void> append_mailbox(std::string& out, std::string_view name, std::string_view field, const Mailbox& mailbox) {
  TRY(const std::string address, in_field(field, to_header_address(mailbox.address)));
  HeaderLine(out, name).add_mailbox(mailbox.name, address);
  return {};
}

Result<void> append_people(std::string& out, const Message& message) {
  TRY_VOID(append_mailbox(out, "From", "from", message.from));
  if (message.reply_to && *message.reply_to != message.from)
    TRY_VOID(append_mailbox(out, "Reply-To", "reply_to", *message.reply_to));
  TRY_VOID(append_mailboxes(out, "To", "to", message.to));
  TRY_VOID(append_mailboxes(out, "Cc", "cc", message.cc));
  // A group without members (RFC 5322 section 3.4): some servers take a message without recipients for a broken one.
  if (message.to.empty() && message.cc.empty()) out.append("To: undisclosed-recipients:;\r\n");
  return {};
}

// As a mailto: URL has it (RFC 6068): what could be taken for something else is escaped.
std::string to_mailto(std::string_view address) {
  std::string url = "mailto:";
  for (const char letter : address) {
    const bool is_plain = std::string_view("%?&#\"<>\\^`{|}[] /,;").find(letter) == std::string_view::npos;
    if (is_plain && static_cast<unsigned char>(letter) < 0x80) {
      url.push_back(letter);
    } else {
      append_escaped(url, '%', letter);
    }
  }
  return url;
}

Result<void> append_list_unsubscribe(std::string& out, const ListUnsubscribe& list) {
  {
    HeaderLine line(out, "List-Unsubscribe");
    if (!list.url.empty()) line.add("<" + list.url + ">");
    if (!list.url.empty() && !list.mailto.empty()) line.attach(",");
    if (!list.mailto.empty()) {
      TRY(const std::string address, in_field("list_unsubscribe.mailto", to_header_address(list.mailto)));
      line.add("<" + to_mailto(address) + ">");
    }
  }
  if (!list.url.empty()) out.append("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n");
  return {};
}

Result<void> append_headers(std::string& out, const Message& message) {
  HeaderLine(out, "Date").add(mail_date(message.date));
  TRY_VOID(append_people(out, message));
  HeaderLine(out, "Message-ID").add("<" + message.message_id + ">");
  HeaderLine(out, "Subject").add_text(message.subject);
  if (message.list_unsubscribe) TRY_VOID(append_list_unsubscribe(out, *message.list_unsubscribe));
  for (const auto& [name, value] : message.headers) HeaderLine(out, name).add_text(value);
  out.append("MIME-Version: 1.0\r\n");
  return {};
}

}  // namespace

Result<std::string> build_message(const Message& message) {
  TRY_VOID(check_message(message));
  std::string out;
  out.reserve(2'000 + (message.text.size() + message.html.size()) * 5 / 4);
  TRY_VOID(append_headers(out, message));
  TRY_VOID(append_body(out, message));
  return out;
}

}  // namespace postino::mail
