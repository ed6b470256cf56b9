#include <filesystem>

#include "app/store/made_tables.h"
#include "app/store/open_store.h"
#include "app/store/service_tables.h"
#include "app/store/store_metrics.h"
#include "app/store/table_uses.h"
#include "base/log.h"
#include "remote/aws_credentials.h"
#include "remote/remote_store.h"
#include "store/table_plan.h"

namespace postino::app {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds start_patience{60};       // for a service that is away
constexpr std::chrono::milliseconds start_pause{1'000};  // between looks
constexpr std::chrono::hours table_patience{1};          // for tables and indexes that are being made

// The service's clock: all servers on one store live by it, whatever their own clocks say.
class StoreClock final : public base::Clock {
 public:
  StoreClock(const remote::RemoteStore& store, const base::Clock& own) : store_(store), own_(own) {}

  base::TimePoint now() const override { return store_.now_there(); }
  base::Milliseconds monotonic() const override { return own_.monotonic(); }

 private:
  const remote::RemoteStore& store_;
  const base::Clock& own_;
};

// In the order they are built; each may use those above it.
class SharedStore final : public OpenStore {
 public:
  explicit SharedStore(const base::Clock& machine_clock) : machine_clock_(machine_clock) {}

  base::Result<void> open(const Settings& settings) {
    const RemoteSettings& wanted = settings.remote;
    const std::string region = wanted.region.empty() ? settings.region : wanted.region;
    TRY(const RemoteEndpoints endpoints, endpoints_of(wanted));
    remote::CredentialOptions keys;
    keys.keys = {wanted.key_id, wanted.secret, ""};
    keys.profile = wanted.profile;
    keys.region = region;
    keys.shutdown_deadline = shutdown_deadline_;
    TRY(credentials_, remote::find_credentials(std::move(keys), machine_clock_, random_));
    remote::RemoteOptions options;
    options.endpoint = endpoints.data;
    options.streams_endpoint = endpoints.streams;
    options.region = region;
    options.credentials = credentials_;
    options.tls.certificate_file = wanted.ca;
    options.call_time = wanted.timeout;
    options.shutdown_deadline = shutdown_deadline_;
    if (!settings.outbox.off && !settings.capacity.no_watch)
      traffic_ = std::make_shared<capacity::TrafficWatch>(machine_clock_);
    options.traffic = traffic_;
    options.needed = needed_operations(settings);
    uses_ = table_uses(settings);
    TRY(store_, remote::RemoteStore::create(std::move(options), machine_clock_, random_));
    place_ = endpoints.data.text();
    audit_ = settings.outbox.off ? "" : audit_table(settings);
    store_clock_ = std::make_unique<StoreClock>(*store_, machine_clock_);
    clock_ = std::make_shared<base::PlausibleClock>(*store_clock_, "the store's clock");
    return {};
  }

  // A spool is noted in the data directory, which has nothing else then.
  static base::Result<void> make_directory(const Settings& settings) {
    std::error_code error;
    if (settings.outbox.off || settings.outbox.spool.empty() || std::filesystem::exists(settings.data, error))
      return {};
    if (!std::filesystem::create_directory(settings.data, error))
      return base::fail(base::ErrorCode::io, "--data: cannot make the directory " + settings.data.string());
    std::filesystem::permissions(settings.data, std::filesystem::perms::owner_all, error);
    return {};
  }

  // Some stores that speak the protocol do not have all of it. A transaction without actions is refused by all that
  // know transactions, and costs nothing.
  base::Result<void> check_transactions() {
    const auto answer = store_->transact_write_items({});
    if (answer || !answer.error().message.starts_with("UnknownOperationException")) return {};
    return base::fail(base::ErrorCode::invalid,
                      "it has no transactions (TransactWriteItems), and every service of Postino needs them: use "
                      "Amazon DynamoDB, another Postino, or a store or version that has them");
  }

  // Until the tables are there that services need. What they live by is the service's time, which is known then.
  base::Result<void> prepare(const Settings& settings, const StartPause& pause) {
    const std::vector<store::TableSetup> wanted = service_tables(settings);
    const auto patience = steady_clock::now() + start_patience;
    std::string told;
    while (true) {
      auto prepared = wanted.empty() ? base::Result<void>() : check_transactions();
      if (prepared) prepared = make_tables(settings, wanted, pause);
      if (prepared) break;
      const base::ErrorCode code = prepared.error().code;
      const bool is_away = code == base::ErrorCode::exhausted || code == base::ErrorCode::io;
      if (!is_away || steady_clock::now() >= patience)
        return base::fail(code, "the store at " + place_ + " cannot be used: " + prepared.error().message);
      if (told != prepared.error().message)
        base::log_warning("serve", "waits for the store", {{"store", place_}, {"cause", prepared.error().message}});
      told = prepared.error().message;
      if (!pause(start_pause)) return base::fail(base::ErrorCode::exhausted, "ended while it waited for the store");
    }
    clock_ = std::make_shared<base::PlausibleClock>(*store_clock_, "the store's clock");
    return {};
  }

  store::Store& store() override { return *store_; }
  const std::shared_ptr<base::PlausibleClock>& clock() const override { return clock_; }
  // Others may have a thousand tables there, which are none of our business.
  base::Result<std::set<std::string>> read_only_tables() override {
    return audit_.empty() ? std::set<std::string>() : std::set<std::string>{audit_};
  }
  std::shared_ptr<signature::KeySource> keys() const override { return credentials_; }
  std::shared_ptr<capacity::TrafficWatch> traffic() const override { return traffic_; }
  std::optional<std::string> problem() const override {
    std::string all;
    for (const std::string& each : store_->problems()) all.append(all.empty() ? "" : "; ").append(each);
    return all.empty() ? std::nullopt : std::optional(std::move(all));
  }
  std::vector<std::string> troubles() const override { return store_->stream_problems(); }
  void append_metrics(std::string& out, const capacity::PriceBook& prices) const override {
    append_remote_metrics(out, store_->counts(), uses_, prices);
  }
  std::string describe() const override { return place_ + " with the " + credentials_->describe(); }
  void leave_at(steady_clock::time_point when) override { shutdown_deadline_->begin_at(when); }

 private:
  base::Result<void> make_tables(const Settings& settings, const std::vector<store::TableSetup>& wanted,
                                 const StartPause& pause) {
    if (wanted.empty()) return {};
    const store::Retry retry(random_, [&pause](base::Milliseconds delay) { pause(delay); });
    const MadeTables made(*store_, settings, retry);
    TRY(const std::vector<std::string> lost, made.find_lost(wanted));
    if (!lost.empty()) return base::invalid(text_of_lost(lost));
    const auto patience = steady_clock::now() + table_patience;
    store::TableApplication application;
    application.wait = [&] { return steady_clock::now() < patience && pause(start_pause); };
    application.tell = [](const store::TableChange& change) { base::log_info("serve", change.text()); };
    TRY_VOID(store::apply_tables(*store_, made.first(), application));
    TRY_VOID(made.note({}));
    TRY(const store::TablePlan done, store::apply_tables(*store_, wanted, application));
    for (const std::string& note : done.notes) base::log_warning("serve", note);
    TRY_VOID(made.note(wanted));
    return {};
  }

  const base::Clock& machine_clock_;
  base::SystemRandom random_;
  const std::shared_ptr<net::ShutdownDeadline> shutdown_deadline_ = std::make_shared<net::ShutdownDeadline>();
  std::shared_ptr<remote::Credentials> credentials_;
  std::shared_ptr<capacity::TrafficWatch> traffic_;  // may be null
  std::unique_ptr<remote::RemoteStore> store_;
  std::string place_;
  std::string audit_;
  std::map<std::string, TableUse, std::less<>> uses_;
  std::unique_ptr<StoreClock> store_clock_;
  std::shared_ptr<base::PlausibleClock> clock_;
};

}  // namespace

base::Result<std::unique_ptr<OpenStore>> open_remote_store(const Settings& settings, const base::Clock& machine_clock,
                                                           const StartPause& pause) {
  auto opened = std::make_unique<SharedStore>(machine_clock);
  TRY_VOID(opened->open(settings));
  if (pause) TRY_VOID(SharedStore::make_directory(settings));
  if (pause) TRY_VOID(opened->prepare(settings, pause));
  return opened;
}

}  // namespace postino::app
