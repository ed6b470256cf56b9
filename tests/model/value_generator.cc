#include "value_generator.h"

#include <algorithm>

namespace postino::model {

namespace {

using item::AttributeValue;
using item::Type;
using namespace std::string_literals;

AttributeValue number(const char* text) { return AttributeValue(item::Number::parse(text).value()); }

bool is_index_attribute(const ModelTable& table, const std::string& name) {
  return table.types.contains(name) && name != table.hash && name != table.range;
}

}  // namespace

// The first ones are awkward on purpose: prefixes of each other, zero bytes, the largest bytes, far apart.
AttributeValue ValueGenerator::scalar(Type type, int number_of_value) {
  static const std::vector<std::string> strings = {"a", "a\0"s, "a\0b"s, "ab", "b", "\xC3\xA9", "z", "~\x7F"};
  static const std::vector<std::string> binaries = {"\0"s,      "\0\0"s, "\0\x01"s, "\xFF",
                                                    "\xFF\xFF", "\x01",  "a",       "\0\xFF"s};
  static const std::vector<const char*> numbers = {"-1e20", "-2.5", "-1", "0", "0.5", "1", "10", "1e30"};
  const auto place = static_cast<std::size_t>(number_of_value);
  const std::string other = "k" + std::to_string(number_of_value);
  if (type == Type::string) return place < strings.size() ? strings[place] : other;
  if (type == Type::binary) return item::Binary{place < binaries.size() ? binaries[place] : other};
  return place < numbers.size() ? number(numbers[place]) : AttributeValue(1000 + number_of_value);
}

const std::vector<std::string>& ValueGenerator::data_attributes() {
  static const std::vector<std::string> names = {"a", "n", "s", "tags", "docs", "box", "exp"};
  return names;
}

AttributeValue ValueGenerator::key_value(const ModelTable& table, const std::string& name) {
  int count = vocabulary_.index_values;
  if (name == table.range) count = vocabulary_.range_values;
  if (name == table.hash) count = vocabulary_.hash_values * (table.range ? 1 : vocabulary_.range_values);
  return scalar(table.types.at(name), choice_.between(0, count - 1));
}

item::Key ValueGenerator::key(const ModelTable& table) {
  item::Key key;
  for (const std::string& name : table.keys()) key.set(name, key_value(table, name));
  return key;
}

AttributeValue ValueGenerator::small_set() {
  if (choice_.one_in(3)) return item::NumberSet({item::Number(choice_.between(0, 2)), item::Number(3)});
  if (choice_.one_in(4)) return item::BinarySet({item::Binary{"x"}});
  static const std::vector<std::string> members = {"", "a", "ab", "c"};
  std::vector<std::string> chosen = {choice_.of(members)};
  while (choice_.one_in(2)) chosen.push_back(choice_.of(members));
  return item::StringSet(std::move(chosen));
}

AttributeValue ValueGenerator::small_value(int depth) {
  switch (choice_.between(0, depth > 0 ? 9 : 5)) {
    case 0:
    case 1:
      return choice_.of(std::vector<std::string>{"", "a", "ab", "abc", "b"});
    case 2:
      return choice_.between(-2, 3);
    case 3:
      return number(choice_.one_in(2) ? "1.5" : "2.50");
    case 4:
      return choice_.one_in(2) ? AttributeValue(item::Binary{"ab"}) : AttributeValue(item::Null());
    case 5:
      return choice_.one_in(2);
    case 6:
      return small_set();
    case 7: {
      item::List list;
      for (int i = choice_.between(0, 3); i > 0; --i) list.push_back(small_value(depth - 1));
      return list;
    }
    default: {
      item::Map map;
      for (const char* name : {"x", "y", "z"})
        if (choice_.one_in(2)) map.set(name, small_value(depth - 1));
      return map;
    }
  }
}

AttributeValue ValueGenerator::expiry_value(base::TimePoint now) {
  const std::int64_t second = base::epoch_seconds(now);
  switch (choice_.between(0, 7)) {
    case 0:
      return std::to_string(second);
    case 1:
      return second - std::int64_t{6} * 365 * 24 * 3600;
    case 2:
      return number((std::to_string(second + choice_.between(-5, 5)) + ".75").c_str());
    default:
      return second + choice_.between(-10, 300);
  }
}

AttributeValue ValueGenerator::value_for(const ModelTable& table, const std::string& name, base::TimePoint now) {
  if (is_index_attribute(table, name)) {
    if (choice_.one_in(40)) return small_value(1);
    return key_value(table, name);
  }
  if (name == "exp") return expiry_value(now);
  if (choice_.one_in(5)) return small_value(2);
  if (name == "n") return choice_.between(-3, 3);
  if (name == "s") return choice_.of(std::vector<std::string>{"", "a", "ab", "b"});
  if (name == "tags") return small_set();
  if (name == "docs") return item::List{small_value(2), small_value(1)};
  if (name == "box") return item::Map{{"x", small_value(1)}, {"y", small_value(2)}};
  return small_value(2);
}

item::Item ValueGenerator::item(const ModelTable& table, base::TimePoint now) {
  item::Item item = key(table);
  for (const auto& [name, type] : table.types)
    if (is_index_attribute(table, name) && !choice_.one_in(4)) item.set(name, value_for(table, name, now));
  for (const std::string& name : data_attributes())
    if (choice_.one_in(3)) item.set(name, value_for(table, name, now));
  if (vocabulary_.padding > 0 && choice_.one_in(2))
    item.set("s",
             std::string(static_cast<std::size_t>(choice_.between(0, static_cast<int>(vocabulary_.padding))), 'p'));
  return item;
}

Path ValueGenerator::document_path() {
  static const std::vector<Path> paths = {
      {"box"s, "x"s}, {"box"s, "y"s}, {"box"s, "y"s, "z"s}, {"box"s, "x"s, 0U}, {"docs"s, 0U},
      {"docs"s, 1U},  {"docs"s, 9U},  {"docs"s, 0U, "x"s},  {"docs"s, 1U, 0U},  {"a"s, "x"s},
  };
  return choice_.of(paths);
}

Path ValueGenerator::path(const ModelTable& table, bool with_keys) {
  if (choice_.one_in(3)) return document_path();
  if (with_keys && choice_.one_in(3)) {
    std::vector<std::string> names;
    for (const auto& [name, type] : table.types) names.push_back(name);
    return {choice_.of(names)};
  }
  return {choice_.of(data_attributes())};
}

AttributeValue ValueGenerator::literal_near(const ModelTable& table, const Path& path) {
  const std::string& name = std::get<std::string>(path.front());
  if (path.size() == 1 && table.types.contains(name) && !choice_.one_in(10)) return key_value(table, name);
  if (path.size() == 1 && !choice_.one_in(4)) return value_for(table, name, base::TimePoint());
  return small_value(1);
}

Condition ValueGenerator::comparison(const ModelTable& table) {
  using Kind = Condition::Kind;
  Condition condition;
  condition.kind = static_cast<Kind>(choice_.between(0, static_cast<int>(Kind::contains)));
  const Path subject = path(table, true);
  const auto literal = [&](AttributeValue value) { return Operand{Operand::Kind::literal, {}, std::move(value)}; };
  condition.operands.push_back({Operand::Kind::path, subject, {}});
  if (condition.kind == Kind::exists || condition.kind == Kind::not_exists) return condition;
  if (condition.kind == Kind::type_is) {
    static const std::vector<std::string> names = {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"};
    condition.operands.push_back(literal(choice_.one_in(30) ? "STRING" : choice_.of(names)));
    return condition;
  }
  if (condition.kind <= Kind::greater_equal && choice_.one_in(6)) {
    condition.operands[0].kind = Operand::Kind::size;
    condition.operands.push_back(literal(choice_.between(0, 4)));
    return condition;
  }
  if (condition.kind <= Kind::greater_equal && choice_.one_in(8)) {
    condition.operands.push_back({Operand::Kind::path, path(table, true), {}});
    return condition;
  }
  int literals = condition.kind == Kind::between ? 2 : condition.kind == Kind::in ? choice_.between(1, 3) : 1;
  for (; literals > 0; --literals) condition.operands.push_back(literal(literal_near(table, subject)));
  // Most of them should make sense.
  for (int attempt = 0; attempt < 6 && condition.is_invalid(); ++attempt) {
    AttributeValue low = scalar(choice_.one_in(2) ? Type::string : Type::number, choice_.between(0, 7));
    if (condition.kind == Kind::begins_with) low = choice_.one_in(2) ? "a" : "ab";
    for (std::size_t i = 1; i < condition.operands.size(); ++i) condition.operands[i].literal = low;
    if (choice_.one_in(50)) break;
  }
  return condition;
}

Condition ValueGenerator::condition(const ModelTable& table, int depth) {
  if (depth == 0 || !choice_.one_in(3)) return comparison(table);
  Condition condition;
  condition.kind = static_cast<Condition::Kind>(
      choice_.between(static_cast<int>(Condition::Kind::all_of), static_cast<int>(Condition::Kind::negation)));
  const int parts = condition.kind == Condition::Kind::negation ? 1 : choice_.between(2, 3);
  for (int i = 0; i < parts; ++i) condition.parts.push_back(this->condition(table, depth - 1));
  return condition;
}

Projection ValueGenerator::projection(const ModelTable& table) {
  Projection projection;
  const int count = choice_.between(1, 4);
  for (int attempt = 0; attempt < 20 && static_cast<int>(projection.paths.size()) < count; ++attempt) {
    projection.paths.push_back(path(table, true));
    if (projection.is_invalid() && !choice_.one_in(60)) projection.paths.pop_back();
  }
  return projection;
}

}  // namespace postino::model
