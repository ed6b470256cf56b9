// Where commands write: their result, what is wrong, and how wide the terminals are that show it; and what the program
// ends with.
#pragma once

#include <optional>
#include <ostream>
#include <string_view>

#include "base/result.h"

namespace postino::app {

// What the program ends with.
enum ExitStatus : int {
  success = 0,
  failure = 1,  // it was understood, and did not work out
  misuse = 2,   // it was not understood
  partly = 3,   // it worked out for some, and not for others
};

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

// Prints the error, and returns the status to end with.
int report_error(const Console& console, const base::Error& error, ExitStatus status = failure);

}  // namespace postino::app
