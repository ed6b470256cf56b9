#include "app/server/outbox_storage.h"

#include "base/log.h"
#include "outbox/parts.h"

namespace postino::app {

namespace {

class StoreStorage final : public OutboxStorage {
 public:
  base::Result<void> open(store::Store& store, const OutboxSettings& settings, const StorageContext& context) {
    outbox::StoreTables tables;
    tables.emails = settings.table;
    TRY_VOID(outbox::prepare_tables(store, tables));
    const store::Retry retry(context.random, [&pause = context.pause](base::Milliseconds delay) { pause.wait(delay); });
    TRY(auto directory, open_directory(settings, context.random));
    ledger_ = std::make_unique<outbox::StoreLedger>(store, tables, context.policy, context.clock, context.random, retry,
                                                    std::move(directory));
    suppressions_ = std::make_unique<outbox::StoreSuppressions>(store, tables, retry);
    return {};
  }

  outbox::Ledger& ledger() override { return *ledger_; }
  outbox::SuppressionList& suppressions() override { return *suppressions_; }
  std::string describe() const override { return "the embedded store"; }

 private:
  std::unique_ptr<outbox::StoreLedger> ledger_;
  std::unique_ptr<outbox::StoreSuppressions> suppressions_;
};

}  // namespace

outbox::Policy outbox_policy(const OutboxSettings& settings) {
  outbox::Policy policy;
  policy.lease = settings.lease;
  policy.keep = settings.keep;
  policy.sending_delay = {settings.retry_first, settings.retry_longest};
  policy.max_attempts = settings.max_attempts;
  policy.give_up_after = settings.give_up_after;
  policy.unknown_outcome = settings.unknown_outcome;
  policy.callback_delay.first = settings.callback_retry_first;
  policy.max_callback_attempts = settings.callback_attempts;
  policy.default_callback_url = settings.callback_url;
  return policy;
}

base::Result<std::unique_ptr<outbox::Spool>> OutboxStorage::open_directory(const OutboxSettings& settings,
                                                                           base::Random& random) {
  if (settings.spool.empty()) return std::unique_ptr<outbox::Spool>();
  TRY(auto directory, outbox::DirectorySpool::open(settings.spool, random));
  directory_ = directory.get();
  return std::unique_ptr<outbox::Spool>(std::move(directory));
}

void OutboxStorage::tick(base::TimePoint now) {
  if (directory_ == nullptr || now < next_sweep_) return;
  next_sweep_ = now + std::chrono::hours(1);
  if (const auto removed = directory_->sweep(now); !removed)
    base::log_warning("outbox", "expired files could not be removed from the spool",
                      {{"error", removed.error().message}});
}

base::Result<std::unique_ptr<OutboxStorage>> open_store_storage(store::Store& store, const OutboxSettings& settings,
                                                                const StorageContext& context) {
  auto storage = std::make_unique<StoreStorage>();
  TRY_VOID(storage->open(store, settings, context));
  return std::unique_ptr<OutboxStorage>(std::move(storage));
}

}  // namespace postino::app
