// Writes expression trees out as text, with placeholders for values and for some of the names.
#pragma once

#include <string>

#include "choice.h"
#include "expr/placeholders.h"
#include "expression_tree.h"

namespace postino::model {

// Names and values of one request, shared by its expressions.
class ExpressionWriter {
 public:
  explicit ExpressionWriter(Choice& choice) : choice_(choice) {}

  std::string text(const Condition& condition);
  std::string text(const Update& update);
  std::string text(const Projection& projection);
  std::string path_text(const Path& path);
  std::string value_text(const item::AttributeValue& value);

  // What the texts refer to. Call it after the last of them.
  expr::Placeholders placeholders() const { return placeholders_; }

 private:
  std::string name_text(const std::string& name);
  std::string operand_text(const Operand& operand);
  std::string update_value_text(const UpdateValue& value);
  std::string joined(const std::vector<Condition>& parts, const std::string& word);

  Choice& choice_;
  expr::Placeholders placeholders_;
};

}  // namespace postino::model
