// Messages to be produced, and the calls of the API that do it: a million of them do not fit into one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/client/operation_call.h"

namespace postino::app {

struct MessageList {
  std::string connection;  // empty: the server's default one
  std::string queue;
  std::string reply_to;
  std::vector<std::string> messages;  // each as JSON; at least one
  std::size_t total = 0;              // they are repeated in turn until there are so many
  // Further fields of the request with their JSON: {"settings.batchSize", "50"}.
  std::vector<std::pair<std::string, std::string>> settings;
};

// A call for some of the messages.
struct MessageBatch {
  std::size_t count = 0;  // of messages that it produces
  std::string key;
  OperationCall call;
};

// The batch that begins at `first`, which must be where another ended, under a key of its own that begins with `key`.
// How the messages are divided depends on the list alone, so that the same list under the same key is produced once.
MessageBatch batch_at(const MessageList& list, std::size_t first, const std::string& key);

}  // namespace postino::app
