// Compressed requests and answers: gzip and deflate, as zlib has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::wire {

enum class Coding { gzip, deflate };

std::string_view coding_name(Coding coding);
// Names are not case-sensitive; nullopt for codings that are not known here.
std::optional<Coding> find_coding(std::string_view name);

// Of the header Accept-Encoding: the coding with the highest weight, of equal ones the first. nullopt: none is
// accepted.
std::optional<Coding> accepted_coding(std::string_view header);

std::string compress(std::string_view text, Coding coding);

// A text may be compressed in several parts, one after the other. Fails with ErrorCode::exhausted when it would be
// larger than the limit, and with ErrorCode::malformed when it is not compressed, not all of it, or empty.
base::Result<std::string> decompress(std::string_view compressed, Coding coding, std::size_t limit);

}  // namespace postino::wire
