#include "app/store/engine_options.h"
#include "app/store/open_store.h"
#include "app/store/store_metrics.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/store_repair.h"
#include "outbox/store_ledger/store_expiry.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/table_setup.h"

namespace postino::app {

namespace {

class EmbeddedStore final : public OpenStore {
 public:
  explicit EmbeddedStore(const base::Clock& machine_clock)
      : clock_(std::make_shared<base::PlausibleClock>(machine_clock)) {}

  base::Result<void> open(const Settings& settings) {
    directory_ = settings.data;
    // Only the REST API tells what was seen.
    if (!settings.outbox.off && !settings.capacity.no_watch)
      traffic_ = std::make_shared<capacity::TrafficWatch>(*clock_);
    engine::Options options = engine_options(settings);
    options.clock = clock_;
    options.traffic = traffic_;
    options.expiry_needs_guard = true;
    TRY(engine_, engine::Engine::open(std::move(options)));
    if (engine::is_recount_due(settings.data))
      base::log_warning("store",
                        "a repair is not finished, and the counts of e-mails and messages may be wrong: stop the "
                        "server and run 'postino repair' again");
    const outbox::StoreTables tables{settings.outbox.table};
    auto expiry = std::make_shared<outbox::StoreExpiry>(*engine_, tables, *clock_);
    engine_->guard_expiry([expiry, clock = clock_](const std::string& table, const item::Item& item) {
      return expiry->may_expire(table, item);
    });
    return {};
  }

  store::Store& store() override { return *engine_; }
  const std::shared_ptr<base::PlausibleClock>& clock() const override { return clock_; }
  std::shared_ptr<capacity::TrafficWatch> traffic() const override { return traffic_; }
  bool is_new() const override { return engine_->is_new(); }
  // Also tables that have another name than the settings have now.
  base::Result<std::set<std::string>> read_only_tables() override { return store::read_only_tables(*engine_); }

  std::optional<std::string> problem() const override {
    const engine::WriteHealth health = engine_->write_health();
    if (health.refusal == engine::WriteRefusal::none) return std::nullopt;
    return "writes are refused: " + health.reason;
  }
  void append_metrics(std::string& out, const capacity::PriceBook& /*prices*/) const override {
    append_store_metrics(out, engine_->write_health(), engine_->write_counts());
  }
  std::string describe() const override { return directory_.string(); }
  base::Result<void> make_checkpoint(const std::filesystem::path& directory) override {
    return engine_->make_checkpoint(directory);
  }

 private:
  const std::shared_ptr<base::PlausibleClock> clock_;
  std::filesystem::path directory_;
  std::shared_ptr<capacity::TrafficWatch> traffic_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace

base::Result<std::unique_ptr<OpenStore>> open_embedded_store(const Settings& settings,
                                                             const base::Clock& machine_clock) {
  auto opened = std::make_unique<EmbeddedStore>(machine_clock);
  TRY_VOID(opened->open(settings));
  return opened;
}

base::Result<std::unique_ptr<OpenStore>> open_store(const Settings& settings, const base::Clock& machine_clock,
                                                    const StartPause& pause) {
  if (settings.store == StoreKind::dynamodb) return open_remote_store(settings, machine_clock, pause);
  return open_embedded_store(settings, machine_clock);
}

}  // namespace postino::app
