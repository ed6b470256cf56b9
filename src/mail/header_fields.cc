#include "mail/header_fields.h"

#include <algorithm>

#include "base/text.h"

namespace postino::mail {

namespace {

constexpr std::size_t fields_limit = 1'000;

}  // namespace

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

HeaderFields HeaderFields::take(std::string_view& text) {
  HeaderFields result;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    if (line.front() == ' ' || line.front() == '\t') {
      if (!result.empty()) result.fields_.back().second.append(" ").append(base::trim(line));
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || result.fields_.size() == fields_limit) continue;
    result.fields_.emplace_back(base::trim(line.substr(0, colon)), base::trim(line.substr(colon + 1)));
  }
  return result;
}

std::string_view HeaderFields::value(std::string_view name) const {
  const auto found =
      std::ranges::find_if(fields_, [&](const auto& field) { return base::equal_ignoring_case(field.first, name); });
  return found == fields_.end() ? std::string_view() : base::trim(found->second);
}

}  // namespace postino::mail
