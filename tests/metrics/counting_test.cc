// Figures from changes: each kind of them, tenants, history, and what the seed's programs read.
#include "metrics/follow/checkpoint.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(CountingTest, CountsInsertsMovesAndRemovals) {
  SupportDesk desk;
  CountingProcess process(desk);
  process.count_all();
  desk.put(ticket_item("a", "NEW", desk.now()));
  desk.put(ticket_item("b", "NEW", desk.now()));
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 2) << "inserts count, too";
  desk.put(ticket_item("a", "PROCESSING", desk.now()));
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 1);
  EXPECT_EQ(desk.count("tickets_by_status#PROCESSING"), 1);
  desk.put(ready_ticket("a", desk.now() - 100s, desk.now()));
  desk.put(feedback_item("a", desk.now(), 5));
  desk.put(feedback_item("b", desk.now(), 2));
  desk.remove(ticket_item("b", "", desk.now()));
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 0);
  EXPECT_EQ(desk.count("tickets_by_status#READY"), 1);
  EXPECT_EQ(desk.count("customer_satisfaction"), 2);
  desk.expect_right();
  EXPECT_EQ(process.follower.counts().begun, 1U);
}

// What DashboardMetrics and StreamProcessor of the seed know: names, attributes and types.
TEST(CountingTest, TheSeedsProgramsCanReadIt) {
  SupportDesk desk;
  CountingProcess process(desk);
  process.count_all();
  desk.put(ready_ticket("a", desk.now() - 90s, desk.now()));
  desk.put(ready_ticket("b", desk.now() - 500ms, desk.now()));
  desk.put(feedback_item("a", desk.now(), 5));
  process.count_all();
  std::map<std::string, item::Item> items;
  for (const item::Item& item : desk.scan(metrics_table)) items[item.find("metric_name")->as<std::string>()] = item;
  for (const char* status : {"NEW", "PROCESSING", "READY", "FAILED", "ESCALATED"})
    EXPECT_TRUE(items.contains(std::string("tickets_by_status#") + status)) << "from the beginning";
  EXPECT_EQ(*items["tickets_by_status#READY"].find("count_value"), item::AttributeValue(2));
  EXPECT_EQ(*items["tickets_by_status#NEW"].find("count_value"), item::AttributeValue(0));
  EXPECT_EQ(*items["avg_resolution_time"].find("count_value"), item::AttributeValue(2));
  EXPECT_EQ(items["avg_resolution_time"].find("total_time")->as<item::Number>().to_string(), "90.5");
  EXPECT_EQ(*items["customer_satisfaction"].find("total_ratings"), item::AttributeValue(5));
  EXPECT_EQ(*items["customer_satisfaction"].find("count_value"), item::AttributeValue(1));
}

TEST(CountingTest, TenantsAreApart) {
  SupportDesk desk;
  CountingProcess process(desk);
  desk.put(ticket_item("a", "NEW", desk.now()));
  desk.put(ticket_item("a", "NEW", desk.now(), "acme"));
  process.count_all();
  desk.put(ticket_item("b", "NEW", desk.now(), "acme"));
  desk.put(ticket_item("c", "NEW", desk.now(), "bell"));
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 1);
  EXPECT_EQ(desk.count("tickets_by_status#NEW", "acme"), 2);
  EXPECT_EQ(desk.count("tickets_by_status#NEW", "bell"), 1);
  Dashboard dashboard = desk.dashboard();
  EXPECT_EQ(dashboard.read("acme")->by_name["tickets_by_status#NEW"].count, 2);
  EXPECT_EQ(dashboard.read("none")->by_name["tickets_by_status#NEW"].count, 0);
  EXPECT_EQ(dashboard.read(std::string(everybody))->by_name["tickets_by_status#NEW"].count, 4);
  desk.expect_right();
}

// A tenant for each change: more items than one commit takes.
TEST(CountingTest, OneBatchMayNeedSeveralCommits) {
  SupportDesk desk;
  CountingProcess process(desk);
  process.count_all();
  for (int i = 0; i < 100; ++i)
    desk.put(ready_ticket("t", desk.now() - std::chrono::minutes(i), desk.now(), "tenant" + std::to_string(i)));
  EXPECT_EQ(process.count_all(), 1);
  EXPECT_EQ(desk.count("tickets_by_status#READY", "*"), 100);
  desk.expect_right();
}

// Different minutes for each change: more attributes than one update takes.
TEST(CountingTest, OneUpdateMayBecomeTooLong) {
  SupportDesk desk;
  CountingProcess process(desk);
  process.count_all();
  for (int i = 0; i < 100; ++i) {
    item::Item ticket = ready_ticket("t" + std::to_string(i), desk.now() - std::chrono::minutes(i % 60),
                                     desk.now() - std::chrono::minutes((i + 7) % 60));
    desk.put(std::move(ticket));
    desk.put(feedback_item("t", desk.now() - std::chrono::minutes(i % 60) - std::chrono::seconds(i), 3));
  }
  process.count_all();
  EXPECT_EQ(process.follower.counts().set_aside, 0U);
  desk.expect_right();
}

TEST(CountingTest, ChangesWithinATableThatConcernNobodyMoveTheCheckpoint) {
  SupportDesk desk;
  CountingProcess process(desk);
  process.count_all();
  desk.put({{"PK", "SESSION#s"}, {"SK", "METADATA"}});
  EXPECT_EQ(process.count_all(), 1);
  EXPECT_EQ(process.count_all(), 0);
  CountingProcess next(desk, "one");
  EXPECT_EQ(next.count_all(), 0) << "it goes on behind it";
}

TEST(CountingTest, HistoryIsByMinuteAndHour) {
  SupportDesk desk;  // 03:04:05
  CountingProcess process(desk);
  process.count_all();
  desk.put(ticket_item("a", "NEW", desk.now()));
  desk.put(ticket_item("b", "NEW", desk.now() + 20s));
  desk.put(ready_ticket("c", desk.now() - 3h, desk.now() + 60s));
  process.count_all();
  Dashboard dashboard = desk.dashboard();
  const auto minutes = dashboard.history("", "tickets", Unit::minutes, desk.now() - 1h, desk.now() + 1h);
  ASSERT_TRUE(minutes);
  const auto at = [](std::chrono::minutes minute) { return span_begin(Unit::hours, desk_start) + minute; };
  EXPECT_THAT(*minutes, ElementsAre(HistoryPoint{at(3h + 4min), {{"tickets_created", {.count = 2}}}},
                                    HistoryPoint{at(3h + 5min),
                                                 {{"tickets_resolved", {.count = 1, .thousandths = 10'860'000}}}}));
  const auto hours = dashboard.history("", "tickets", Unit::hours, desk.now() - 24h, desk.now() + 1h);
  ASSERT_TRUE(hours);
  EXPECT_THAT(*hours, ElementsAre(HistoryPoint{at(0min), {{"tickets_created", {.count = 1}}}},
                                  HistoryPoint{at(3h),
                                               {{"tickets_created", {.count = 2}},
                                                {"tickets_resolved", {.count = 1, .thousandths = 10'860'000}}}}));
  const auto days = by_day(*hours);
  ASSERT_THAT(days, SizeIs(1));
  EXPECT_EQ(days[0].begin, at(0min));
  EXPECT_EQ(days[0].events.at("tickets_created").count, 3);
  EXPECT_THAT(history_json(*hours), HasSubstr(R"({"begin":"2026-01-02T00:00:00.000Z","tickets_created":{"count":1}})"));
}

TEST(CountingTest, HistoryHasLimits) {
  SupportDesk desk;
  Dashboard dashboard = desk.dashboard();
  const auto message = [&](const std::string& source, Unit unit, base::Milliseconds from, base::Milliseconds to) {
    const auto answer = dashboard.history("", source, unit, desk.now() - from, desk.now() - to);
    return answer ? "" : answer.error().message;
  };
  EXPECT_EQ(message("tickets", Unit::minutes, 24h, 0h), "");
  EXPECT_EQ(message("tickets", Unit::hours, 24h * 90, 0h), "");
  EXPECT_EQ(message("tickets", Unit::minutes, 26h, 0h), "minutes are kept for a day");
  EXPECT_EQ(message("tickets", Unit::hours, 24h * 92, 0h), "hours are kept for 90 days");
  EXPECT_EQ(message("tickets", Unit::hours, 0h, 1h), "from must be before to");
  EXPECT_EQ(message("weather", Unit::hours, 1h, 0h), "source must be one that is counted");
}

TEST(CountingTest, HistoryExpires) {
  SupportDesk desk;
  CountingProcess process(desk);
  desk.put(ticket_item("a", "NEW", desk.now()));
  process.count_all();
  const auto names = [&] {
    std::vector<std::string> found;
    for (const item::Item& item : desk.scan(metrics_table))
      if (const std::string name = item.find("metric_name")->as<std::string>(); name.starts_with("history#"))
        found.push_back(name);
    return found;
  };
  EXPECT_THAT(names(), SizeIs(2));
  desk.pass(26h);
  EXPECT_THAT(names(), ElementsAre("history#tickets#hours#2026-01-02"));
}

TEST(CountingTest, ATableWithoutAStreamGetsOne) {
  SupportDesk desk(false);
  desk.put(ticket_item("a", "NEW", desk.now()));
  CountingProcess process(desk);
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 1) << "it was there before the stream";
  desk.put(ticket_item("b", "NEW", desk.now()));
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 2);
}

TEST(CountingTest, AStreamWithoutImagesIsNoUse) {
  SupportDesk desk(false);
  store::UpdateTableRequest update;
  update.table_name = tickets_table;
  update.stream = store::StreamSpecification{.enabled = true, .view_type = store::StreamViewType::keys_only};
  ASSERT_TRUE(desk.engine().update_table(update));
  CountingProcess process(desk);
  EXPECT_EQ(process.follower.run_once(), Follower::Round::failed);
  EXPECT_EQ(process.follower.run_once(), Follower::Round::failed) << "until somebody changes it";
}

TEST(CountingTest, FiguresAreTextForPrograms) {
  SupportDesk desk;
  CountingProcess process(desk);
  desk.put(ready_ticket("a", desk.now() - 3s, desk.now()));
  desk.put(ready_ticket("b", desk.now() - 4s, desk.now()));
  Dashboard dashboard = desk.dashboard();
  EXPECT_THAT(figures_json(*dashboard.read("")), HasSubstr(R"("counted_anew_because":"nothing was counted yet")"));
  process.count_all();
  EXPECT_EQ(figures_json(*dashboard.read("")),
            R"({"avg_resolution_time":{"count":2,"total":7,"average":3.5},)"
            R"("customer_satisfaction":{"count":0,"total":0,"average":0},)"
            R"("tickets_by_status":{"ESCALATED":0,"FAILED":0,"NEW":0,"OTHER":0,"PROCESSING":0,"READY":2},)"
            R"("sources":[{"name":"tickets","as_of":"2026-01-02T03:04:05.000Z"}]})");
  std::string prometheus;
  append_figures(prometheus, *dashboard.read(std::string(everybody)));
  EXPECT_THAT(prometheus, HasSubstr("postino_avg_resolution_time_sum 7\n"));
  EXPECT_THAT(prometheus, HasSubstr("# TYPE postino_tickets_by_status gauge\n"));
  EXPECT_THAT(prometheus, HasSubstr("postino_tickets_by_status{kind=\"READY\"} 2\n"));
}

}  // namespace
}  // namespace postino::metrics
