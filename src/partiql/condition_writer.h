// Translates conditions into the language of condition expressions, so that one evaluator serves both.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "partiql/substitutions.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

// A piece of a condition expression, and how tightly it binds: that says whether it needs parentheses.
struct ConditionText {
  enum class Binding { disjunction, conjunction, negation, leaf };
  std::string text;
  Binding binding = Binding::leaf;
};

// Fail when the result would be longer than any expression may be.
base::Result<ConditionText> all_of(const std::vector<ConditionText>& parts);
base::Result<ConditionText> any_of(const std::vector<ConditionText>& parts);
base::Result<ConditionText> none_of(const ConditionText& part);

class ConditionWriter {
 public:
  ConditionWriter(const Parameters& parameters, Substitutions& substitutions)
      : parameters_(parameters), substitutions_(substitutions) {}

  base::Result<ConditionText> write(const Expression& condition);

 private:
  base::Result<ConditionText> write_comparison(const Expression& comparison);
  base::Result<ConditionText> write_between(const Expression& between);
  base::Result<ConditionText> write_in(const Expression& in);
  base::Result<ConditionText> write_is(const Expression& is);
  base::Result<std::string> write_function(const Expression& function);
  base::Result<std::string> write_operand(const Expression& operand);

  // What a condition can be compared with: its truth is a boolean.
  base::Result<ConditionText> write_equality(const Expression& left, const Expression& right);
  base::Result<ConditionText> write_truth_equality(const Expression& condition, const Expression& other);
  ConditionText constant(bool truth);

  const Parameters& parameters_;
  Substitutions& substitutions_;
};

}  // namespace postino::partiql
