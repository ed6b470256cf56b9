// A table of tickets on a store of a test's own, what others write into it, and processes that count it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/embedded_store_testing.h"
#include "metrics/counter.h"
#include "metrics/dashboard.h"
#include "metrics/figures/figures_testing.h"
#include "metrics/figures/ticket_figures.h"
#include "metrics/follow/follower.h"
#include "metrics/follow/set_aside.h"

namespace postino::metrics {

inline constexpr base::TimePoint desk_start = engine::embedded_start;  // 2026-01-02T03:04:05Z
inline const std::string tickets_table = "prod-tickets-unified";
inline const std::string metrics_table = "prod-metrics";

// As the seed has it, but for the indexes. The stream has images, or there is none.
store::CreateTableRequest tickets_request(bool with_stream = true);
void create_desk(store::Store& store, bool with_stream = true);
void put_ticket(store::Store& store, item::Item item);
void remove_item(store::Store& store, const item::Item& item);
// One of many random changes: tickets are made, moved and removed, feedback and events come and go.
void change_something(store::Store& store, base::Random& random, base::TimePoint now, int tickets);

// What the table of metrics says of a source: figures and history by name, without what amounts to nothing.
std::map<std::string, std::string> stored_figures(store::Store& store, const std::string& source = "tickets");
// What it should say, from the items that there are.
std::map<std::string, std::string> true_figures(store::Store& store, const Source& source, base::TimePoint now);

// Neither batches nor followers wait.
FollowerOptions following_at_once(const std::string& owner);

class SupportDesk : public engine::EmbeddedStore {
 public:
  explicit SupportDesk(bool with_stream = true);

  base::ManualClock& time() { return *time_; }
  base::TimePoint now() const { return clock().now(); }
  // Time goes by, and the store does what it does meanwhile. In steps: it does not believe a clock that jumps.
  void pass(base::Milliseconds time);
  void put(item::Item item) { put_ticket(engine(), std::move(item)); }
  void remove(const item::Item& item) { remove_item(engine(), item); }
  std::int64_t count(const std::string& figure, const std::string& tenant = "");
  std::vector<SetAside> set_aside();
  Dashboard dashboard();
  // Of what the items say now.
  void expect_right();

 private:
  explicit SupportDesk(const std::shared_ptr<base::ManualClock>& time, bool with_stream);
  const std::shared_ptr<base::ManualClock> time_;
};

// What counts tickets in one process.
class CountingProcess {
 public:
  CountingProcess(SupportDesk& desk, store::Store& store, const std::string& owner, RecountOptions recount = {})
      : CountingProcess(desk, store, following_at_once(owner), recount) {}
  CountingProcess(SupportDesk& desk, const std::string& owner = "one") : CountingProcess(desk, desk.engine(), owner) {}
  CountingProcess(SupportDesk& desk, store::Store& store, FollowerOptions options, RecountOptions recount = {});

  // Until there is nothing left to be counted. How many batches there were.
  int count_all();

  Counter counter;
  Follower follower;
};

}  // namespace postino::metrics
