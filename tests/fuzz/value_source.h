// Turns the bytes of a fuzzer's input into names, values and items. Every input means something, and a small change of
// the input is a small change of what it means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "item/value.h"

namespace postino::fuzz {

class ValueSource {
 public:
  explicit ValueSource(std::string_view bytes) : rest_(bytes) {}

  // 0 once the input is used up.
  std::uint8_t byte();
  bool empty() const { return rest_.empty(); }
  // Everything up to the next line end, which is dropped.
  std::string_view line();
  // A byte for the length, then so many bytes or what is left.
  std::string text();

  // One of a few attribute names, so that expressions and items speak of the same ones.
  std::string name();
  item::Number number();
  // Always valid: no empty sets, nested at most so deep.
  item::AttributeValue value(int max_depth);
  item::Map map(int max_depth);

 private:
  template <class Make>
  auto members(Make make);

  std::string_view rest_;
};

}  // namespace postino::fuzz
