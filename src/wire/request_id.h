// The id that every response carries, for a user to quote and for nothing else.
#pragma once

#include <string>

namespace postino::wire {

// 52 characters of [0-9A-Z], different every time.
std::string make_request_id();

}  // namespace postino::wire
