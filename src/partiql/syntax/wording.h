// What several parts say in the same words.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "partiql/syntax/lexer.h"

namespace postino::partiql {

inline constexpr std::string_view key_mismatch = "The provided key element does not match the schema";
inline constexpr std::string_view no_such_resource = "Requested resource not found";

// "Statement wasn't well formed, can't be processed: " and the detail, if there is one.
tl::unexpected<base::Error> not_well_formed(std::string_view detail = {});

// "Unrecognized function: exists at 1:45:6"
std::string located(std::string message, Position position);

// "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"
std::string incorrect_operand(std::string_view operation, std::string_view type);
std::string too_many_operands(std::size_t count);

}  // namespace postino::partiql
