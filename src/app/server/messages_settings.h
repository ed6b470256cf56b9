// What can be configured about messages: the records of their idempotency keys, connections to brokers, and e-mails
// that arrive by queue.
#pragma once

#include <string>
#include <vector>

#include "app/server/named_connection.h"
#include "base/clock.h"
#include "base/result.h"

namespace postino::app {

struct MessagesSettings {
  std::string table = "mq-probe-idempotency";
  base::Milliseconds record_life = std::chrono::hours(24);
  base::Milliseconds lease{30'000};  // of an execution whose process is not heard of
  std::string queues = "messages";   // the table of the queues in the store
  NamedConnections connections;
  std::string default_connection = "embedded";
  std::vector<std::string> allowed_hosts;  // of brokers that requests describe themselves
  std::string emails_connection;           // empty: the default one
  std::string emails_queue;                // empty: e-mails come by the API alone
  std::string emails_tenant;               // whose they are
};

// Rules that concern several settings.
base::Result<void> check(const MessagesSettings& settings);

}  // namespace postino::app
