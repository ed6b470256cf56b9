// What has changed between two texts, line by line. Pure code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace postino::reminders {

// ' ' of both texts, '-' of the first, '+' of the second; and the line, without its end.
struct DiffLine {
  char sign = ' ';
  std::string line;

  friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

// All lines of both texts, in their order, with as few changed ones as possible. Texts that differ in more than a
// thousand lines are told as one that goes and one that comes, between what they begin and end with alike. A text
// without lines is empty.
std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after);

}  // namespace postino::reminders
