// Forgets client request tokens whose time is over.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/catalog/core.h"

namespace postino::engine {

// Used by one thread at a time.
class TokenSweeper {
 public:
  explicit TokenSweeper(Core& core) : core_(core) {}

  // One bounded round. True when there is more to do right away.
  store::Answer<bool> run_once();

 private:
  base::Result<std::shared_ptr<CommitEntry>> plan(std::span<const std::string> expiry_keys);

  Core& core_;
  // Where the last round ended. New entries lie in the future, so nothing is missed by not going back, and the keys
  // that were removed are not met again.
  std::string next_;
};

}  // namespace postino::engine
