// Text for terminals: harmless, of a known width, and with numbers that can be read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postino::app {

// Words of strangers on one line. What could end the line, control the terminal or turn the direction of writing
// becomes a space, what is not UTF-8 a question mark.
std::string printable(std::string_view text);
// The same for text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

// How many columns printable text takes: two for a wide character of East Asia or an emoji, none for a combining one.
int display_width(std::string_view text);

// Cut to this many columns, with an ellipsis where something is missing.
std::string shortened(std::string_view text, int columns);

std::string left_aligned(std::string_view text, int columns);
std::string right_aligned(std::string_view text, int columns);

// 2000 -> "2,000"
std::string grouped(std::int64_t number);
// "1 e-mail", "2,000 e-mails"
std::string counted(std::int64_t number, std::string_view thing);
// The first, and how many others there are: "ada@example.org +2"
std::string first_and_others(const std::vector<std::string>& texts);

}  // namespace postino::app
