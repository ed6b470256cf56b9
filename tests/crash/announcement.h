// The lines between the writer and the test that watches it: a mark, a text, a line end.
#pragma once

#include <string>

namespace postino::crash {

inline constexpr char mark_opening = 'o';       // the store is about to be opened
inline constexpr char mark_ready = 'y';         // it is open
inline constexpr char mark_intent = 'i';        // followed by an operation
inline constexpr char mark_acknowledged = 'a';  // followed by its id, like the next two
inline constexpr char mark_refused = 'r';
inline constexpr char mark_failed = 'f';  // and a message

inline std::string announcement(char mark, const std::string& text) { return mark + text + '\n'; }

}  // namespace postino::crash
