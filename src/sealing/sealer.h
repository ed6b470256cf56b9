// Keeps secrets where others can read: sealed by AES-256-GCM with a key that is elsewhere.
//
//   const std::string sealed = sealer.seal(secret, about);
//   TRY(const std::string secret, sealer.open(sealed, about));
//
// `about` is what the secret belongs to. It is not kept, but must be the same when it is opened: a secret that was
// moved to another place does not open there.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "sealing/aes_gcm.h"

namespace postino::sealing {

// Of a key, without giving it away: 16 hexadecimal digits.
std::string name_of_key(std::string_view key);

// Safe to use from any thread, if the random numbers are.
class Sealer {
 public:
  // One key at least, each of 32 bytes: the first one seals, and all of them open. So a key is replaced by putting
  // another one in front of it. `random` must outlive it.
  Sealer(const std::vector<std::string>& keys, base::Random& random);

  std::string seal(std::string_view text, std::string_view about) const;
  // not_found when it was sealed with another key, with its name; corrupt when it is not what was sealed, or not about
  // this.
  base::Result<std::string> open(std::string_view sealed, std::string_view about) const;

  const std::string& key_name() const { return name_; }  // of the one that seals

 private:
  std::string name_;
  std::map<std::string, std::string, std::less<>> keys_;  // by the first 8 bytes of a digest of each
  std::string first_;
  base::Random& random_;
};

}  // namespace postino::sealing
