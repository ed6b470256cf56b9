// Figures and their history, as dashboards show them. Each is one read. Safe to call from any thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "metrics/figures/contribution.h"
#include "metrics/figures/figure_items.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::metrics {

// How a source's figures stand.
struct SourceState {
  std::string name;                      // "tickets"
  std::optional<base::TimePoint> as_of;  // when its checkpoint was last written; nothing: it was never counted
  std::string due;                       // why everything is counted again, and the figures may be wrong until then
};

// In place of a tenant's name: the company and all tenants together.
inline constexpr std::string_view everybody = "**";

struct Figures {
  std::map<std::string, Amount> by_name;  // "tickets_by_status#NEW"; every known one
  std::vector<SourceState> sources;
};

// What happened in a minute or an hour.
struct HistoryPoint {
  base::TimePoint begin;
  std::map<std::string, Amount> events;  // "tickets_created"
  friend bool operator==(const HistoryPoint&, const HistoryPoint&) = default;
};

// Figures that another module counts itself: by name, of a tenant as in Dashboard::read. It gives none where it does
// not know them.
using CountedElsewhere = std::function<base::Result<std::map<std::string, Amount>>(const std::string& tenant)>;

class Dashboard {
 public:
  // The store must outlive it.
  Dashboard(store::Store& store, std::string table, const std::vector<Source>& sources, store::Retry retry);

  // Of a tenant; empty: of the company itself; all_tenants: of all tenants together; everybody. In one read.
  base::Result<Figures> read(const std::string& tenant);

  // Before it is read: these figures belong to it, too.
  void add(CountedElsewhere counted) { elsewhere_.push_back(std::move(counted)); }

  // The names of what is counted: "tickets".
  std::vector<std::string> sources() const;

  // Where something happened, oldest first: from the slot that `from` lies in, up to but without `to`. invalid when
  // there is no such source, or the range is empty or longer than is kept.
  base::Result<std::vector<HistoryPoint>> history(const std::string& tenant, const std::string& source, Unit unit,
                                                  base::TimePoint from, base::TimePoint to);

 private:
  struct Known {
    std::string name;
    std::vector<std::string> figures;
  };

  base::Result<std::map<std::string, item::Item>> get(const std::vector<std::string>& names);

  store::Store& store_;
  const std::string table_;
  std::vector<Known> sources_;
  std::vector<CountedElsewhere> elsewhere_;
  const store::Retry retry_;
};

// Of hours: one point for each day, in UTC.
std::vector<HistoryPoint> by_day(const std::vector<HistoryPoint>& hours);

// {"tickets_by_status":{"NEW":3,...},"avg_resolution_time":{"count":2,"average":12.5},...,"sources":[...]}
std::string figures_json(const Figures& figures);
// [{"begin":"2026-11-17T23:07:00.000Z","tickets_created":{"count":2},...},...]
std::string history_json(const std::vector<HistoryPoint>& points);
// In Prometheus' text format.
void append_figures(std::string& out, const Figures& figures);

}  // namespace postino::metrics
