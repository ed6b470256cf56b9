// Whether bytes are what AMQP 1.0 calls a message, as far as lengths and counts go.
//
// Proton takes them at their word: it skips what it does not understand, so that anything at all would be an empty
// message to it, and goes as often through a map as the map says it has members.
#pragma once

#include <string_view>

namespace postino::broker {

// Sections, one after the other, and nothing else: each with values that end where they say, and have as many members
// as they say.
bool is_made_of_sections(std::string_view bytes);

}  // namespace postino::broker
