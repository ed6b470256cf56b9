// The key that an operator keeps: it seals the keys that backups are written with, and nothing else.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::backup {

class MasterKey {
 public:
  // 64 hexadecimal digits; spaces and line ends around them do not count. Fails with the rule, and never shows the
  // text.
  static base::Result<MasterKey> parse(std::string_view text);

  // 32 bytes.
  const std::string& secret() const { return secret_; }
  // 16 hexadecimal digits, by which people and programs tell keys from each other. Says nothing about the key.
  const std::string& id() const { return id_; }

 private:
  explicit MasterKey(std::string secret);

  std::string secret_;
  std::string id_;
};

}  // namespace postino::backup
