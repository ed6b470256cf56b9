#include "mail/message_rules.h"

#include <algorithm>

#include "mail/address_syntax.h"
#include "mail/text_rules.h"

namespace postino::mail {

namespace {

using base::invalid;
using base::Result;

constexpr std::size_t subject_limit = 10'000;
constexpr std::size_t message_id_limit = 250;

Result<void> check_mailbox(const Mailbox& mailbox) {
  TRY_VOID(check_line(mailbox.name));
  if (mailbox.name.size() > longest_mailbox_name)
    return invalid("must have at most " + std::to_string(longest_mailbox_name) + " bytes in the name");
  return check_address(mailbox.address);
}

Result<void> check_mailboxes(std::string_view list, const std::vector<Mailbox>& mailboxes) {
  for (std::size_t i = 0; i < mailboxes.size(); ++i)
    TRY_VOID(in_field(field_name(list, i), check_mailbox(mailboxes[i])));
  return {};
}

Result<void> check_subject(std::string_view subject) {
  if (subject.size() > subject_limit) return invalid("must have at most 10,000 bytes");
  return check_line_with_tabs(subject);
}

Result<void> check_message_id(std::string_view id) {
  const std::size_t at = id.find('@');
  const auto fits = [](char letter) {
    return is_atom_letter(letter) || std::string_view(".[]:").find(letter) != std::string_view::npos;
  };
  if (at == 0 || at == std::string_view::npos || at + 1 == id.size() || id.size() > message_id_limit ||
      !std::ranges::all_of(id.substr(0, at), fits) || !std::ranges::all_of(id.substr(at + 1), fits))
    return invalid("must be of the form left@right, in ASCII, with at most 250 bytes");
  return {};
}

Result<void> check_attachment_name(std::string_view name) {
  TRY_VOID(check_line(name));
  if (name.empty() || name.size() > longest_attachment_name)
    return invalid("must have 1 to " + std::to_string(longest_attachment_name) + " bytes");
  if (name == "." || name == ".." || name.find_first_of("/\\") != std::string_view::npos)
    return invalid("must not be a path");
  return {};
}

Result<void> check_list_unsubscribe(const ListUnsubscribe& list) {
  if (list.url.empty() && list.mailto.empty()) return invalid("must have a url or a mailto");
  const auto fits = [](char letter) {
    return letter > ' ' && letter < 0x7F && std::string_view("<>\"\\").find(letter) == std::string_view::npos;
  };
  if (!list.url.empty() && (!list.url.starts_with("https://") || list.url.size() <= 8 ||
                            list.url.size() > longest_unsubscribe_url || !std::ranges::all_of(list.url, fits)))
    return invalid("must have an https URL in ASCII of at most 900 bytes");
  if (!list.mailto.empty()) TRY_VOID(in_field("mailto", check_address(list.mailto)));
  return {};
}

Result<void> check_body(std::string_view body) {
  if (!is_utf8(body)) return invalid("must be UTF-8 without NUL");
  return {};
}

}  // namespace

std::string field_name(std::string_view list, std::size_t number) {
  return std::string(list).append("[").append(std::to_string(number)).append("]");
}

Result<void> check_message(const Message& message) {
  TRY_VOID(in_field("from", check_mailbox(message.from)));
  if (message.reply_to) TRY_VOID(in_field("reply_to", check_mailbox(*message.reply_to)));
  TRY_VOID(check_mailboxes("to", message.to));
  TRY_VOID(check_mailboxes("cc", message.cc));
  TRY_VOID(in_field("subject", check_subject(message.subject)));
  if (message.text.empty() && message.html.empty()) return invalid("text or html must not be empty");
  TRY_VOID(in_field("text", check_body(message.text)));
  TRY_VOID(in_field("html", check_body(message.html)));
  for (std::size_t i = 0; i < message.attachments.size(); ++i)
    TRY_VOID(in_field(field_name("attachments", i) + ".name", check_attachment_name(message.attachments[i].name)));
  for (const auto& [name, value] : message.headers) TRY_VOID(in_field("a header", check_header(name, value)));
  if (message.list_unsubscribe)
    TRY_VOID(in_field("list_unsubscribe", check_list_unsubscribe(*message.list_unsubscribe)));
  return in_field("message_id", check_message_id(message.message_id));
}

}  // namespace postino::mail
