#include "app/server/outbox_storage.h"

#include "base/log.h"
#include "outbox/parts.h"

namespace postino::app {

namespace {

class StoreStorage final : public OutboxStorage {
 public:
  base::Result<void> open(store::Store& store, const OutboxSettings& settings, const StorageContext& context) {
    outbox::StoreLedgerOptions options;
    options.tables.emails = settings.table;
    options.keep = settings.keep;
    options.key_lease = settings.lease;
    options.unknown_from_claim = settings.unknown_outcome == outbox::UnknownOutcomePolicy::resend;
    TRY_VOID(outbox::prepare_tables(store, options.tables));
    const outbox::Patience patience(context.random,
                                    [&pause = context.pause](base::Milliseconds delay) { pause.wait(delay); });
    TRY(const bool directory, use_directory(settings, context.random));
    if (!directory)
      use_spool(std::make_unique<outbox::StoreSpool>(store, options.tables.spool(), context.random, patience));
    ledger_ = std::make_unique<outbox::StoreLedger>(store, spool(), context.clock, context.random, patience,
                                                    std::move(options));
    return {};
  }

  outbox::Ledger& ledger() override { return *ledger_; }
  std::string describe() const override { return "the embedded store"; }

 private:
  std::unique_ptr<outbox::StoreLedger> ledger_;
};

}  // namespace

base::Result<bool> OutboxStorage::use_directory(const OutboxSettings& settings, base::Random& random) {
  if (settings.spool.empty()) return false;
  TRY(auto directory, outbox::DirectorySpool::open(settings.spool, random));
  directory_ = directory.get();
  spool_ = std::move(directory);
  return true;
}

void OutboxStorage::tick(base::TimePoint now) {
  if (directory_ == nullptr || now < next_sweep_) return;
  next_sweep_ = now + std::chrono::hours(1);
  if (const auto removed = directory_->sweep(now); !removed)
    base::log_warning("outbox", "the spool could not be swept", {{"error", removed.error().message}});
}

base::Result<std::unique_ptr<OutboxStorage>> open_store_storage(store::Store& store, const OutboxSettings& settings,
                                                                const StorageContext& context) {
  auto storage = std::make_unique<StoreStorage>();
  TRY_VOID(storage->open(store, settings, context));
  return std::unique_ptr<OutboxStorage>(std::move(storage));
}

}  // namespace postino::app
