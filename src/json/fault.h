// Where a text stops being JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace postino::json {

struct Fault {
  std::size_t line = 1;    // from 1
  std::size_t column = 1;  // from 1, in characters
  bool at_end = false;     // the text could go on to be JSON, but ends

  // "in line 2, column 7"
  std::string place() const;
};

// The first place at which the text cannot be JSON. nullopt when the syntax is right: then a number is too large, an
// escape means no character, or values are nested deeper than 64.
std::optional<Fault> find_fault(std::string_view text);

}  // namespace postino::json
