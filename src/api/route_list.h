// The one list of routes.
#pragma once

#include <string_view>
#include <vector>

#include "api/protocol/route.h"

namespace postino::api {

// Every route there is. Their operations have all their answers: those that come with a role or a body as well.
const std::vector<Route>& all_routes();

// nullptr when there is none.
const Operation* find_operation(std::string_view id);

// Those that describe the API itself, from the list.
std::vector<Route> description_routes();
// And about backups of the store that it works on.
std::vector<Route> backup_routes();

}  // namespace postino::api
