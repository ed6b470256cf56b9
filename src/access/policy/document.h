// Policies as their authors write them: documents in IAM's JSON.
#pragma once

#include <string>
#include <string_view>

#include "access/policy/statement.h"
#include "base/result.h"

namespace postino::access {

// Blanks do not count, as on AWS.
inline constexpr std::size_t max_identity_policy_characters = 6'144;
// Of a resource's policy everything counts.
inline constexpr std::size_t max_resource_policy_bytes = 20 * 1'024;
inline constexpr std::size_t max_document_bytes = 64 * 1'024;
inline constexpr std::size_t max_values = 1'000;  // in one list of a document

// Nothing is passed over: an element, action, operator or condition key that is not known makes the whole document
// fail, with each place and its rule: `Statement[1].Condition.StringEqual: is no operator of conditions`.
//
// An identity's document may be a statement by itself, without Version and Statement, as documents about policies show
// them; it may use variables.
base::Result<Policy> parse_policy(std::string_view text, PolicyKind kind, std::string name);

}  // namespace postino::access
