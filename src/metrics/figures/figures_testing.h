// Items as the services and the seed's programs write them.
#pragma once

#include <string>

#include "base/timestamp.h"
#include "item/value.h"

namespace postino::metrics {

inline constexpr base::TimePoint noon = base::TimePoint(std::chrono::seconds(1'767'355'200));  // 2026-01-02T12:00:00Z

// A ticket as it is in its table.
inline item::Item ticket_item(const std::string& id, const std::string& status, base::TimePoint created,
                              const std::string& tenant = "") {
  const std::string begin = tenant.empty() ? "" : "TENANT#" + tenant + "#";
  return {{"PK", begin + "TICKET#" + id},
          {"SK", "METADATA"},
          {"entity_type", "ticket"},
          {"ticket_id", id},
          {"status", status},
          {"created_at", base::format_timestamp(created)}};
}

inline item::Item ready_ticket(const std::string& id, base::TimePoint created, base::TimePoint completed,
                               const std::string& tenant = "") {
  item::Item item = ticket_item(id, "READY", created, tenant);
  item.set("completed_at", base::format_timestamp(completed));
  return item;
}

inline item::Item feedback_item(const std::string& ticket, base::TimePoint at, int rating) {
  return {{"PK", "TICKET#" + ticket}, {"SK", "FEEDBACK#" + base::format_timestamp(at)}, {"entity_type", "feedback"},
          {"operator_id", "op_1"},    {"submitted_at", base::format_timestamp(at)},     {"rating", rating}};
}

inline item::Item event_item(const std::string& ticket, base::TimePoint at, const std::string& number,
                             const std::string& new_status) {
  const std::string time = base::format_timestamp(at);
  return {{"PK", "TICKET#" + ticket},       {"SK", "EVENT#" + time.substr(0, 10) + "#" + number},
          {"entity_type", "event"},         {"timestamp", time},
          {"event_type", "status_changed"}, {"new_status", new_status}};
}

}  // namespace postino::metrics
