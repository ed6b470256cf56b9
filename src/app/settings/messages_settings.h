// What can be configured about idempotency keys and messages: how long a key is kept, connections to brokers, and
// e-mails and answers of customers that arrive by queue.
#pragma once

#include <string>
#include <vector>

#include "app/settings/named_connection.h"
#include "base/clock.h"
#include "base/result.h"
#include "idempotency/guard.h"
#include "messages/queue_rights.h"

namespace postino::app {

struct MessagesSettings {
  std::string queues = "messages";         // the table of the queues in the store
  base::Milliseconds queue_lease{60'000};  // of a message that was received from one of them
  NamedConnections connections;
  std::string default_connection = "embedded";
  std::vector<std::string> allowed_hosts;  // of brokers that requests describe themselves
  std::vector<messages::QueueGrant> tenant_queues;
  std::string emails_connection;   // empty: the default one
  std::string emails_queue;        // empty: e-mails come by the API alone
  std::string emails_tenant;       // whose they are
  std::string answers_connection;  // of customers' answers to tickets, likewise
  std::string answers_queue;
  std::string answers_tenant;
};

// Rules that the value alone does not show, or that concern several settings.
base::Result<void> check(const idempotency::GuardOptions& keys);
base::Result<void> check(const MessagesSettings& settings);

}  // namespace postino::app
