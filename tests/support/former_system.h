// What the programs of the former system do to the table, write by write and read by read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support_environment.h"

namespace postino::support {

class FormerSystem {
 public:
  explicit FormerSystem(SupportStore& store) : store_(store) {}

  // A ticket as its programs have it.
  static item::Map ticket(const std::string& id, const std::string& status, const std::string& created_at,
                          const std::string& customer = "cust_456");

  // Single-table design.
  void put_ticket(const item::Map& ticket);
  std::optional<item::Map> get_ticket(const std::string& id);
  std::vector<item::Map> query_tickets_by_customer(const std::string& customer, const std::string& status = "");
  std::vector<item::Map> query_tickets_by_status(const std::string& status);
  void put_feedback(const std::string& ticket_id, const item::Map& feedback);
  std::vector<item::Map> get_feedback_of_ticket(const std::string& id);
  std::vector<item::Map> query_feedback_by_operator(const std::string& operator_id);
  // Hierarchical data.
  void add_event(const std::string& ticket_id, const std::string& type, const item::Map& details);
  std::vector<item::Item> query_events_by_date_range(const std::string& ticket_id, const std::string& from,
                                                     const std::string& to);
  // Transactions. `data` is JSON there. True unless the key was there.
  bool create_ticket_transactional(const item::Map& ticket, const std::string& key);
  void update_ticket_status_with_event(const std::string& ticket_id, const std::string& new_status,
                                       const std::string& old_status);
  // Sparse index.
  void escalate_ticket(const std::string& ticket_id, const std::string& reason, const std::string& assigned_to);

  std::string now_text() const;  // Python's utcnow().isoformat(), with microseconds

 private:
  std::vector<item::Item> query(const std::string& index, const std::string& condition, item::Map values);

  SupportStore& store_;
};

}  // namespace postino::support
