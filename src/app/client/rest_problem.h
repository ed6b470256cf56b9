// What the REST API answers instead of what was asked for, in words for people.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "http/client.h"

namespace postino::app {

// How the command that was given calls a field of the request: for "data[0].to" perhaps "to".
using FieldName = std::function<std::string(const std::string& field)>;

// Of a response that is no success. The code is not_found for 404, conflict for 409, exhausted for 503, invalid for
// other faults of the request, io for those of the server. The message is harmless on a terminal; where several rules
// are broken it has a line for each.
base::Error describe_problem(const http::ClientResponse& response, const FieldName& name_of_field = nullptr);

}  // namespace postino::app
