#include "expr/syntax/functions.h"

#include <iterator>

namespace postino::expr {
namespace {

// In the order of enum Function.
constexpr FunctionTraits functions[] = {
    {"attribute_exists", 1, FunctionUse::condition},   {"attribute_not_exists", 1, FunctionUse::condition},
    {"attribute_type", 2, FunctionUse::condition},     {"begins_with", 2, FunctionUse::condition},
    {"contains", 2, FunctionUse::condition},           {"size", 1, FunctionUse::condition_operand},
    {"if_not_exists", 2, FunctionUse::update_operand}, {"list_append", 2, FunctionUse::update_operand},
};
static_assert(std::size(functions) == static_cast<std::size_t>(Function::list_append) + 1);

}  // namespace

const FunctionTraits& traits_of(Function function) { return functions[static_cast<std::size_t>(function)]; }

std::optional<Function> find_function(std::string_view name) {
  for (std::size_t i = 0; i < std::size(functions); ++i)
    if (functions[i].name == name) return static_cast<Function>(i);
  return std::nullopt;
}

}  // namespace postino::expr
