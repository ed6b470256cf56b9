// What all services of this module share: the table, time, retries, and the parts of a commit that many need.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "net/trouble.h"
#include "reminders/actor.h"
#include "reminders/record/guard.h"
#include "reminders/record/keys.h"
#include "reminders/record/objection.h"
#include "reminders/record/rule.h"
#include "reminders/refusal.h"
#include "store/retry.h"
#include "store/shard_note.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::reminders {

inline constexpr std::size_t most_let_expire = 25;  // records of others, by one look at a customer or one page

struct ReminderTables {
  std::string tracking = "EmailTrackingTable";
  std::string audit() const { return tracking + "-audit"; }
  int shards = 1;                // of the partitions STATUS#...
  std::string currency = "USD";  // of amounts that other programs wrote without one
  // The audit is marked as one that other programs may not change: only for a store whose server keeps to that, and
  // where this process does not come to it as such a program itself.
  bool marks_audit = true;
};

// The tables, as they are made unless they are there.
std::vector<store::TableSetup> table_setups(const ReminderTables& tables);

// How often something did not work that is tried again later, for operators. The log tells of each.
struct ReminderTroubles {
  std::atomic<std::int64_t> handovers = 0;   // of an approved reminder to the outbox
  std::atomic<std::int64_t> deliveries = 0;  // what became of one could not be found out or written down
  std::atomic<std::int64_t> recalls = 0;     // of one whose customer is stopped, or may be
  std::atomic<std::int64_t> erasures = 0;    // of a customer
};

// A commit in the making. Each service adds its items; audit events and counts of the day come with them.
class Commit {
 public:
  Commit(const ReminderTables& tables, base::TimePoint now) : tables_(tables), now_(now) {}

  // Answers the place of the action, to know it again in the reasons of a cancelled transaction.
  std::size_t put(item::Item item, std::optional<std::string> condition = std::nullopt,
                  expr::Placeholders placeholders = {});
  std::size_t add(store::TransactAction action);
  // Nothing is written unless this holds for the item.
  std::size_t check(item::Key key, std::string condition, expr::Placeholders placeholders = {});
  // Of the day: one attribute of the summary for each name. Names with a colon are parts of another count:
  // "sent:first".
  void count(const Keys& keys, std::string_view name, std::string_view spread, std::int64_t by = 1);
  void audit(const Actor& actor, std::string action, std::string subject,
             const std::map<std::string, std::string>& details, base::Random& random);
  // In the customer's profile, which must be there.
  std::size_t count_reminder(const Keys& keys, std::string_view customer_id);
  // The same for one that no longer counts. `counted`: so many were counted so far. It never gets below zero: one that
  // was sent before the profile was made is not in it.
  std::size_t uncount_reminder(const Keys& keys, std::string_view customer_id, std::int64_t counted);
  // The guard had this version, and gets the next one. A guard of version 0 must not be there.
  std::size_t move_guard(const Keys& keys, std::string_view customer_id, const Guard& seen, const Guard& next);

  const ReminderTables& tables() const { return tables_; }
  base::TimePoint now() const { return now_; }
  std::size_t size() const { return actions_.size(); }  // without the counts
  // With the counts, which are gathered until now. To be called once.
  std::vector<store::TransactAction> take_actions();

 private:
  struct DayCount {
    std::string pk;
    std::string sk;
    std::string name;
    std::int64_t by = 0;
  };
  const ReminderTables tables_;
  const base::TimePoint now_;
  std::vector<store::TransactAction> actions_;
  std::vector<DayCount> counts_;
};

class ReminderStore {
 public:
  ReminderStore(store::Store& store, ReminderTables tables, Rules rules, const base::Clock& clock, base::Random& random,
                store::Retry retry);

  // Makes the tables unless they are there: on-demand, GSI1, TTL, point-in-time recovery.
  base::Result<void> prepare();

  Keys keys(const std::string& tenant) const { return Keys(tenant, tables_.shards, shards_.most()); }
  // Other processes may have begun to write to more shards; to be called now and then, by one thread.
  void look_at_shards() { shards_.look_again(clock_); }
  const ReminderTables& tables() const { return tables_; }
  const Rules& rules() const { return rules_; }
  const base::Clock& clock() const { return clock_; }
  base::Random& random() { return random_; }
  store::Store& store() { return store_; }
  ReminderTroubles& troubles() { return troubles_; }

  // Consistent.
  OrRefusal<std::optional<item::Item>> get(const std::string& pk, const std::string& sk);
  // What the customer has said against reminders, whatever other programs have made of its record. Consistent.
  OrRefusal<Objection> objection(const Keys& keys, const std::string& customer_id);
  // All items of a partition whose sort keys begin with this, in all pages; at most `most`: then exhausted.
  OrRefusal<std::vector<item::Item>> get_all(const std::string& pk, const std::string& sk_begin, std::size_t most);
  // One page of a query, and the key to go on from.
  struct QueryPage {
    std::vector<item::Item> items;
    std::optional<item::Key> next;
  };
  OrRefusal<QueryPage> query(store::QueryRequest request);

  // The first second from this one on whose key is free: `begin`, the second, and `_suffix`. Of a partition that many
  // write to at this moment it may be taken by the time that the caller writes.
  OrRefusal<base::TimePoint> free_second(const std::string& pk, std::string_view begin, const std::string& suffix,
                                         base::TimePoint from);

  Commit begin() const { return Commit(tables_, clock_.now()); }
  // A draft or sent reminder of another program expires as ours do. Nothing is done for other items, and for those that
  // have a time to expire.
  void let_expire(const item::Item& item);
  // Goes on through the table, so that records that no caller reads are met, too: at most so many items, and after the
  // last one a pause. To be called by one thread.
  OrRefusal<void> let_some_expire(int limit);

  // Writes it. With a condition that failed: busy; `failed`, if given, is set to the places of these.
  OrRefusal<void> write(Commit commit, std::vector<std::size_t>* failed = nullptr);
  // Another program may have put something else in the place of a count of the day. It is taken away: true if the
  // transaction may succeed now.
  bool mend_counts(const std::vector<store::TransactAction>& actions, const store::Error& error);

  // The guard of a customer, with what other programs have sent since, also what they wrote late, and without what no
  // longer counts: consistent. A caller that decides on more than the guard reads it first: whatever changes the rest
  // afterwards gives it another version.
  OrRefusal<Guard> guard(const Keys& keys, const std::string& customer_id);
  // The same for opting out, paying and erasure, which must also work when another program has damaged the guard. Then
  // the guard is made again from what was sent, and the audit notes it.
  OrRefusal<Guard> mended_guard(const Keys& keys, const std::string& customer_id, const Actor& actor);
  // The same to be shown: nothing is written.
  OrRefusal<Guard> shown_guard(const Keys& keys, const std::string& customer_id);
  // The guard when this sent reminder no longer counts: the one of its type before it does so again.
  OrRefusal<Guard> guard_without(const Keys& keys, const std::string& customer_id, Guard guard,
                                 const std::string& record);

 private:
  struct SentRead {
    std::size_t count = 0;
    bool dropped = false;        // one that the guard rested on no longer counts, and was taken out of it
    std::set<std::string> held;  // ids of those that the guard rests on, or did while it was read
  };
  OrRefusal<std::optional<item::Item>> get_from(const std::string& table, item::Key key);
  // The time from which sent records may be unknown to a guard or may still change.
  std::string unsure_from(const Guard& guard) const;
  // Adds sent reminders from this id on, but for one.
  OrRefusal<SentRead> add_sent(const Keys& keys, const std::string& customer_id, const std::string& from,
                               const std::string& without, Guard& guard);

  // What a guard would be that is made now.
  OrRefusal<Guard> guard_of_history(const Keys& keys, const std::string& customer_id);
  // Takes out those that are gone or no longer count, but for those that were read. True if there were any.
  OrRefusal<bool> drop_gone(const Keys& keys, const std::string& customer_id, const std::set<std::string>& read,
                            Guard& guard);
  store::Store& store_;
  const ReminderTables tables_;
  std::optional<item::Key> expiry_position_;
  base::TimePoint next_expiry_{};
  net::LastingTrouble expiry_trouble_;
  const Rules rules_;
  const base::Clock& clock_;
  base::Random& random_;
  const store::Retry retry_;
  store::ShardNote shards_;  // lists ask for all that were ever written
  ReminderTroubles troubles_;
};

// An error of the store, as this module tells it: of a write, and of a read, which leaves nothing unknown.
Refusal refusal_of(const store::Error& error);
Refusal refusal_of_read(const store::Error& error);
// Of a record that cannot be read.
Refusal refusal_of(const base::Error& error);

// The condition that an item, perhaps one that cannot be read, is there and has these attributes as they were seen.
std::string same_attributes(const item::Item& seen, std::span<const std::string> names,
                            expr::Placeholders& placeholders);

// Which actions of a cancelled transaction did not meet their conditions.
std::vector<std::size_t> failed_conditions(const store::Error& error);

}  // namespace postino::reminders
