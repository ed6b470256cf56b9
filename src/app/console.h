// Where commands write: their result, what is wrong, and how wide the terminals are that show it.
#pragma once

#include <optional>
#include <ostream>
#include <string_view>

namespace postino::app {

struct Console {
  std::ostream& out;
  std::ostream& errors;
  std::optional<int> out_columns;     // nullopt when it is not a terminal
  std::optional<int> errors_columns;  // the same

  // Prints what came from elsewhere, of any number of lines: byte by byte into a file or a pipe, and without what could
  // control a terminal onto one. Ends with a line end.
  void print_foreign(std::string_view text) const;
};

Console standard_console();

}  // namespace postino::app
