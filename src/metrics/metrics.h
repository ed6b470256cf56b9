// Live metrics of the services, from the change streams of their tables (docs/metrics.md). All parts, made together.
//
// Any number of processes may run them on one store: for each table one counts, and the others stand by.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "metrics/counter.h"
#include "metrics/dashboard.h"
#include "metrics/figures/email_figures.h"
#include "metrics/figures/reminder_figures.h"
#include "metrics/figures/ticket_figures.h"
#include "metrics/follow/follower.h"
#include "metrics/follow/set_aside.h"
#include "metrics/live_figures.h"
#include "metrics/subscribers.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::metrics {

struct MetricsOptions {
  std::string table = "prod-metrics";
  std::vector<Source> sources;  // ticket_source() and so on
  FollowerOptions following;    // for all of them; the keeper's names and the table come from the source
  LiveOptions live;
  RecountOptions recount;
};

class Metrics {
 public:
  // Everything given must outlive it.
  Metrics(store::Store& store, MetricsOptions options, const base::Clock& clock, base::Random& random,
          store::Retry retry);
  ~Metrics();  // stop()

  base::Result<void> prepare();  // the table
  void start();
  void stop();

  Dashboard& dashboard() { return dashboard_; }
  LiveFigures& live() { return live_; }
  SetAsideList& set_aside() { return set_aside_; }
  // Those that are to be there are added before start().
  Subscribers& subscribers() { return subscribers_; }
  // nullptr: there is no such source.
  Follower* follower(const std::string& source);
  // Of all sources and subscribers.
  std::vector<const Follower*> followers() const;
  // All figures of a source are counted again, soon. False: there is no such source, or another process counts it.
  bool count_anew(const std::string& source);

  // What was set aside is tried once more, soon: a change is delivered to its subscriber; of a source everything is
  // counted again, and what still cannot be counted is set aside again. False: there is none of this id. invalid, with
  // the reason, when it cannot be tried.
  base::Result<bool> retry(const std::string& id);

  // In Prometheus' text format: the figures of the company and all tenants, and how the followers get on.
  void append_to(std::string& out);

 private:
  struct Counting {
    Counting(store::Store& store, const Source& source, const MetricsOptions& options, const base::Clock& clock,
             base::Random& random, const store::Retry& retry, LiveFigures& live);
    Counter counter;
    Follower follower;
  };

  store::Store& store_;
  const MetricsOptions options_;
  Dashboard dashboard_;
  LiveFigures live_;
  SetAsideList set_aside_;
  Subscribers subscribers_;
  std::vector<std::unique_ptr<Counting>> countings_;
};

}  // namespace postino::metrics
