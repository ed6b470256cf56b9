// E-mail addresses: who is meant, and what they are called.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::mail {

struct Mailbox {
  std::string name;     // may be empty
  std::string address;  // local@domain

  friend bool operator==(const Mailbox&, const Mailbox&) = default;
};

inline constexpr std::size_t longest_mailbox_name = 512;
inline constexpr std::size_t longest_mailbox_address = 254;

// "ann@example.com" or "Ann Example <ann@example.com>". Fails with the rule that is broken: RFC 5321's lengths and
// characters, one address only, nothing that could end a line.
base::Result<Mailbox> parse_mailbox(std::string_view text);

// In lower case. The address must be one that parse_mailbox gave.
std::string domain_of(std::string_view address);

// The same for all ways to write an address: in lower case, with the domain in its ASCII form if it has one.
std::string comparable_address(std::string_view address);
bool is_same_address(std::string_view a, std::string_view b);

// Does an address in the header of this message go beyond ASCII? Then a server must know SMTPUTF8 to take it.
bool has_international_address(std::string_view message);

// Is it plain ASCII? Others need a server that knows SMTPUTF8 (RFC 6531).
bool is_ascii(std::string_view text);

}  // namespace postino::mail
