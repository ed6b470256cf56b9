// Encoded words (RFC 2047): UTF-8 for places where only ASCII may stand.
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

constexpr std::size_t longest_encoded_word = 75;

// Takes as much from the front of the text as goes into one word of at most `room` bytes, and appends that word. Whole
// characters alone: takes nothing when there is not room for one. Choose `base64` by the whole text.
void append_encoded_word(std::string& out, std::string_view& text, std::size_t room, bool base64);

// Which of the two encodings is the shorter one?
bool prefers_base64(std::string_view text);

}  // namespace postino::mail
