#include "messages/queue_rights.h"

#include <algorithm>

#include "access/caller_scope.h"
#include "messages/queue_layout.h"

namespace postino::messages {

namespace {

bool fits(std::string_view pattern, std::string_view queue) {
  if (!pattern.ends_with('*')) return queue == pattern;
  return queue.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

Result<std::string> QueueRights::name_of_queue(const std::string& tenant, const Place& place,
                                               const std::string& queue) const {
  TRY(std::string name, allowed_name(tenant, place, queue));
  const bool is_stored = !place.queue_manager && is_embedded(connection_of(place.connection));
  if (is_stored && name.size() > longest_name_like(name)) {
    const std::size_t most = longest_name_like(name) - (name.size() - queue.size());  // the tenant is a part of it
    return refuse_field("target.queueName", "must have at most " + std::to_string(most) + " bytes in the store");
  }
  return name;
}

Result<std::string> QueueRights::allowed_name(const std::string& tenant, const Place& place,
                                              const std::string& queue) const {
  access::CallerScope::check(tenant);
  if (tenant.empty() || queue.empty()) return queue;
  TRY_VOID(check_place(tenant, place));
  if (place.queue_manager) return queue;
  const std::string& connection = connection_of(place.connection);
  if (is_granted(tenant, connection, queue)) return queue;
  if (is_embedded(connection)) return tenant + "/" + queue;
  return refuse(FaultKind::forbidden, "the queue is not one of the tenant's");
}

Result<void> QueueRights::check_place(const std::string& tenant, const Place& place) const {
  access::CallerScope::check(tenant);
  if (tenant.empty()) return {};
  if (place.queue_manager) {
    if (options_.tenants_describe_brokers) return {};
    return refuse(FaultKind::forbidden, "requests of a tenant must not describe a broker themselves");
  }
  const std::string& connection = connection_of(place.connection);
  const bool has_grant = std::ranges::any_of(options_.grants, [&](const QueueGrant& grant) {
    return grant.tenant == tenant && is_same_place(connection_of(grant.connection), connection);
  });
  if (has_grant || is_embedded(connection)) return {};
  return refuse(FaultKind::forbidden, "the connection has no queues of the tenant");
}

const std::string& QueueRights::connection_of(const std::string& name) const {
  return name.empty() ? options_.default_connection : name;
}

bool QueueRights::is_embedded(const std::string& connection) const {
  return connection == embedded_connection ||
         std::ranges::find(options_.embedded_connections, connection) != options_.embedded_connections.end();
}

bool QueueRights::is_same_place(const std::string& a, const std::string& b) const {
  return a == b || (is_embedded(a) && is_embedded(b));
}

// In the store, the queue of what was rejected belongs to the tenant that has the queue.
bool QueueRights::is_granted(const std::string& tenant, const std::string& connection, std::string_view queue) const {
  return std::ranges::any_of(options_.grants, [&](const QueueGrant& grant) {
    return grant.tenant == tenant && is_same_place(connection_of(grant.connection), connection) &&
           (fits(grant.queue, queue) || (is_embedded(connection) && dead_queue(grant.queue) == queue));
  });
}

}  // namespace postino::messages
