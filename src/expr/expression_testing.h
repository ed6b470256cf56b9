// Short ways to run an expression in a test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "expr/expression.h"
#include "item/json_codec.h"

namespace postino::expr {

inline item::Map item_of(std::string_view json) {
  auto item = item::parse_item(json);
  EXPECT_TRUE(item) << json;
  return item ? *item : item::Map{};
}

inline item::StringSet strings(std::vector<std::string> members) { return item::StringSet(std::move(members)); }
inline item::NumberSet numbers(std::vector<item::Number> members) { return item::NumberSet(std::move(members)); }
inline item::BinarySet binaries(std::vector<item::Binary> members) { return item::BinarySet(std::move(members)); }

// One value of each type, under its wire name in lower case, and a few names.
inline Placeholders samples() {
  return {Names{{"#a", "a"}, {"#b", "b"}, {"#index", "[3]"}}, Values{{":s", "text"},
                                                                     {":n", 1},
                                                                     {":b", item::Binary{"a"}},
                                                                     {":bool", true},
                                                                     {":null", item::Null{}},
                                                                     {":ss", strings({"x"})},
                                                                     {":ns", numbers({1})},
                                                                     {":bs", binaries({item::Binary{"x"}})},
                                                                     {":l", item::List{1}},
                                                                     {":m", item::Map{{"x", 1}}}}};
}

// "" when all is well.
template <class Bound>
std::string message_of(const base::Result<Bound>& result) {
  return result ? "" : result.error().message;
}

inline std::string condition_error(std::string_view text, const Placeholders& placeholders = samples(),
                                   Kind kind = Kind::condition) {
  const auto parsed = parse_condition(text, kind);
  if (!parsed) return parsed.error().message;
  return message_of(Binder(placeholders).bind(*parsed));
}

inline std::string update_error(std::string_view text, const Placeholders& placeholders = samples()) {
  const auto parsed = parse_update(text);
  if (!parsed) return parsed.error().message;
  return message_of(Binder(placeholders).bind(*parsed));
}

inline std::string projection_error(std::string_view text, const Placeholders& placeholders = samples()) {
  const auto parsed = parse_projection(text);
  if (!parsed) return parsed.error().message;
  return message_of(Binder(placeholders).bind(*parsed));
}

// For expressions that must be valid: the test fails if they are not.
inline bool matches(std::string_view text, const item::Map& item, const Placeholders& placeholders = samples()) {
  EXPECT_EQ(condition_error(text, placeholders), "");
  const auto parsed = parse_condition(text, Kind::condition);
  if (!parsed) return false;
  const auto bound = Binder(placeholders).bind(*parsed);
  return bound && bound->matches(item);
}

inline base::Result<item::Map> update(std::string_view text, const item::Map& before,
                                      const Placeholders& placeholders = samples()) {
  TRY(const Update parsed, parse_update(text));
  TRY(const BoundUpdate bound, Binder(placeholders).bind(parsed));
  return bound.apply(before);
}

inline item::Map project(std::string_view text, const item::Map& item, const Placeholders& placeholders = samples()) {
  EXPECT_EQ(projection_error(text, placeholders), "");
  const auto parsed = parse_projection(text);
  if (!parsed) return {};
  const auto bound = Binder(placeholders).bind(*parsed);
  return bound ? bound->project(item) : item::Map{};
}

// A text and what comes of it.
struct Case {
  std::string text;
  std::string expected;
};
inline void PrintTo(const Case& example, std::ostream* out) { *out << example.text; }

// What is said of faults that several kinds of expression can have.
inline std::string syntax(std::string_view token, std::string_view near) {
  return "Syntax error; token: \"" + std::string(token) + "\", near: \"" + std::string(near) + "\"";
}
inline std::string undefined_name(std::string_view name) {
  return "An expression attribute name used in the document path is not defined; attribute name: " + std::string(name);
}
inline std::string undefined_value(std::string_view value) {
  return "An expression attribute value used in expression is not defined; attribute value: " + std::string(value);
}
inline std::string operand_type(std::string_view operation, std::string_view type) {
  return "Incorrect operand type for operator or function; operator or function: " + std::string(operation) +
         ", operand type: " + std::string(type);
}

}  // namespace postino::expr
