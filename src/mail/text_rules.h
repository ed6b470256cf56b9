// What a text must be made of before it may stand in a message, and when two are the same to people.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::mail {

bool is_utf8(std::string_view text);  // and without NUL

// A text of one line: UTF-8 without control characters. Nothing in it can end a line.
base::Result<void> check_line(std::string_view text);

// The same, where tabs are as good as spaces.
base::Result<void> check_line_with_tabs(std::string_view text);

// For comparing texts as people read them: without regard to case (by Unicode's rules), to the form in which letters
// with accents are written, and to blanks at both ends. The same for "Änne" and " ÄNNE". What is not UTF-8 only loses
// its blanks.
std::string folded(std::string_view text);

// A letter of RFC 5322's atoms; those beyond ASCII are not.
bool is_atom_letter(char letter);

// A letter of RFC 2045's tokens.
bool is_token_letter(char letter);
// A token of RFC 2045: one such letter at least, and no others.
bool is_token(std::string_view text);

}  // namespace postino::mail
