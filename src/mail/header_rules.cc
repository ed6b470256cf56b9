// check_header: which headers a caller may add to a message.
#include <algorithm>

#include "base/text.h"
#include "mail/header_line.h"
#include "mail/message.h"
#include "mail/text_rules.h"

namespace postino::mail {

namespace {

using base::invalid;

constexpr std::size_t value_limit = 10'000;

constexpr std::string_view reserved[] = {
    "from",
    "sender",
    "to",
    "cc",
    "bcc",
    "reply-to",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "received",
    "return-path",
    "delivered-to",
    "received-spf",
    "authentication-results",
    "dkim-signature",
    "domainkey-signature",
    "list-unsubscribe",
    "list-unsubscribe-post",
};
constexpr std::string_view reserved_prefixes[] = {"content-", "resent-", "arc-"};

bool is_reserved(std::string_view name) {
  const std::string lower = base::lower_case(name);
  return std::ranges::find(reserved, lower) != std::end(reserved) ||
         std::ranges::any_of(reserved_prefixes, [&](std::string_view prefix) { return lower.starts_with(prefix); });
}

}  // namespace

base::Result<void> check_header(const std::string& name, const std::string& value) {
  const auto fits_name = [](char letter) { return letter > ' ' && letter < 0x7F && letter != ':'; };
  if (name.empty() || name.size() > longest_header_name || !std::ranges::all_of(name, fits_name))
    return invalid("must have a name of 1 to " + std::to_string(longest_header_name) +
                   " printable ASCII characters other than space and colon");
  if (is_reserved(name)) return invalid("must not be " + name + ", which Postino writes itself");
  TRY_VOID(check_line_with_tabs(value));
  if (value.size() > value_limit) return invalid("must have a value of at most 10,000 bytes");
  // A word beyond ASCII is encoded in pieces; others cannot be cut.
  if (!needs_encoding(value) && longest_piece(value) > longest_line)
    return invalid("must have a space where the value can be folded: no line may be longer than 998 bytes");
  return {};
}

}  // namespace postino::mail
