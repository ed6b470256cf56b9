// An expression in a request: its text and, for a caller that uses it often, what was parsed from it before.
#pragma once

#include <string>
#include <utility>

#include "expr/expression.h"

namespace postino::store {

template <class Parsed>
class Expression {
 public:
  Expression(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)
  Expression(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  // `parsed` must come from this text.
  Expression(std::string text, Parsed parsed) : text_(std::move(text)), parsed_(std::move(parsed)) {}

  const std::string& text() const { return text_; }
  const Parsed& parsed() const { return parsed_; }  // nullptr when only the text is known

 private:
  std::string text_;
  Parsed parsed_;
};

using ConditionExpression = Expression<expr::Condition>;
using UpdateExpression = Expression<expr::Update>;
using ProjectionExpression = Expression<expr::Projection>;

}  // namespace postino::store
