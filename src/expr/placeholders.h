// The substitution maps of a request: ExpressionAttributeNames and ExpressionAttributeValues.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "item/value.h"

namespace postino::expr {

using Names = std::map<std::string, std::string, std::less<>>;  // "#n" -> attribute name
using Values = item::Map;                                       // ":v" -> value

// A map that was not given and one that was given empty are different: DynamoDB refuses the latter.
struct Placeholders {
  std::optional<Names> names;
  std::optional<Values> values;
};

}  // namespace postino::expr
