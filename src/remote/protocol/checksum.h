// The checksum that answers have in the header x-amz-crc32.
#pragma once

#include <string_view>

namespace postino::remote {

// Is the body the one that was sent? True when there is no checksum.
bool has_right_checksum(std::string_view header, std::string_view body);

}  // namespace postino::remote
