// Constraints on the shape of a request. DynamoDB checks them before anything else and reports up to ten at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/error.h"

namespace postino::engine {

// Collects what is broken, in the order of the checks. A path is the member's name in lower camel case, with list
// members numbered from one: "globalSecondaryIndexes.1.member.indexName".
class Constraints {
 public:
  void refuse(std::string_view path, std::string_view value, std::string_view rule);

  // Names of tables and indexes.
  void check_name(std::string_view path, std::string_view name);
  void check_length(std::string_view path, std::string_view value, std::size_t minimum, std::size_t maximum);
  void check_at_least(std::string_view path, std::int64_t value, std::int64_t minimum);
  void check_at_most(std::string_view path, std::int64_t value, std::int64_t maximum);

  // Fails with everything that was refused.
  store::Answer<void> outcome() const;

 private:
  std::vector<std::string> refusals_;
};

// The name of a table a request is about.
store::Answer<void> check_table_name(std::string_view table_name);

// A validation error that starts with DynamoDB's usual "One or more parameter values were invalid: ".
tl::unexpected<store::Error> refuse_parameter(std::string_view message);

// The elements as DynamoDB prints a list: "[a, b]".
std::string list_text(const std::vector<std::string>& elements);

}  // namespace postino::engine
