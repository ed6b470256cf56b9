// Messages into a queue and out of it, by way of the REST API, in as many calls as it takes.
#pragma once

#include <string>

#include "app/client/message_batch.h"
#include "app/client/rest_client.h"
#include "app/console/console.h"
#include "base/clock.h"

namespace postino::app {

// What both ways share.
struct TransferOptions {
  std::string key;        // begins the idempotency keys of all calls
  bool json = false;      // print the server's answers as they are, one on each line
  bool is_given = false;  // the key is the user's, who is told what was done under it before
};

// Both return the status to end with, after they have said what there is to say. When an answer is lost, that is the
// key to repeat the command with.
int produce_messages(RestClient& client, const MessageList& list, const TransferOptions& options,
                     const Console& console);

struct Consumption {
  std::string connection;
  std::string queue;
  std::int64_t max_messages = 1;
  base::Milliseconds wait{0};
  bool acknowledge = true;
};
int consume_messages(RestClient& client, const Consumption& consumption, const TransferOptions& options,
                     const Console& console);

}  // namespace postino::app
