#include "store/constraints.h"

#include <algorithm>

#include "base/check.h"

namespace postino::store {

namespace {

constexpr std::size_t max_reported = 10;
constexpr std::size_t max_name_length = 255;
constexpr std::string_view name_pattern = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";

bool is_name_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '.' || character == '-';
}

std::string in_quotes(std::string_view value) { return "'" + std::string(value) + "' "; }

// Is it one of the elements of "[a, b]"?
bool is_listed(std::string_view value, std::string_view list) {
  constexpr std::string_view separator = ", ";
  CHECK(list.size() >= 2 && list.front() == '[' && list.back() == ']');
  list = list.substr(1, list.size() - 2);
  while (true) {
    const std::size_t end = list.find(separator);
    if (list.substr(0, end) == value) return true;
    if (end == std::string_view::npos) return false;
    list.remove_prefix(end + separator.size());
  }
}

}  // namespace

void Constraints::refuse_with(std::string sentence) {
  if (refusals_.size() < max_reported) refusals_.push_back(std::move(sentence));
}

void Constraints::add(const std::string& value, std::string_view path, std::string_view rule) {
  std::string text = "Value ";
  text.append(value).append("at '").append(path).append("' failed to satisfy constraint: ").append(rule);
  refuse_with(std::move(text));
}

void Constraints::refuse(std::string_view path, std::string_view value, std::string_view rule) {
  add(in_quotes(value), path, rule);
}

void Constraints::check_name(std::string_view path, std::string_view name, std::size_t minimum) {
  if (name.empty() || !std::ranges::all_of(name, is_name_character)) refuse(path, name, name_pattern);
  check_length(path, name, minimum, max_name_length);
}

void Constraints::check_length(std::string_view path, std::string_view value, std::size_t minimum,
                               std::size_t maximum) {
  check_count(path, value.size(), minimum, maximum, value);
}

void Constraints::check_count(std::string_view path, std::size_t count, std::size_t minimum, std::size_t maximum,
                              std::optional<std::string_view> shown) {
  const auto add_rule = [&](const std::string& rule) { add(shown ? in_quotes(*shown) : "", path, rule); };
  if (count < minimum) add_rule("Member must have length greater than or equal to " + std::to_string(minimum));
  if (count > maximum) add_rule("Member must have length less than or equal to " + std::to_string(maximum));
}

void Constraints::check_at_least(std::string_view path, std::int64_t value, std::int64_t minimum, bool shown) {
  if (value < minimum)
    add(shown ? in_quotes(std::to_string(value)) : "", path,
        "Member must have value greater than or equal to " + std::to_string(minimum));
}

void Constraints::check_at_most(std::string_view path, std::int64_t value, std::int64_t maximum) {
  if (value > maximum)
    refuse(path, std::to_string(value), "Member must have value less than or equal to " + std::to_string(maximum));
}

void Constraints::check_not_null(std::string_view path, bool present) {
  if (!present) add("null ", path, "Member must not be null");
}

void Constraints::check_one_of(std::string_view path, std::string_view value, std::string_view set_text) {
  if (!is_listed(value, set_text)) refuse(path, value, "Member must satisfy enum value set: " + std::string(set_text));
}

Answer<void> Constraints::outcome() const {
  if (refusals_.empty()) return {};
  std::string message = std::to_string(refusals_.size());
  message += refusals_.size() == 1 ? " validation error detected: " : " validation errors detected: ";
  for (std::size_t i = 0; i < refusals_.size(); ++i) {
    if (i > 0) message += "; ";
    message += refusals_[i];
  }
  return refuse_invalid(std::move(message));
}

Answer<void> check_table_name(std::string_view table_name) {
  Constraints constraints;
  constraints.check_name("tableName", table_name);
  return constraints.outcome();
}

std::string list_text(const std::vector<std::string>& elements) {
  std::string text = "[";
  for (const std::string& element : elements) {
    if (text.size() > 1) text += ", ";
    text += element;
  }
  return text + "]";
}

}  // namespace postino::store
