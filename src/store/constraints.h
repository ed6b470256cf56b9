// Constraints on the shape of a request. DynamoDB checks them before anything else and reports up to ten at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/error.h"

namespace postino::store {

// Collects what is broken, in the order of the checks. A path is the member's name in lower camel case, with list
// members numbered from one: "globalSecondaryIndexes.1.member.indexName".
class Constraints {
 public:
  void refuse(std::string_view path, std::string_view value, std::string_view rule);
  // For what is not about the value of a member.
  void refuse_with(std::string sentence);

  // Names of tables and indexes. Data operations take shorter ones, which then name no table.
  static constexpr std::size_t min_name_length = 3;
  void check_name(std::string_view path, std::string_view name, std::size_t minimum = min_name_length);
  void check_length(std::string_view path, std::string_view value, std::size_t minimum, std::size_t maximum);
  // The number of elements of a list, or of characters where bytes do not count. `shown` is the value as DynamoDB
  // prints it; without it the value is left out of the message.
  static constexpr std::size_t any_number = ~std::size_t{0};
  void check_count(std::string_view path, std::size_t count, std::size_t minimum, std::size_t maximum,
                   std::optional<std::string_view> shown = std::nullopt);
  void check_at_least(std::string_view path, std::int64_t value, std::int64_t minimum, bool shown = true);
  void check_at_most(std::string_view path, std::int64_t value, std::int64_t maximum);
  void check_not_null(std::string_view path, bool present);
  // `set_text` lists what is allowed the way, and in the order, that DynamoDB prints it: "[HASH, RANGE]".
  void check_one_of(std::string_view path, std::string_view value, std::string_view set_text);

  // Fails with everything that was refused.
  Answer<void> outcome() const;

 private:
  // `value` as it is printed, with a blank behind it; or empty.
  void add(const std::string& value, std::string_view path, std::string_view rule);

  std::vector<std::string> refusals_;
};

// The name of a table a request is about.
Answer<void> check_table_name(std::string_view table_name);

// The elements as DynamoDB prints a list: "[a, b]".
std::string list_text(const std::vector<std::string>& elements);

}  // namespace postino::store
