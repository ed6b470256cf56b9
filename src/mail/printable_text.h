// Words of strangers, made fit for a log, a console or a line of a report.
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

// Appends `text` as long as `out` does not exceed `limit` bytes, whole characters only. What could end a line or
// control a terminal becomes a space, what is not UTF-8 a question mark.
void append_printable(std::string& out, std::string_view text, std::size_t limit);

}  // namespace postino::mail
