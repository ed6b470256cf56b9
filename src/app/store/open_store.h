// The store that the settings name: in this process, or on other machines.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/settings/settings.h"
#include "base/plausible_clock.h"
#include "capacity/price_book.h"
#include "capacity/traffic_watch.h"
#include "signature/key_source.h"
#include "store/store.h"

namespace postino::app {

// Waits so long; false when the process is to end. Then nothing is waited for any more.
using StartPause = std::function<bool(std::chrono::milliseconds time)>;

class OpenStore {
 public:
  virtual ~OpenStore() = default;

  virtual store::Store& store() = 0;
  // That services live by. All who work on the store have about the same.
  virtual const std::shared_ptr<base::PlausibleClock>& clock() const = 0;
  // Sees what is read and written; nullptr without a watch.
  virtual std::shared_ptr<capacity::TrafficWatch> traffic() const { return nullptr; }
  // Was there none before?
  virtual bool is_new() const { return false; }
  // Tables that other programs may read, and not change. Fails when they cannot be found out.
  virtual base::Result<std::set<std::string>> read_only_tables() = 0;
  // The keys of one on other machines, for other services of the same account.
  virtual std::shared_ptr<signature::KeySource> keys() const { return nullptr; }
  // What is wrong with it at the moment, if anything. Answers at once.
  virtual std::optional<std::string> problem() const = 0;
  // What is wrong with its change streams: those who follow them wait, and everything else goes on. Answers at once.
  virtual std::vector<std::string> troubles() const { return {}; }
  virtual void append_metrics(std::string& out, const capacity::PriceBook& prices) const = 0;
  virtual std::string describe() const = 0;  // for people: "postino-data"
  // Makes a data directory of what the embedded one is at some moment since the call. One at a time.
  virtual base::Result<void> make_checkpoint(const std::filesystem::path& /*directory*/) {
    return base::invalid("the store is on other machines, which make its backups");
  }
  // No call waits for it beyond this moment.
  virtual void leave_at(std::chrono::steady_clock::time_point /*when*/) {}
};

// The embedded one, in which nothing of an e-mail expires before the e-mail is finished.
base::Result<std::unique_ptr<OpenStore>> open_embedded_store(const Settings& settings,
                                                             const base::Clock& machine_clock);
// One on other machines. Calls nothing yet, unless `pause` is given: then the store has answered before this returns,
// and has the tables that the services need. While it is away it is asked again, for a minute; exhausted after that.
// `machine_clock` must outlive it.
base::Result<std::unique_ptr<OpenStore>> open_remote_store(const Settings& settings, const base::Clock& machine_clock,
                                                           const StartPause& pause);

// Whichever the settings name.
base::Result<std::unique_ptr<OpenStore>> open_store(const Settings& settings, const base::Clock& machine_clock,
                                                    const StartPause& pause);

}  // namespace postino::app
