// The functions of the expression language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace postino::expr {

enum class Function : std::uint8_t {
  attribute_exists,
  attribute_not_exists,
  attribute_type,
  begins_with,
  contains,
  size,
  if_not_exists,
  list_append,
};

// Where a function may stand.
enum class FunctionUse : std::uint8_t {
  condition,          // is true or false
  condition_operand,  // yields a value inside a condition
  update_operand,     // yields a value inside an update
};

struct FunctionTraits {
  std::string_view name;
  std::size_t operands = 0;
  FunctionUse use = FunctionUse::condition;
};

const FunctionTraits& traits_of(Function function);

// Names are case-sensitive.
std::optional<Function> find_function(std::string_view name);

}  // namespace postino::expr
