// The parts of a request that are objects of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/fields.h"
#include "messages/request.h"

namespace postino::messages {

// From "connection" and "queueManager": one of them, or none for the default.
Place read_place(json::Fields& fields);

// "messages": without ids.
std::vector<broker::Message> read_messages(json::Fields& fields);

// A duration within limits.
std::optional<base::Milliseconds> read_duration(json::Fields& fields, std::string_view name, base::Milliseconds least,
                                                base::Milliseconds most);

}  // namespace postino::messages
