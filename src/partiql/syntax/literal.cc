#include "partiql/syntax/literal.h"

#include <algorithm>
#include <set>

#include "item/size.h"
#include "partiql/syntax/wording.h"
#include "store/constraints.h"

namespace postino::partiql {

namespace {

using item::AttributeValue;

constexpr std::string_view invalid_values = "One or more parameter values were invalid: ";

bool is_collection(ExpressionKind kind) {
  return kind == ExpressionKind::list || kind == ExpressionKind::structure || kind == ExpressionKind::bag;
}

// What messages call an expression that is no literal.
std::string description_of(const Expression& expression) {
  switch (expression.kind) {
    case ExpressionKind::parameter:
      return "Parameter";
    case ExpressionKind::function:
      return expression.name;
    case ExpressionKind::path:
      return expression.path.front().name;
    case ExpressionKind::missing:
      return "MISSING";
    default:
      return std::string(symbol_of(expression.operation));
  }
}

// Walks into one literal, knowing the way from its root.
class Folder {
 public:
  base::Result<AttributeValue> value_of(const Expression& expression) {
    if (level_ >= static_cast<std::size_t>(item::max_nesting))
      return base::invalid("Nesting Levels have exceeded supported limits under " + path_);
    switch (expression.kind) {
      case ExpressionKind::literal:
        return expression.value;
      case ExpressionKind::number: {
        TRY(const item::Number number, number_of(expression));
        return AttributeValue(number);
      }
      case ExpressionKind::list:
        return list_of_values(expression);
      case ExpressionKind::structure:
        return map_of(expression);
      case ExpressionKind::bag:
        return set_of(expression);
      default:
        return base::invalid(located("Unsupported data type: " + description_of(expression) + " under key " + path_,
                                     expression.position));
    }
  }

 private:
  template <class Step>
  base::Result<AttributeValue> below(Step&& step, const Expression& expression) {
    const std::size_t size = path_.size();
    path_.append(step);
    ++level_;
    auto value = value_of(expression);
    --level_;
    path_.resize(size);
    return value;
  }

  base::Result<item::Number> number_of(const Expression& expression) const {
    auto number = item::Number::parse(expression.name);
    if (!number) return base::invalid(number.error().message + " under " + path_);
    return number;
  }

  base::Result<AttributeValue> list_of_values(const Expression& expression) {
    item::List list;
    for (std::size_t i = 0; i < expression.operands.size(); ++i) {
      TRY(AttributeValue member, below("[" + std::to_string(i) + "]", expression.operands[i]));
      list.push_back(std::move(member));
    }
    return AttributeValue(std::move(list));
  }

  base::Result<AttributeValue> map_of(const Expression& expression) {
    if (const auto repeated = repeated_name(expression))
      return base::invalid("Duplicate keys in tuple. Key: " + *repeated + " under " + path_);
    std::vector<item::Attribute> attributes;
    for (std::size_t i = 0; i < expression.operands.size(); i += 2) {
      const std::string& name = expression.operands[i].name;
      TRY(AttributeValue member, below("." + name, expression.operands[i + 1]));
      attributes.push_back({name, std::move(member)});
    }
    return AttributeValue(item::Map(std::move(attributes)));
  }

  base::Result<AttributeValue> set_of(const Expression& expression) const {
    if (expression.operands.empty()) return base::invalid("Empty bags are not supported");
    const auto all = [&](auto is) { return std::ranges::all_of(expression.operands, is); };
    if (all([](const Expression& member) { return member.kind == ExpressionKind::number; }))
      return number_set(expression);
    if (all([](const Expression& member) {
          return member.kind == ExpressionKind::literal && member.value.type() == item::Type::string;
        }))
      return string_set(expression);
    return base::invalid("Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags");
  }

  base::Result<AttributeValue> string_set(const Expression& expression) const {
    std::vector<std::string> members;
    for (const Expression& member : expression.operands) members.push_back(member.value.as<std::string>());
    item::StringSet set(members);
    if (set.size() != members.size())
      return base::invalid(std::string(invalid_values) + "Input collection " + store::list_text(members) +
                           " contains duplicates.");
    return AttributeValue(std::move(set));
  }

  base::Result<AttributeValue> number_set(const Expression& expression) const {
    std::vector<item::Number> members;
    std::vector<std::string> texts;
    for (const Expression& member : expression.operands) {
      TRY(const item::Number number, number_of(member));
      members.push_back(number);
      texts.push_back(member.name);
    }
    item::NumberSet set(members);
    if (set.size() != members.size())
      return base::invalid(std::string(invalid_values) + "Input collection " + store::list_text(texts) +
                           " contains duplicates! under " + path_);
    return AttributeValue(std::move(set));
  }

  std::string path_ = "root";
  std::size_t level_ = 0;
};

base::Result<void> fold_literal(Expression& expression) {
  TRY(AttributeValue value, Folder().value_of(expression));
  expression.kind = ExpressionKind::literal;
  expression.value = std::move(value);
  expression.operands.clear();
  expression.name.clear();
  return {};
}

}  // namespace

base::Result<void> fold_literals(Expression& expression) {
  if (is_collection(expression.kind) || expression.kind == ExpressionKind::number) return fold_literal(expression);
  for (Expression& operand : expression.operands) TRY_VOID(fold_literals(operand));
  return {};
}

base::Result<void> fold_item_member(Expression& expression) {
  if (expression.kind == ExpressionKind::parameter) return {};
  return fold_literal(expression);
}

std::optional<std::string> repeated_name(const Expression& structure) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < structure.operands.size(); i += 2)
    if (!names.insert(structure.operands[i].name).second) return structure.operands[i].name;
  return std::nullopt;
}

}  // namespace postino::partiql
