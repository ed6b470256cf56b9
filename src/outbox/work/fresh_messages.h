// Messages that were built a moment ago and are about to be sent: they need not be read again.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "outbox/ledger/message_memory.h"

namespace postino::outbox {

struct FreshMessage {
  std::string text;
  MessageRoom room = {};  // that it takes
};

// Safe to use from any thread. A message is put in only when a worker will come for it.
class FreshMessages {
 public:
  void put(const std::string& id, FreshMessage message) {
    const std::lock_guard lock(mutex_);
    messages_.insert_or_assign(id, std::move(message));
  }
  std::optional<FreshMessage> take(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = messages_.find(id);
    if (found == messages_.end()) return std::nullopt;
    FreshMessage message = std::move(found->second);
    messages_.erase(found);
    return message;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, FreshMessage> messages_;
};

}  // namespace postino::outbox
