// Records of e-mails that cannot be read: damaged, or written by a program that knows other rules. No worker claims
// them, and they hold no other e-mail back. Operators are shown them.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace postino::outbox {

struct MalformedRecord {
  std::string id;
  std::string error;
};

// Those that this process has met. Safe to use from any thread.
class MalformedRecords {
 public:
  // Says so in the log, once.
  void note(const std::string& id, const base::Error& error);
  // It can be read, perhaps again, or is gone.
  void forget(const std::string& id);

  std::vector<MalformedRecord> list() const;
  std::size_t count() const;

 private:
  static constexpr std::size_t most = 1'000;

  mutable std::mutex mutex_;
  std::map<std::string, std::string> errors_;  // by id
  std::atomic<bool> are_any_ = false;          // so that those who read what is well formed need no lock
};

}  // namespace postino::outbox
