// What requests name by an ARN: tables with their tags and policies.
#pragma once

#include <string>
#include <string_view>

#include "engine/catalog/core.h"

namespace postino::engine {

store::Error no_such_resource(const std::string& arn);

// The name in the ARN of a table of ours, which may not be there. The action is the one that the caller is refused.
store::Answer<std::string> table_named_by(const Core& core, std::string_view action, const std::string& arn);

}  // namespace postino::engine
