// The description of the API for programs: OpenAPI 3.1.
#pragma once

#include <string>
#include <vector>

#include "api/protocol/route.h"

namespace postino::api {

std::string openapi_document(const std::vector<Route>& routes);

}  // namespace postino::api
