// Random values for property tests. Everything comes from one fixed seed, which a failing test prints.
#pragma once

#include <random>
#include <string>

#include "item/value.h"

namespace postino::item {

class RandomValues {
 public:
  static constexpr std::uint64_t seed = 20'240'611;

  // From low to high, both included.
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator_); }
  bool one_in(int count) { return between(1, count) == 1; }

  // Decimal text of a valid number, often close to the limits of digits and magnitude; zero now and then.
  std::string number_text();
  Number number();
  std::string bytes(int max_length);
  // Valid UTF-8 of all lengths, with what JSON must escape.
  std::string text(int max_characters);
  // With few different names and texts, so that equal ones meet.
  AttributeValue value(int max_depth);
  Map map(int max_depth);

 private:
  std::mt19937_64 generator_{seed};
};

}  // namespace postino::item
