#include "mail/address_syntax.h"

#include <gmime/gmime.h>

#include <algorithm>

#include "mail/address.h"
#include "mail/gmime.h"
#include "mail/text_rules.h"
#include "net/address.h"

namespace postino::mail {

namespace {

using base::invalid;
using base::Result;

constexpr std::size_t local_limit = 64;
constexpr std::size_t label_limit = 63;

bool beyond_ascii(char letter) { return static_cast<unsigned char>(letter) >= 0x80; }

bool is_alphanumeric(char letter) { return g_ascii_isalnum(letter) != FALSE; }

// Spaces that are not ASCII, and what has no shape at all, would be taken for something else by a reader.
bool has_invisible(std::string_view text) {
  for (const char* at = text.data(); at < text.data() + text.size(); at = g_utf8_next_char(at))
    if (const gunichar letter = g_utf8_get_char(at);
        letter >= 0x80 && (!g_unichar_isgraph(letter) || g_unichar_isspace(letter)))
      return true;
  return false;
}

// The length of the quoted string that the text begins with, with its quotes; 0 when it does not end.
std::size_t quoted_length(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return 0;
}

Result<void> check_dot_atom(std::string_view local) {
  if (local.front() == '.' || local.back() == '.' || local.find("..") != std::string_view::npos)
    return invalid("must not begin or end with a dot, or have two in a row, before the @");
  const auto wrong =
      std::ranges::find_if(local, [](char c) { return !is_atom_letter(c) && c != '.' && !beyond_ascii(c); });
  if (wrong != local.end())
    return invalid(std::string("must not contain '") + *wrong + "' before the @ outside of quotes");
  return {};
}

// Cuts the local part and the @ off.
Result<void> take_local_part(std::string_view& rest) {
  if (rest.front() == '@') return invalid("must have a local part before the @, and no route");
  const bool quoted = rest.front() == '"';
  const std::size_t length = quoted ? quoted_length(rest) : rest.find('@');
  if (quoted && length == 0) return invalid("must have a closing quote");
  if (length >= rest.size() || rest[length] != '@') return invalid("must have an @");
  const std::string_view local = rest.substr(0, length);
  if (!quoted) TRY_VOID(check_dot_atom(local));
  if (local.size() > local_limit) return invalid("must have at most 64 bytes before the @");
  rest.remove_prefix(length + 1);
  return {};
}

bool is_address_literal(std::string_view text) {
  constexpr std::string_view version_6 = "IPv6:";
  const bool six = g_ascii_strncasecmp(text.data(), version_6.data(), std::min(text.size(), version_6.size())) == 0 &&
                   text.size() > version_6.size();
  if (six) text.remove_prefix(version_6.size());
  const std::string_view letters = six ? "0123456789abcdefABCDEF:." : "0123456789.";
  if (text.find_first_not_of(letters) != std::string_view::npos) return false;
  const std::string host(text);
  return net::Address::parse(six ? "[" + host + "]:25" : host + ":25").has_value();
}

Result<void> check_label(std::string_view label) {
  if (label.empty()) return invalid("must not have an empty label in the domain");
  if (label.size() > label_limit) return invalid("must have labels of at most 63 bytes in the domain");
  if (label.front() == '-' || label.back() == '-')
    return invalid("must not have a label that begins or ends with a hyphen in the domain");
  if (!std::ranges::all_of(label, [](char c) { return is_alphanumeric(c) || c == '-' || beyond_ascii(c); }))
    return invalid("must have only letters, digits, hyphens and dots in the domain");
  return {};
}

Result<void> check_domain(std::string_view domain) {
  if (domain.empty()) return invalid("must have a domain after the @");
  if (domain.front() == '[') {
    if (domain.back() == ']' && is_address_literal(domain.substr(1, domain.size() - 2))) return {};
    return invalid("must have an IP address, as in [192.0.2.1] or [IPv6:2001:db8::1], within the brackets");
  }
  if (domain.find('@') != std::string_view::npos && domain.find_first_of(",;<") != std::string_view::npos)
    return invalid("must be only one address");
  if (domain.find('@') != std::string_view::npos) return invalid("must have only one @");
  while (true) {
    const std::size_t dot = domain.find('.');
    TRY_VOID(check_label(domain.substr(0, dot)));
    if (dot == std::string_view::npos) return {};
    domain.remove_prefix(dot + 1);
  }
}

}  // namespace

Result<void> check_address(std::string_view address) {
  if (address.empty()) return invalid("must have an address");
  TRY_VOID(check_line(address));
  if (address.size() > longest_mailbox_address)
    return invalid("must have at most " + std::to_string(longest_mailbox_address) + " bytes in the address");
  if (has_invisible(address)) return invalid("must not contain invisible characters in the address");
  TRY_VOID(take_local_part(address));
  return check_domain(address);
}

Result<std::string> to_header_address(std::string_view address) {
  const bool is_international = !is_ascii(address.substr(0, address.rfind('@')));
  return is_international ? Result<std::string>(std::string(address)) : to_ascii_address(address);
}

Result<std::string> to_ascii_address(std::string_view address) {
  if (is_ascii(address)) return std::string(address);
  if (!is_ascii(address.substr(0, address.rfind('@'))))
    return invalid("must be ASCII before the @ to stand in a header");
  start_gmime();
  const Owned<InternetAddress> mailbox(internet_address_mailbox_new(nullptr, std::string(address).c_str()));
  const char* ascii = internet_address_mailbox_get_idn_addr(INTERNET_ADDRESS_MAILBOX(mailbox.get()));
  if (ascii == nullptr || !is_ascii(ascii)) return invalid("must have a domain that IDNA allows");
  TRY_VOID(check_address(ascii));
  return std::string(ascii);
}

}  // namespace postino::mail
