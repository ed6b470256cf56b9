// The rules for sets in DynamoDB's JSON and what DynamoDB says when they are broken.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "item/value.h"

namespace postino::item {

template <class Member>
struct SetMessages;

template <>
struct SetMessages<std::string> {
  static constexpr std::string_view empty =
      "One or more parameter values were invalid: An string set  may not be empty";
  static constexpr std::string_view null_member =
      "One or more parameter values were invalid: An string set  may not have a null string as a member";
};

template <>
struct SetMessages<Number> {
  static constexpr std::string_view empty =
      "One or more parameter values were invalid: An number set  may not be empty";
  static constexpr std::string_view null_member = "The parameter cannot be converted to a numeric value";
};

template <>
struct SetMessages<Binary> {
  static constexpr std::string_view empty =
      "One or more parameter values were invalid: Binary sets should not be empty";
  static constexpr std::string_view null_member =
      "One or more parameter values were invalid: Binary sets may not contain null values";
};

// Lists the members in the order in which they came.
std::string duplicates_message(const std::vector<std::string>& members);
std::string duplicates_message(const std::vector<Number>& members);
std::string duplicates_message(const std::vector<Binary>& members);

template <class Member>
bool has_duplicates(const std::vector<Member>& members) {
  // Most clients send sets sorted, and then one pass is enough.
  const auto not_ascending = [](const Member& a, const Member& b) { return !(a < b); };
  if (std::ranges::adjacent_find(members, not_ascending) == members.end()) return false;
  std::vector<const Member*> sorted;
  sorted.reserve(members.size());
  for (const Member& member : members) sorted.push_back(&member);
  const auto by_value = [](const Member* member) -> const Member& { return *member; };
  std::ranges::sort(sorted, {}, by_value);
  return std::ranges::adjacent_find(sorted, {}, by_value) != sorted.end();
}

}  // namespace postino::item
