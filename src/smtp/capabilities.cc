#include "smtp/capabilities.h"

#include <charconv>

#include "base/text.h"

namespace postino::smtp {

namespace {

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

void add_mechanisms(Capabilities& known, std::string_view mechanisms) {
  for (std::string_view name = take_word(mechanisms); !name.empty(); name = take_word(mechanisms)) {
    if (base::equal_ignoring_case(name, "PLAIN")) known.auth_plain = true;
    if (base::equal_ignoring_case(name, "LOGIN")) known.auth_login = true;
  }
}

void add(Capabilities& known, std::string_view line) {
  const std::string_view keyword = take_word(line);
  const auto is = [&](std::string_view name) { return base::equal_ignoring_case(keyword, name); };
  constexpr std::string_view old_auth = "AUTH=";  // from before RFC 4954; its first mechanism sticks to it
  if (is("PIPELINING")) known.pipelining = true;
  if (is("8BITMIME")) known.eight_bit_mime = true;
  if (is("SMTPUTF8")) known.utf8 = true;
  if (is("DSN")) known.dsn = true;
  if (is("STARTTLS")) known.start_tls = true;
  if (is("AUTH")) add_mechanisms(known, line);
  if (base::equal_ignoring_case(keyword.substr(0, old_auth.size()), old_auth)) {
    add_mechanisms(known, keyword.substr(old_auth.size()));
    add_mechanisms(known, line);
  }
  if (is("SIZE")) {
    known.size = true;
    const std::string_view limit = take_word(line);
    std::from_chars(limit.data(), limit.data() + limit.size(), known.size_limit);  // leaves 0 where there is no number
  }
}

}  // namespace

Capabilities parse_capabilities(const std::vector<std::string>& lines) {
  Capabilities known;
  for (std::size_t i = 1; i < lines.size(); ++i) add(known, lines[i]);
  return known;
}

}  // namespace postino::smtp
