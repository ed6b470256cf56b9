#include "mail/content_type.h"

#include <algorithm>

#include "base/text.h"
#include "mail/text_rules.h"

namespace postino::mail {

namespace {

using base::invalid;
using base::Result;

// Cuts off and returns what stands before the next semicolon.
std::string_view take_part(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(';'), rest.size());
  const std::string_view part = base::trim(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

Result<std::pair<std::string, std::string>> parse_parameter(std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return invalid("must have parameters of the form name=value");
  const std::string name = base::lower_case(part.substr(0, equals));
  std::string_view value = part.substr(equals + 1);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
  const auto is_plain = [](char letter) { return letter >= ' ' && letter < 0x7F && letter != '"' && letter != '\\'; };
  if (!is_token(name) || name.find('*') != std::string::npos || value.empty() || !std::ranges::all_of(value, is_plain))
    return invalid("must have parameters of plain ASCII words");
  if (name == "name" || name == "boundary") return invalid("must not have the parameter " + name);
  return std::pair(name, std::string(value));
}

}  // namespace

bool ContentType::has_parameter(std::string_view parameter) const {
  return std::ranges::any_of(parameters, [&](const auto& each) { return each.first == parameter; });
}

Result<ContentType> parse_content_type(std::string_view text) {
  TRY_VOID(check_line(text));
  if (text.size() > longest_content_type)
    return invalid("must have at most " + std::to_string(longest_content_type) + " bytes");
  ContentType result;
  result.name = base::lower_case(take_part(text));
  const std::string_view name = result.name;
  const std::size_t slash = std::min(name.find('/'), name.size());
  const std::string_view type = name.substr(0, slash);
  const std::string_view subtype = name.substr(std::min(slash + 1, name.size()));
  if (!is_token(type) || !is_token(subtype)) return invalid("must be of the form type/subtype");
  if (type.size() > longest_type_half || subtype.size() > longest_type_half)
    return invalid("must have at most " + std::to_string(longest_type_half) + " bytes on each side of the slash");
  if (type == "multipart" || type == "message") return invalid("must not be multipart or message");
  while (!text.empty()) {
    TRY(auto parameter, parse_parameter(take_part(text)));
    if (result.has_parameter(parameter.first)) return invalid("must not have a parameter twice");
    result.parameters.push_back(std::move(parameter));
  }
  return result;
}

}  // namespace postino::mail
