#include "item/random_values_testing.h"

namespace postino::item {

std::string RandomValues::number_text() {
  if (one_in(20)) return "0";
  const int digits = one_in(3) ? between(35, 38) : between(1, 38);
  std::string text = one_in(2) ? "-" : "";
  text.push_back(static_cast<char>('0' + between(1, 9)));
  const bool sparse = one_in(2);  // runs of zeros and nines make carries and cancellations
  for (int i = 1; i < digits; ++i)
    text.push_back(sparse ? (one_in(2) ? '0' : '9') : static_cast<char>('0' + between(0, 9)));
  const int magnitude = one_in(4) ? between(-130, 125) : one_in(4) ? between(120, 125) : between(-5, 40);
  return text + "e" + std::to_string(magnitude - digits + 1);
}

Number RandomValues::number() {
  if (one_in(3)) return Number(between(-200, 200));
  return Number::parse(number_text()).value();
}

std::string RandomValues::bytes(int max_length) {
  std::string text(static_cast<std::size_t>(between(0, max_length)), ' ');
  for (char& c : text) c = one_in(3) ? static_cast<char>(between(0, 2)) : static_cast<char>(between(0, 255));
  return text;
}

std::string RandomValues::text(int max_characters) {
  const std::string characters[] = {
      "a", "b", "\"", "\\", "\n", "\x01", std::string(1, '\0'), "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  std::string result;
  for (int i = between(0, max_characters); i > 0; --i)
    result.append(characters[static_cast<std::size_t>(one_in(3) ? between(0, 9) : between(0, 1))]);
  return result;
}

AttributeValue RandomValues::value(int max_depth) {
  const auto many = [this](auto make) {
    std::vector<decltype(make())> members;
    for (int i = between(1, 4); i > 0; --i) members.push_back(make());
    return members;
  };
  switch (static_cast<Type>(between(0, max_depth > 1 ? 9 : 7))) {
    case Type::string:
      return text(100);
    case Type::number:
      return number();
    case Type::binary:
      return Binary{bytes(20)};
    case Type::boolean:
      return one_in(2);
    case Type::null:
      return Null{};
    case Type::string_set:
      return StringSet(many([this] { return text(2); }));
    case Type::number_set:
      return NumberSet(many([this] { return number(); }));
    case Type::binary_set:
      return BinarySet(many([this] { return Binary{bytes(2)}; }));
    case Type::list: {
      List list;
      for (int i = between(0, 4); i > 0; --i) list.push_back(value(max_depth - 1));
      return list;
    }
    case Type::map:
      return map(max_depth - 1);
  }
  return Null{};
}

Map RandomValues::map(int max_depth) {
  Map result;
  for (int i = between(0, 5); i > 0; --i) result.set(text(3), value(max_depth));
  return result;
}

}  // namespace postino::item
