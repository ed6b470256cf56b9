// Passwords are kept as argon2id hashes in the text form that other tools make and read, too:
// "$argon2id$v=19$m=19456,t=2,p=1$...". A hash has its salt and its cost in it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::access {

inline constexpr std::size_t shortest_password = 8;
// Longer ones say no more, and cost time to be hashed.
inline constexpr std::size_t longest_password = 1'024;
// What one hash of ours needs while it is made.
inline constexpr std::size_t password_memory = std::size_t{19} << 20;

// Fails with the rule that a new password breaks, and when there is no memory for the hash.
base::Result<std::string> hash_password(std::string_view password);

// Is the text such a hash, and one that this machine can be asked to compute? Fails with the rule.
base::Result<void> check_password_hash(std::string_view text);

// Takes as long for a wrong password as for the right one. False also when there is no memory for it.
bool is_password(std::string_view password, const std::string& hash);

// As long as is_password(), for a user who does not exist: the time must not tell.
void compare_with_none(std::string_view password);

}  // namespace postino::access
