// data: URLs (RFC 2397).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::mail {

struct DataUrl {
  std::string content_type;  // type/subtype in lower case, without parameters; may be empty
  std::string bytes;
};

// Does it say that it is an image?
bool is_image_data_url(std::string_view url);

// As browsers read them: bytes may be escaped with %, base64 may have spaces and lack its padding.
base::Result<DataUrl> parse_data_url(std::string_view url);

}  // namespace postino::mail
