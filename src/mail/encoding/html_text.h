// What HTML says, without its markup.
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

// For people who read it as plain text: paragraphs are separated by an empty line, list entries begin with a hyphen,
// and what is preformatted keeps its lines. Scripts, styles, titles and comments are left out. The HTML is UTF-8 from
// strangers, and may be broken in any way; this takes time in proportion to its length.
std::string text_of_html(std::string_view html);

}  // namespace postino::mail
