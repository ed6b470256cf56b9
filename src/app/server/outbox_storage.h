// Where an outbox keeps its e-mails: a ledger with its spool, and the suppression lists, as the settings have them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/server/spool_upkeep.h"
#include "app/settings/outbox_settings.h"
#include "app/settings/ticket_settings.h"
#include "base/clock.h"
#include "base/plausible_clock.h"
#include "base/random.h"
#include "base/this_thread.h"
#include "net/shutdown_deadline.h"
#include "net/trouble.h"
#include "outbox/email/policy.h"
#include "outbox/ledger/kept_spool.h"
#include "outbox/ledger/ledger.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/ledger/suppressions.h"
#include "outbox/store_ledger/foreign_writes.h"
#include "signature/key_source.h"
#include "store/store.h"

namespace postino::app {

// The rules for e-mails.
outbox::Policy outbox_policy(const OutboxSettings& settings);

// Everything in it must outlive the storage.
struct StorageContext {
  const outbox::Policy& policy;
  const base::Clock& clock;
  std::optional<base::TimePoint> past;  // that the clock was told of
  base::Random& random;
  base::Pause& pause;                       // between attempts at something that is busy
  const std::filesystem::path& data;        // the data directory
  outbox::MessageMemory* memory = nullptr;  // for contents that the ledger reads; nullptr: without limit
  // Writes to the table of e-mails in the store, if it is watched.
  std::shared_ptr<outbox::ForeignWriteLog> foreign_writes = nullptr;
  // For a spool in a bucket: how it is reached, and keys where the settings have none, if there are any.
  const ObjectSettings* objects = nullptr;
  std::shared_ptr<signature::KeySource> keys = nullptr;
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline = nullptr;
  // Otherwise the tables of a store must be there, with all indexes: not_found.
  bool makes_tables = true;
  // A spool in a bucket is written down in the data directory, so that the wrong bucket is noticed.
  bool notes_spool = true;
};

class OutboxStorage {
 public:
  virtual ~OutboxStorage() = default;

  virtual outbox::Ledger& ledger() = 0;
  virtual outbox::SuppressionList& suppressions() = 0;
  // That e-mails live by: their leases, schedules and expiry. All who work on the ledger have the same.
  virtual const base::Clock& clock() const = 0;
  // The ledger keeps payloads and messages itself: they cost no commit of their own.
  bool keeps_contents() const { return spool_ == nullptr; }

  // Work that comes with the time; to be called every second or so, by one thread. What is too old is removed, unless
  // the clock may be wrong.
  void tick();
  // What is away then is not asked again: it is time to end.
  virtual void give_up_at(std::chrono::steady_clock::time_point /*when*/) {}
  // What is wrong with the ledger at the moment, if anything. Answers at once.
  virtual std::optional<std::string> problem() const { return std::nullopt; }
  // What is wrong and does not keep it from working as a whole. Answers at once.
  virtual std::vector<std::string> troubles() const { return {}; }
  // And with the directory or bucket of payloads and messages, when there is one.
  std::optional<std::string> spool_problem() const;
  virtual void append_metrics(std::string& out) const;
  virtual std::string describe() const = 0;  // for people

 protected:
  explicit OutboxStorage(const outbox::Policy& policy) : policy_(policy) {}
  // The directory or bucket of the settings, for the ledger; null when there is none.
  base::Result<std::unique_ptr<outbox::Spool>> open_spool(const OutboxSettings& settings,
                                                          const StorageContext& context);
  // Before the ledger ends.
  void end_upkeep() { upkeep_.reset(); }
  // All who share the ledger must have the same spool: invalid when others have another one. The ledger must be there.
  base::Result<void> agree_on_spool(const OutboxSettings& settings, const StorageContext& context);
  // Before the first tick: the clock whose time may be wrong, and the time that a process before this one has reached.
  // `tells`: says in the log when nothing expires because of it. The store says so of its own clock.
  void watch(const base::Clock& clock, std::optional<base::TimePoint> past, bool tells);
  // Takes over what other programs have written while no server was running. Nothing is removed, so no clock is asked.
  virtual void look_for_work_of_others() {}
  // Removes what is too old from the ledger, where it does not do so by itself.
  virtual void sweep_ledger() {}
  // Is there another reason to doubt the age of things?
  virtual bool may_sweep() const { return true; }
  // Writes down for the next process what time it is, where the clock has no other record.
  virtual void note_time(base::TimePoint /*now*/) {}

 private:
  base::Result<std::unique_ptr<outbox::KeptSpool>> open_kept_spool(const OutboxSettings& settings,
                                                                   const StorageContext& context);
  void sweep_directory();
  // Have others replaced it?
  void look_at_noted_spool();
  // Why it must not be used; nullopt when it may.
  std::optional<std::string> why_not_use(const outbox::SpoolNote& noted) const;

  const outbox::Policy& policy_;
  outbox::KeptSpool* spool_ = nullptr;  // the ledger's, when it has one
  bool is_spool_far_ = false;           // in a bucket
  bool is_spool_agreed_ = false;        // with the others, where there may be others
  outbox::SpoolNote own_spool_;
  net::LastingTrouble other_spool_;           // that others have noted meanwhile
  base::Milliseconds next_look_at_spool_{0};  // by the monotonic clock
  std::unique_ptr<SpoolUpkeep> upkeep_;       // of one in a bucket, from the first tick on
  std::unique_ptr<base::AgeWatch> ages_;
  base::Milliseconds next_sweep_{0};  // by the monotonic clock
};

// On a store with DynamoDB's model; creates the tables that are missing. The store must outlive it.
base::Result<std::unique_ptr<OutboxStorage>> open_store_storage(store::Store& store, const OutboxSettings& settings,
                                                                const StorageContext& context);

}  // namespace postino::app
