// What is wrong with a number, in DynamoDB's words.
#pragma once

#include <string_view>

namespace postino::item {

inline constexpr std::string_view number_overflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
inline constexpr std::string_view number_underflow =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
inline constexpr std::string_view too_many_digits = "Attempting to store more than 38 significant digits in a Number";
inline constexpr std::string_view not_a_number = "The parameter cannot be converted to a numeric value";

}  // namespace postino::item
