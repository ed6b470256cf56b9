// The counts that outboxes and queues keep in items of their own, beside what they count, in a store that no server
// uses. Their tables may have other names than the settings say: those of the settings are looked after, and all others
// in the store that have the form of such tables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/settings/settings.h"
#include "engine/store_check.h"
#include "messages/queue_count_check.h"
#include "outbox/store_ledger/store_count_check.h"
#include "store/store.h"

namespace postino::app {

struct ServiceTables {
  std::vector<std::string> outboxes;  // the tables of their e-mails
  std::vector<std::string> queues;

  // "e-mails of table email-outbox", "messages of table messages"
  std::vector<std::string> described() const;
};

// Compares counts with what is there. Gets the items of a store one by one and in any order.
class ServiceCounts {
 public:
  explicit ServiceCounts(const Settings& settings);

  engine::EachItem reader();

  // One line for each count that differs. Those of tables with other names than the usual ones begin with the name.
  std::vector<std::string> differences() const;
  // E-mails whose records cannot be read, with the reason.
  std::vector<std::string> unreadable() const;
  // What was compared.
  ServiceTables tables() const;

 private:
  struct Outbox {
    outbox::StoreCountCheck check;
    bool has_emails = false;
    bool has_counts = false;
  };
  struct Queues {
    messages::QueueCountCheck check;
    bool has_counts = false;
  };

  void add(const std::string& table, const item::Item& item);
  Outbox& outbox_of(const std::string& emails);
  // A table that only looks like one of an outbox has no counts beside it, or the other way round.
  bool counts(const std::string& emails, const Outbox& outbox) const;
  bool counts(const std::string& table, const Queues& queues) const;

  const std::string emails_table_;
  const std::string queues_table_;
  const base::TimePoint now_;
  const base::Milliseconds keep_;
  std::map<std::string, Outbox> outboxes_;  // by the table of their e-mails
  std::map<std::string, Queues> queues_;    // by table
};

// Makes the counts of all outboxes and queues in the store again. Answers whose.
base::Result<ServiceTables> count_anew(const Settings& settings, store::Store& store);

}  // namespace postino::app
