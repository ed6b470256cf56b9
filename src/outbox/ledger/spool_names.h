// Names of objects in spools outside the ledger: "2026/11/<id>-<distinction>.json". The distinction tells two writes of
// the same contents apart, has a sum of the contents, and in a bucket their size. Nothing is ever written twice under
// one name, and damage is found out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "outbox/ledger/spool.h"

namespace postino::outbox {

enum class SizeInName { left_out, told };
std::string new_spool_name(const SpoolObject& object, SizeInName size, base::Random& random);

// Other programs may keep contents in the same place, under names of their own: false for them.
bool is_spool_name(std::string_view path);
// That the name tells; nullopt when it does not.
std::optional<std::size_t> size_in_spool_name(std::string_view path);
// Does the name have another sum or size?
bool contradicts_spool_name(std::string_view path, std::string_view bytes);

}  // namespace postino::outbox
