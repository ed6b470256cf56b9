#include "value_source.h"

#include <algorithm>
#include <vector>

namespace postino::fuzz {

std::uint8_t ValueSource::byte() {
  if (rest_.empty()) return 0;
  const auto value = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return value;
}

std::string_view ValueSource::line() {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  const std::string_view found = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return found;
}

std::string ValueSource::text() {
  const std::size_t wanted = byte() % 16;  // before the rest is measured: it takes a byte of it
  const std::size_t length = std::min(wanted, rest_.size());
  std::string found(rest_.substr(0, length));
  rest_.remove_prefix(length);
  return found;
}

std::string ValueSource::name() { return std::string(1, static_cast<char>('a' + byte() % 6)); }

item::Number ValueSource::number() {
  const std::uint8_t shape = byte();
  if (shape % 4 != 0) return {static_cast<std::int8_t>(byte())};
  // Two bytes of digits between runs of nines, anywhere in the range of magnitudes.
  const std::string digits = std::to_string(byte()) + std::string(byte() % 34, '9') + std::to_string(byte());
  const int exponent = static_cast<std::int8_t>(byte()) - static_cast<int>(digits.size());
  const auto parsed =
      item::Number::parse((shape & 4 ? "-" : "") + digits + "e" + std::to_string(std::clamp(exponent, -130, 80)));
  return parsed ? *parsed : item::Number(shape);
}

template <class Make>
auto ValueSource::members(Make make) {
  std::vector<decltype(make())> result;
  for (int count = 1 + byte() % 4; count > 0; --count) result.push_back(make());
  return result;
}

item::AttributeValue ValueSource::value(int max_depth) {
  switch (static_cast<item::Type>(byte() % (max_depth > 1 ? 10 : 8))) {
    case item::Type::string:
      return text();
    case item::Type::number:
      return number();
    case item::Type::binary:
      return item::Binary{text()};
    case item::Type::boolean:
      return byte() % 2 == 1;
    case item::Type::null:
      return item::Null{};
    case item::Type::string_set:
      return item::StringSet(members([this] { return text(); }));
    case item::Type::number_set:
      return item::NumberSet(members([this] { return number(); }));
    case item::Type::binary_set:
      return item::BinarySet(members([this] { return item::Binary{text()}; }));
    case item::Type::list: {
      item::List list;
      for (int count = byte() % 5; count > 0; --count) list.push_back(value(max_depth - 1));
      return list;
    }
    case item::Type::map:
      return map(max_depth - 1);
  }
  return item::Null{};
}

item::Map ValueSource::map(int max_depth) {
  item::Map result;
  for (int count = byte() % 6; count > 0; --count) {
    std::string key = name();
    result.set(std::move(key), value(max_depth));
  }
  return result;
}

}  // namespace postino::fuzz
