#include "api/protocol/target.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace postino::api {

namespace {

constexpr int no_digit = -1;

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return no_digit;
}

// Calls `take` with each part between separators, as long as it returns true.
template <class Take>
void each_part(std::string_view text, char separator, const Take& take) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!take(text.substr(0, end)) || end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char each = text[i];
    if (each == '%') {
      const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : no_digit;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : no_digit;
      if (high == no_digit || low == no_digit) return std::nullopt;
      each = static_cast<char>(high * 16 + low);
      i += 2;
    }
    decoded.push_back(each);
  }
  if (base::has_control_character(decoded)) return std::nullopt;
  return decoded;
}

base::Result<std::vector<std::string>, Problem> split_path(std::string_view path) {
  std::vector<std::string> segments;
  if (!path.starts_with('/')) return segments;
  bool intact = true;
  each_part(path.substr(1), '/', [&](std::string_view part) {
    auto segment = percent_decode(part);
    intact = segment.has_value();
    if (intact) segments.push_back(*std::move(segment));
    return intact;
  });
  if (!intact) return refuse_field("path", "must be percent-encoded, without control characters");
  return segments;
}

base::Result<Query, Problem> Query::parse(std::string_view text) {
  Query query;
  json::FieldErrors errors;
  if (text.empty()) return query;
  each_part(text, '&', [&](std::string_view part) {
    if (part.empty()) return true;
    const std::size_t sign = part.find('=');
    auto name = percent_decode(part.substr(0, sign));
    auto value = percent_decode(sign == std::string_view::npos ? std::string_view() : part.substr(sign + 1));
    if (!name || !value)
      errors.add(name ? *name : "query", "must be percent-encoded, without control characters");
    else if (query.find(*name) != nullptr)
      errors.add(*name, "must be given only once");
    else
      query.parameters_.emplace_back(*std::move(name), *std::move(value));
    return true;
  });
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  return query;
}

const std::string* Query::find(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &std::pair<std::string, std::string>::first);
  return found == parameters_.end() ? nullptr : &found->second;
}

}  // namespace postino::api
