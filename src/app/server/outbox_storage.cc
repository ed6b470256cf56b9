#include "app/server/outbox_storage.h"

#include <mutex>

#include "app/store/bucket.h"
#include "base/log.h"
#include "outbox/ledger/directory_spool.h"
#include "outbox/ledger/object_spool.h"
#include "outbox/store_ledger/store_count_expiry.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_suppressions.h"
#include "outbox/store_ledger/store_tables.h"

namespace postino::app {

namespace {

class StoreStorage final : public OutboxStorage {
 public:
  explicit StoreStorage(const StorageContext& context) : OutboxStorage(context.policy), clock_(context.clock) {}
  ~StoreStorage() override { end_upkeep(); }

  base::Result<void> open(store::Store& store, const OutboxSettings& settings, const StorageContext& context) {
    const outbox::StoreTables tables{settings.table, !settings.no_status_index};
    store_ = &store;
    tables_ = tables;
    TRY_VOID(context.makes_tables ? prepare(context) : check_indexes());
    const store::Retry retry(context.random, [&pause = context.pause](base::Milliseconds delay) { pause.wait(delay); });
    TRY(auto spool, open_spool(settings, context));
    watch(clock_, context.past, false);
    outbox::StoreLedgerOptions options;
    options.memory = context.memory;
    options.foreign_writes = context.foreign_writes;
    // What is only read gets no larger number.
    options.shards = context.makes_tables ? settings.shards : outbox::least_shards;
    ledger_ = std::make_unique<outbox::StoreLedger>(store, tables, context.policy, context.clock, context.random, retry,
                                                    std::move(spool), options);
    TRY_VOID(agree_on_spool(settings, context));
    // What it is raised to waits when the store takes no writes: the rest works.
    if (const auto looked = ledger_->look_at_shards(); !looked)
      base::log_warning("outbox", "the number of shards could not be read, or raised: it is tried again",
                        {{"error", looked.error().message}});
    suppressions_ = std::make_unique<outbox::StoreSuppressions>(store, tables, retry);
    count_expiry_ = std::make_unique<outbox::StoreCountExpiry>(store, tables, context.clock);
    return {};
  }

  outbox::Ledger& ledger() override { return *ledger_; }
  const base::Clock& clock() const override { return clock_; }
  outbox::SuppressionList& suppressions() override { return *suppressions_; }
  std::string describe() const override { return "the store"; }
  std::vector<std::string> troubles() const override {
    if (!store_->is_shared()) return outbox::missing_indexes(*store_, tables_);
    const std::lock_guard lock(troubles_mutex_);
    return troubles_;
  }

 protected:
  void look_for_work_of_others() override {
    ledger_->look_again_at_shards();
    if (store_->is_shared()) look_at_indexes();
    if (clock_.monotonic() < next_look_) return;
    for (int page = 0; page < pages_of_a_look; ++page) {
      const auto more = ledger_->look_for_foreign(emails_of_a_page);
      if (!more) {
        base::log_warning("outbox", "e-mails of other programs could not be looked for",
                          {{"error", more.error().message}});
        next_look_ = clock_.monotonic() + pause_after_trouble;
      }
      if (!more || !*more) return;
    }
  }

  // E-mails expire in the store by themselves, and their counts here: a page at a time.
  void sweep_ledger() override {
    if (clock_.monotonic() < next_count_sweep_) return;
    const auto more = count_expiry_->run_once();
    if (more && *more) return;
    next_count_sweep_ = clock_.monotonic() + pause_between_count_sweeps;
    if (!more)
      base::log_warning("outbox", "expired counts of e-mails could not be removed", {{"error", more.error().message}});
  }

 private:
  base::Result<void> prepare(const StorageContext& context) {
    return outbox::prepare_tables(*store_, tables_, [&pause = context.pause] {
      pause.wait(while_indexes_are_filled);
      return true;
    });
  }
  base::Result<void> check_indexes() {
    const std::vector<std::string> missing = outbox::missing_indexes(*store_, tables_);
    if (missing.empty()) return {};
    return base::fail(base::ErrorCode::not_found, missing.front() + ": postino tables apply makes it");
  }

  // What troubles() tells of a store that is shared: it is on other machines, and may not answer at once.
  void look_at_indexes() {
    if (clock_.monotonic() < next_index_look_) return;
    next_index_look_ = clock_.monotonic() + pause_between_index_looks;
    std::vector<std::string> missing = outbox::missing_indexes(*store_, tables_);
    // The store notes which tables it lacks. Some, such as the list of suppressions, are rarely asked for anything.
    for (const store::TableSetup& setup : outbox::table_setups(tables_, true))
      static_cast<void>(store_->describe_table(setup.request.table_name));
    const std::lock_guard lock(troubles_mutex_);
    troubles_ = std::move(missing);
  }

  static constexpr base::Milliseconds while_indexes_are_filled{50};
  static constexpr base::Milliseconds pause_between_index_looks = std::chrono::minutes(1);
  static constexpr base::Milliseconds pause_after_trouble = std::chrono::minutes(1);
  static constexpr base::Milliseconds pause_between_count_sweeps = std::chrono::hours(1);
  static constexpr int pages_of_a_look = 10;
  static constexpr int emails_of_a_page = 100;

  base::Milliseconds next_look_{0};  // by the monotonic clock
  base::Milliseconds next_count_sweep_{0};
  base::Milliseconds next_index_look_{0};
  const base::Clock& clock_;
  mutable std::mutex troubles_mutex_;
  std::vector<std::string> troubles_;
  store::Store* store_ = nullptr;
  outbox::StoreTables tables_;
  std::unique_ptr<outbox::StoreLedger> ledger_;
  std::unique_ptr<outbox::StoreSuppressions> suppressions_;
  std::unique_ptr<outbox::StoreCountExpiry> count_expiry_;
};

}  // namespace

outbox::Policy outbox_policy(const OutboxSettings& settings) {
  outbox::Policy policy;
  policy.lease = settings.lease;
  policy.keep = settings.keep;
  policy.sending_delay = {settings.retry_first, settings.retry_longest};
  policy.max_attempts = settings.max_attempts;
  policy.max_rescues = settings.max_rescues;
  policy.give_up_after = settings.give_up_after;
  policy.unknown_outcome = settings.unknown_outcome;
  policy.callback_delay.first = settings.callback_retry_first;
  policy.max_callback_attempts = settings.callback_attempts;
  policy.default_callback_url = settings.callback_url;
  policy.private_callbacks = settings.callback_allow_private;
  return policy;
}

base::Result<std::unique_ptr<outbox::KeptSpool>> OutboxStorage::open_kept_spool(const OutboxSettings& settings,
                                                                                const StorageContext& context) {
  const auto place = bucket_of_spool(settings);
  if (!settings.spool_replaces.empty() && context.notes_spool)
    TRY_VOID(outbox::forget_noted_spool(context.data, settings.spool_replaces));
  if (!place) {
    TRY(auto directory, outbox::DirectorySpool::open(settings.spool, context.random));
    TRY_VOID(directory->be_noted_in(context.data));
    return std::unique_ptr<outbox::KeptSpool>(std::move(directory));
  }
  if (context.objects == nullptr) return base::invalid("--spool must be a directory here");
  // Each worker reads and writes, and none is answered late because another one waits.
  const objects::GateLimits gate{.places = 32, .wait = base::Milliseconds(2'000)};
  TRY(auto bucket,
      open_bucket(place->bucket, *context.objects,
                  {context.clock, context.random, context.pause, context.keys, context.shutdown_deadline, gate}));
  auto spool =
      std::make_unique<outbox::ObjectSpool>(std::move(bucket), place->prefix, context.policy.keep, context.random);
  if (context.notes_spool) TRY_VOID(spool->be_noted_in(context.data));
  is_spool_far_ = true;
  return std::unique_ptr<outbox::KeptSpool>(std::move(spool));
}

base::Result<std::unique_ptr<outbox::Spool>> OutboxStorage::open_spool(const OutboxSettings& settings,
                                                                       const StorageContext& context) {
  if (settings.spool.empty()) return std::unique_ptr<outbox::Spool>();
  TRY(auto spool, open_kept_spool(settings, context));
  spool_ = spool.get();
  return std::unique_ptr<outbox::Spool>(std::move(spool));
}

std::optional<std::string> OutboxStorage::why_not_use(const outbox::SpoolNote& noted) const {
  if (noted.id.empty() || noted.id == own_spool_.id) return std::nullopt;
  return "the servers that share these e-mails keep payloads and messages in the spool " + noted.place + " (id " +
         noted.id + "), and " +
         (own_spool_.id.empty() ? "this server has no --spool"
                                : "the spool of this server is " + own_spool_.place + " (id " + own_spool_.id + ")") +
         ": neither could read what the other has accepted";
}

base::Result<void> OutboxStorage::agree_on_spool(const OutboxSettings& settings, const StorageContext& context) {
  if (!ledger().is_shared()) return {};
  if (spool_ != nullptr) own_spool_ = {spool_->id(), spool_->place()};
  TRY(outbox::SpoolNote noted, ledger().noted_spool());
  const bool is_replaced = !settings.spool_replaces.empty() && noted.id == settings.spool_replaces;
  if (context.makes_tables && noted.id != own_spool_.id && (noted.id.empty() || is_replaced)) {
    const auto written = ledger().note_spool(own_spool_, settings.spool_replaces);
    if (!written && is_replaced) return written;
    // The first note is tried again when the store takes no writes now: the rest works.
    if (!written)
      base::log_warning("outbox", "which spool is used could not be noted", {{"error", written.error().message}});
    TRY(noted, ledger().noted_spool());
  }
  if (const auto why = why_not_use(noted))
    return base::invalid(*why +
                         ". Give all servers the same --spool. If the spool was moved or changed on purpose, "
                         "stop all servers, and start one with --spool-replaces " +
                         noted.id);
  is_spool_agreed_ = context.makes_tables;
  return {};
}

// A server that was started with another spool, on purpose, while this one was running.
void OutboxStorage::look_at_noted_spool() {
  if (!is_spool_agreed_ || clock().monotonic() < next_look_at_spool_) return;
  next_look_at_spool_ = clock().monotonic() + std::chrono::minutes(1);
  auto noted = ledger().noted_spool();
  if (!noted) return;  // who cannot read the ledger says so elsewhere
  if (noted->id.empty() && !own_spool_.id.empty()) {
    if (ledger().note_spool(own_spool_, "")) noted = ledger().noted_spool();
    if (!noted) return;
  }
  const auto why = why_not_use(*noted);
  if (why && other_spool_.fails(*why))
    base::log_error("outbox", "other servers use another spool", {{"error", *why}});
  else if (!why && other_spool_.works())
    base::log_info("outbox", "all servers use the same spool again");
}

std::optional<std::string> OutboxStorage::spool_problem() const {
  if (const auto other = other_spool_.cause()) return *other + ": start all with the same --spool";
  return spool_ == nullptr ? std::nullopt : spool_->problem();
}

void OutboxStorage::append_metrics(std::string& out) const {
  if (spool_ != nullptr) spool_->append_metrics(out);
}

void OutboxStorage::watch(const base::Clock& clock, std::optional<base::TimePoint> past, bool tells) {
  ages_ = std::make_unique<base::AgeWatch>(clock, tells ? "outbox" : "");
  if (past) ages_->begin(*past);
}

void OutboxStorage::tick() {
  if (is_spool_far_ && !upkeep_) upkeep_ = std::make_unique<SpoolUpkeep>(*spool_, ledger(), policy_, clock());
  if (spool_ != nullptr && !upkeep_) spool_->look_after_problem();
  look_for_work_of_others();
  look_at_noted_spool();
  ages_->look();
  if (!ages_->is_trusted() || !may_sweep()) return;
  if (const auto now = ages_->to_note()) {
    note_time(*now);
    ages_->noted();
  }
  if (upkeep_)
    upkeep_->allow_sweep();
  else if (spool_ != nullptr)
    sweep_directory();
  sweep_ledger();
}

void OutboxStorage::sweep_directory() {
  if (clock().monotonic() < next_sweep_) return;
  next_sweep_ = clock().monotonic() + std::chrono::hours(1);
  const base::TimePoint now = clock().now();
  const auto is_needed = [&](const std::string& id) { return outbox::is_needed(ledger(), id, policy_, now); };
  if (const auto removed = spool_->sweep_some(now, is_needed); !removed)
    base::log_warning("outbox", "expired files could not be removed from the spool",
                      {{"error", removed.error().message}});
}

base::Result<std::unique_ptr<OutboxStorage>> open_store_storage(store::Store& store, const OutboxSettings& settings,
                                                                const StorageContext& context) {
  auto storage = std::make_unique<StoreStorage>(context);
  TRY_VOID(storage->open(store, settings, context));
  return std::unique_ptr<OutboxStorage>(std::move(storage));
}

}  // namespace postino::app
