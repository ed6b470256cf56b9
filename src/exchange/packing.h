// How data files are packed: gzip, as exports have it, and what imports take besides.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "exchange/bucket.h"

namespace postino::exchange {

enum class Packing { none, gzip, zstd };

std::string gzip(std::string_view bytes);

// What was packed, part by part: no part is larger than a megabyte, however well it was packed. Fails with `corrupt`
// where it is not packed like that. `packed` must outlive it.
std::unique_ptr<ByteSource> unpacked(ByteSource& packed, Packing packing);

// MD5, as manifests have it: raw bytes.
std::string md5(std::string_view bytes);

}  // namespace postino::exchange
