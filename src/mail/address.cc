#include "mail/address.h"

#include <algorithm>

#include "base/text.h"
#include "mail/address_syntax.h"
#include "mail/header_fields.h"
#include "mail/text_rules.h"

namespace postino::mail {

namespace {

using base::invalid;
using base::Result;

// Reads the quoted string that `rest` begins with into `name`, and cuts it off.
Result<void> take_quoted(std::string_view& rest, std::string& name) {
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return {};
    }
    if (rest[i] == '\\' && ++i == rest.size()) break;
    name.push_back(rest[i]);
  }
  return invalid("must have a closing quote after the name");
}

// Reads the name before the angle bracket, and cuts it off.
Result<std::string> take_name(std::string_view& rest) {
  constexpr std::string_view special = "()[]:;@\\,>";
  std::string name;
  while (!rest.empty() && rest.front() != '<') {
    const char letter = rest.front();
    if (letter == '"') {
      TRY_VOID(take_quoted(rest, name));
      continue;
    }
    if (special.find(letter) != std::string_view::npos)
      return invalid(std::string("must have the name in quotes if it contains '") + letter + "'");
    name.push_back(letter);
    rest.remove_prefix(1);
  }
  return std::string(base::trim(name));
}

// A list of mailboxes: names in front of angle brackets do not count.
bool lists_international_address(std::string_view mailboxes) {
  bool quoted = false;
  bool international = false;
  for (std::size_t i = 0; i < mailboxes.size(); ++i) {
    const char letter = mailboxes[i];
    if (quoted && letter == '\\') ++i;
    if (letter == '"') quoted = !quoted;
    if (!quoted && letter == '<') international = false;
    if (!quoted && (letter == '>' || letter == ',') && international) return true;
    if (static_cast<unsigned char>(letter) >= 0x80) international = true;
  }
  return international;
}

}  // namespace

Result<Mailbox> parse_mailbox(std::string_view text) {
  TRY_VOID(check_line(text));
  text = base::trim(text);
  Mailbox mailbox;
  if (text.ends_with('>')) {
    TRY(mailbox.name, take_name(text));
    if (text.empty()) return invalid("must have the address in angle brackets after the name");
    text = text.substr(1, text.size() - 2);
  }
  if (mailbox.name.size() > longest_mailbox_name)
    return invalid("must have at most " + std::to_string(longest_mailbox_name) + " bytes in the name");
  TRY_VOID(check_address(text));
  mailbox.address = text;
  return mailbox;
}

std::string domain_of(std::string_view address) { return base::lower_case(address.substr(address.rfind('@') + 1)); }

std::string comparable_address(std::string_view address) {
  const std::size_t at = address.rfind('@');
  if (at == std::string_view::npos || is_ascii(address.substr(at))) return base::lower_case(address);
  const auto ascii = to_ascii_address("x" + std::string(address.substr(at)));
  if (!ascii) return base::lower_case(address);
  return base::lower_case(std::string(address.substr(0, at)) + ascii->substr(1));
}

bool is_same_address(std::string_view a, std::string_view b) {
  if (base::equal_ignoring_case(a, b)) return true;
  // Most addresses need no conversion.
  if (is_ascii(a) && is_ascii(b)) return false;
  return comparable_address(a) == comparable_address(b);
}

bool has_international_address(std::string_view message) {
  const HeaderFields header = HeaderFields::take(message);
  const std::string_view names[] = {"From", "Sender", "Reply-To", "To", "Cc"};
  return std::ranges::any_of(names,
                             [&](std::string_view name) { return lists_international_address(header.value(name)); });
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) { return static_cast<unsigned char>(letter) < 0x80; });
}

}  // namespace postino::mail
