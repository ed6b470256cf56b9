// Expressions as text become trees. Errors are ErrorCode::invalid with DynamoDB's message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "expr/syntax/syntax_tree.h"

namespace postino::expr {

inline constexpr std::size_t max_expression_size = 4'096;
inline constexpr std::size_t max_operators = 300;
inline constexpr std::size_t max_in_operands = 100;
inline constexpr std::size_t max_path_depth = 32;
inline constexpr std::uint32_t max_list_index = 2'147'483'647;

// What parsing yields: the checks that need nothing but the text have passed. Immutable; threads may share it.
using Condition = std::shared_ptr<const ConditionTree>;
using Update = std::shared_ptr<const UpdateTree>;
using Projection = std::shared_ptr<const ProjectionTree>;

base::Result<Condition> parse_condition(std::string_view text, Kind kind);
base::Result<Update> parse_update(std::string_view text);
base::Result<Projection> parse_projection(std::string_view text);

// Of parameters that are no expressions but mean the same: without the limits that expressions have. The text must be
// well-formed.
Condition parse_translated_condition(std::string_view text, Kind kind);
Update parse_translated_update(std::string_view text);

}  // namespace postino::expr
