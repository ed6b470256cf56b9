// Messages to be produced, and the calls of the API that do it: a million of them do not fit into one.
#pragma once

#include <string>
#include <vector>

namespace postino::app {

struct MessageList {
  std::string connection;  // empty: the server's default one
  std::string queue;
  std::string reply_to;
  std::vector<std::string> messages;  // each as JSON; at least one
  std::size_t total = 0;              // they are repeated in turn until there are so many
  std::string settings;               // further members of the request's settings, as JSON: "batchSize":50
};

// A call for some of the messages.
struct MessageBatch {
  std::size_t first = 0;
  std::size_t count = 0;
  std::string body;
  std::string key;
};

// The batch that begins at `first`, which must be where another ended, under a key of its own that begins with `key`.
// How the messages are divided depends on the list alone, so that the same list under the same key is produced once.
MessageBatch batch_at(const MessageList& list, std::size_t first, const std::string& key);

}  // namespace postino::app
