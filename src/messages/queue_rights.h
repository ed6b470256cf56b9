// Which queues a tenant may use, and what they are called where they are. Callers without a tenant may use all.
//
// A tenant has queues of its own in the store: its "orders" is the queue "TENANT/orders" for everybody else. Other
// queues in the store, and those of brokers, are given to it by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "messages/connections.h"
#include "messages/fault.h"
#include "messages/request.h"

namespace postino::messages {

// Queues that a tenant may use under their own names.
struct QueueGrant {
  std::string tenant;
  std::string connection;  // empty: the default one
  std::string queue;       // all that begin so when it ends with "*"

  friend bool operator==(const QueueGrant&, const QueueGrant&) = default;
};

struct QueueRightsOptions {
  std::vector<QueueGrant> grants;
  std::string default_connection{embedded_connection};
  std::vector<std::string>
      embedded_connections;               // names of the queues in the store, which are the same for all of them
  bool tenants_describe_brokers = false;  // may the requests of tenants describe brokers themselves?
};

// Safe to use from any thread.
class QueueRights {
 public:
  QueueRights() = default;
  explicit QueueRights(QueueRightsOptions options) : options_(std::move(options)) {}

  // The queue's name where it is; forbidden when it is not the tenant's, invalid when it is too long for the store. An
  // empty tenant is none.
  Result<std::string> name_of_queue(const std::string& tenant, const Place& place, const std::string& queue) const;
  // forbidden when the tenant may use none of its queues.
  Result<void> check_place(const std::string& tenant, const Place& place) const;

 private:
  Result<std::string> allowed_name(const std::string& tenant, const Place& place, const std::string& queue) const;
  const std::string& connection_of(const std::string& name) const;
  bool is_embedded(const std::string& connection) const;
  bool is_same_place(const std::string& a, const std::string& b) const;
  bool is_granted(const std::string& tenant, const std::string& connection, std::string_view queue) const;

  QueueRightsOptions options_;
};

}  // namespace postino::messages
