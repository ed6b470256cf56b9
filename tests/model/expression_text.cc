#include "expression_text.h"

namespace postino::model {

namespace {

std::string comparator(Condition::Kind kind) {
  switch (kind) {
    case Condition::Kind::equal:
      return " = ";
    case Condition::Kind::not_equal:
      return " <> ";
    case Condition::Kind::less:
      return " < ";
    case Condition::Kind::less_equal:
      return " <= ";
    case Condition::Kind::greater:
      return " > ";
    default:
      return " >= ";
  }
}

std::string function(Condition::Kind kind) {
  switch (kind) {
    case Condition::Kind::exists:
      return "attribute_exists";
    case Condition::Kind::not_exists:
      return "attribute_not_exists";
    case Condition::Kind::type_is:
      return "attribute_type";
    case Condition::Kind::begins_with:
      return "begins_with";
    default:
      return "contains";
  }
}

bool is_logical(const Condition& condition) {
  return condition.kind == Condition::Kind::all_of || condition.kind == Condition::Kind::any_of ||
         condition.kind == Condition::Kind::negation;
}

}  // namespace

std::string ExpressionWriter::name_text(const std::string& name) {
  if (!choice_.one_in(3)) return name;
  if (!placeholders_.names) placeholders_.names.emplace();
  placeholders_.names->emplace("#" + name, name);
  return "#" + name;
}

std::string ExpressionWriter::path_text(const Path& path) {
  std::string text;
  for (const Step& step : path) {
    if (const auto* name = std::get_if<std::string>(&step))
      text += (text.empty() ? "" : ".") + name_text(*name);
    else
      text += "[" + std::to_string(std::get<std::uint32_t>(step)) + "]";
  }
  return text;
}

std::string ExpressionWriter::value_text(const item::AttributeValue& value) {
  if (!placeholders_.values) placeholders_.values.emplace();
  const std::string name = ":v" + std::to_string(placeholders_.values->size());
  placeholders_.values->set(name, value);
  return name;
}

std::string ExpressionWriter::operand_text(const Operand& operand) {
  if (operand.kind == Operand::Kind::literal) return value_text(operand.literal);
  if (operand.kind == Operand::Kind::size) return "size(" + path_text(operand.path) + ")";
  return path_text(operand.path);
}

std::string ExpressionWriter::joined(const std::vector<Condition>& parts, const std::string& word) {
  std::string result;
  for (const Condition& part : parts) {
    if (!result.empty()) result += " " + word + " ";
    result += is_logical(part) ? "(" + text(part) + ")" : text(part);
  }
  return result;
}

std::string ExpressionWriter::text(const Condition& condition) {
  if (condition.kind == Condition::Kind::all_of) return joined(condition.parts, choice_.one_in(4) ? "and" : "AND");
  if (condition.kind == Condition::Kind::any_of) return joined(condition.parts, "OR");
  if (condition.kind == Condition::Kind::negation) return "NOT (" + text(condition.parts[0]) + ")";

  std::vector<std::string> operands;
  for (const Operand& operand : condition.operands) operands.push_back(operand_text(operand));
  if (condition.kind == Condition::Kind::between)
    return operands[0] + " BETWEEN " + operands[1] + " AND " + operands[2];
  std::string list;
  for (std::size_t i = condition.kind == Condition::Kind::in ? 1 : 0; i < operands.size(); ++i)
    list += (list.empty() ? "" : ", ") + operands[i];
  if (condition.kind == Condition::Kind::in) return operands[0] + " IN (" + list + ")";
  if (condition.kind < Condition::Kind::between) return operands[0] + comparator(condition.kind) + operands[1];
  return function(condition.kind) + "(" + list + ")";
}

std::string ExpressionWriter::update_value_text(const UpdateValue& value) {
  const auto operand = [&](std::size_t i) { return update_value_text(value.operands[i]); };
  switch (value.kind) {
    case UpdateValue::Kind::literal:
      return value_text(value.literal);
    case UpdateValue::Kind::path:
      return path_text(value.path);
    case UpdateValue::Kind::if_not_exists: {
      const std::string path = path_text(value.path);
      return "if_not_exists(" + path + ", " + operand(0) + ")";
    }
    case UpdateValue::Kind::list_append: {
      const std::string left = operand(0);
      return "list_append(" + left + ", " + operand(1) + ")";
    }
    default: {
      const std::string left = operand(0);
      return left + (value.kind == UpdateValue::Kind::plus ? " + " : " - ") + operand(1);
    }
  }
}

std::string ExpressionWriter::text(const Update& update) {
  using Section = UpdateAction::Section;
  std::string result;
  for (const Section section : {Section::set, Section::remove, Section::add, Section::erase}) {
    std::string clause;
    for (const UpdateAction& action : update.actions) {
      if (action.section != section) continue;
      clause += (clause.empty() ? "" : ", ") + path_text(action.target);
      if (section == Section::set) clause += " = " + update_value_text(action.value);
      if (section == Section::add || section == Section::erase) clause += " " + value_text(action.value.literal);
    }
    static const std::string words[] = {"SET ", "REMOVE ", "ADD ", "DELETE "};
    if (!clause.empty()) result += (result.empty() ? "" : " ") + words[static_cast<int>(section)] + clause;
  }
  return result;
}

std::string ExpressionWriter::text(const Projection& projection) {
  std::string result;
  for (const Path& path : projection.paths) result += (result.empty() ? "" : ", ") + path_text(path);
  return result;
}

}  // namespace postino::model
