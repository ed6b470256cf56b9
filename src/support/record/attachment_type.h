// What an attachment is: told from its bytes, and compared with what its sender says. Pure code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::support {

// What is kept, unless a setting says otherwise: pictures, documents, archives, texts and data. Nothing that a browser
// or a desktop would run.
const std::vector<std::string>& usual_attachment_types();

// From the bytes alone: "image/png"; "application/x-executable" for programs and scripts, "text/html" for what a
// browser would take for a page, "text/plain" for any text, "application/octet-stream" for what cannot be told.
std::string sniff_content_type(std::string_view bytes);

// The type that it is kept with. `claimed` may be empty, and have parameters, which are dropped. invalid, with the
// rule, when the bytes are something else than is claimed or than the name's extension says, when it is a program, and
// when the type is not allowed.
base::Result<std::string> decide_content_type(std::string_view bytes, std::string_view name, std::string_view claimed,
                                              const std::vector<std::string>& allowed = usual_attachment_types());

}  // namespace postino::support
