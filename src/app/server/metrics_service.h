// Live metrics put together: what is counted from which tables, and who else gets the changes of tables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/server/message_gateway.h"
#include "app/settings/settings.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/this_thread.h"
#include "metrics/metrics.h"
#include "net/shutdown_deadline.h"
#include "store/store.h"

namespace postino::app {

class MetricsService {
 public:
  // Prepares the table of metrics; nothing is followed yet. Tables whose changes are counted may come later. The store,
  // the gateway and the clock must outlive it.
  static base::Result<std::unique_ptr<MetricsService>> create(store::Store& store, MessageGateway& gateway,
                                                              const Settings& settings, const base::Clock& clock);
  ~MetricsService();

  void start() { metrics_->start(); }
  // What is not counted or delivered yet is when the server runs again: no receiver is waited for.
  void stop();

  metrics::Metrics& metrics() { return *metrics_; }
  void append_metrics(std::string& out) { metrics_->append_to(out); }
  // What does not work now, and keeps nothing else from working: "the subscriber archive of table orders: ...".
  std::vector<std::string> troubles() const;

 private:
  MetricsService() = default;
  base::Result<void> add_subscribers(MessageGateway& gateway, const Settings& settings);

  base::SystemRandom random_;
  base::Pause pause_;
  const std::shared_ptr<net::ShutdownDeadline> shutdown_deadline_ =
      std::make_shared<net::ShutdownDeadline>();          // for receivers of webhooks
  std::vector<std::shared_ptr<broker::Broker>> brokers_;  // that subscribers use
  std::unique_ptr<metrics::Metrics> metrics_;
};

}  // namespace postino::app
