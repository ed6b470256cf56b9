#include "metrics/figures/tally.h"

#include <gmock/gmock.h>

#include "metrics/figures/figures_testing.h"
#include "metrics/figures/key_fingerprints.h"
#include "metrics/figures/ticket_figures.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

store::StreamRecord change(std::optional<item::Item> before, std::optional<item::Item> after) {
  store::StreamRecord record;
  const item::Item& any = after ? *after : *before;
  record.keys = {{"PK", *any.find("PK")}, {"SK", *any.find("SK")}};
  record.view_type = store::StreamViewType::new_and_old_images;
  record.type = !before ? store::ChangeType::insert : after ? store::ChangeType::modify : store::ChangeType::remove;
  record.old_image = std::move(before);
  record.new_image = std::move(after);
  return record;
}

class TallyTest : public ::testing::Test {
 protected:
  base::Result<void> add(const store::StreamRecord& record) { return tally_change(source_, record, noon, tally_); }
  std::int64_t count(const std::string& name, const std::string& tenant = "") const {
    const auto found = tally_.figures().find({tenant, name});
    return found != tally_.figures().end() ? found->second.count : 0;
  }

  const Source source_ = ticket_source("tickets");
  Tally tally_;
};

TEST_F(TallyTest, CountsInsertsMovesAndRemovals) {
  const item::Item fresh = ticket_item("t", "NEW", noon);
  const item::Item moved = ticket_item("t", "PROCESSING", noon);
  ASSERT_TRUE(add(change(std::nullopt, fresh)));
  EXPECT_EQ(count("tickets_by_status#NEW"), 1);
  ASSERT_TRUE(add(change(fresh, moved)));
  EXPECT_EQ(count("tickets_by_status#NEW"), 0);
  EXPECT_EQ(count("tickets_by_status#PROCESSING"), 1);
  EXPECT_THAT(tally_.figures(), SizeIs(1)) << "what amounts to nothing is not in it";
  ASSERT_TRUE(add(change(moved, std::nullopt)));
  EXPECT_TRUE(tally_.empty());
  EXPECT_EQ(tally_.slots(), 0U);
}

TEST_F(TallyTest, CountsATenantAndAllOfThem) {
  ASSERT_TRUE(add(change(std::nullopt, ticket_item("t", "NEW", noon, "acme"))));
  ASSERT_TRUE(add(change(std::nullopt, ticket_item("u", "NEW", noon, "bell"))));
  EXPECT_EQ(count("tickets_by_status#NEW", "acme"), 1);
  EXPECT_EQ(count("tickets_by_status#NEW", "bell"), 1);
  EXPECT_EQ(count("tickets_by_status#NEW", "*"), 2);
  EXPECT_EQ(count("tickets_by_status#NEW"), 0) << "the company itself has none";
}

TEST_F(TallyTest, KeepsTheHistoryOfWhatHasExpired) {
  store::StreamRecord expired = change(ticket_item("t", "NEW", noon), std::nullopt);
  ASSERT_TRUE(add(change(std::nullopt, ticket_item("t", "NEW", noon))));
  expired.by_time_to_live = true;
  ASSERT_TRUE(add(expired));
  EXPECT_TRUE(tally_.figures().empty());
  EXPECT_THAT(tally_.history(), SizeIs(2));
}

TEST_F(TallyTest, HasNoHistoryOfLongAgoOrTheFarFuture) {
  const std::vector<std::pair<base::TimePoint, std::size_t>> expected = {
      {noon, 2},       {noon - 23h, 2}, {noon - 26h, 1}, {noon - 24h * 90, 1}, {noon - 24h * 92, 0},
      {noon + 23h, 2}, {noon + 25h, 0}};
  for (const auto& [time, items] : expected) {
    Tally tally;
    ASSERT_TRUE(tally_change(source_, change(std::nullopt, ticket_item("t", "NEW", time)), noon, tally));
    EXPECT_THAT(tally.history(), SizeIs(items)) << base::format_timestamp(time);
    EXPECT_THAT(tally.figures(), SizeIs(1));
  }
}

TEST_F(TallyTest, WhatCannotBeReadCountsAsNothing) {
  item::Item wrong = ticket_item("t", "NEW", noon);
  wrong.set("status", 1);
  EXPECT_FALSE(add(change(std::nullopt, wrong)));
  EXPECT_TRUE(tally_.empty());
  ASSERT_TRUE(add(change(wrong, ticket_item("t", "NEW", noon)))) << "it was told of when it came";
  EXPECT_EQ(count("tickets_by_status#NEW"), 1);
  EXPECT_FALSE(add(change(ticket_item("t", "NEW", noon), wrong)));
  EXPECT_TRUE(tally_.empty()) << "as if all were counted again";
}

TEST_F(TallyTest, NeedsBothImages) {
  store::StreamRecord record = change(std::nullopt, ticket_item("t", "NEW", noon));
  record.view_type = store::StreamViewType::new_image;
  const auto counted = add(record);
  ASSERT_FALSE(counted);
  EXPECT_THAT(counted.error().message, HasSubstr("must have new and old images"));
}

TEST_F(TallyTest, TakesBackWhatItAdded) {
  Tally other;
  ASSERT_TRUE(tally_change(source_, change(std::nullopt, ready_ticket("t", noon - 1h, noon, "acme")), noon, other));
  ASSERT_TRUE(add(change(std::nullopt, ticket_item("u", "NEW", noon))));
  const std::size_t items = tally_.items(), slots = tally_.slots();
  tally_.add(other);
  EXPECT_GT(tally_.items(), items);
  tally_.subtract(other);
  EXPECT_EQ(tally_.items(), items);
  EXPECT_EQ(tally_.slots(), slots);
}

// Persisted names: programs of others read them.
TEST_F(TallyTest, ItsItemsHaveTheirNames) {
  ASSERT_TRUE(add(change(std::nullopt, ready_ticket("t", noon + 7min, noon + 8min + 500ms))));
  ASSERT_TRUE(add(change(std::nullopt, feedback_item("t", noon, 4))));
  std::vector<item::Item> items = tally_items("tickets", tally_);
  ASSERT_THAT(items, SizeIs(5));
  EXPECT_EQ(items[0], (item::Item{{"metric_name", "avg_resolution_time"},
                                  {"source", "tickets"},
                                  {"count_value", 1},
                                  {"total_time", item::Number::parse("60.5").value()}}));
  EXPECT_EQ(
      items[1],
      (item::Item{
          {"metric_name", "customer_satisfaction"}, {"source", "tickets"}, {"count_value", 1}, {"total_ratings", 4}}));
  EXPECT_EQ(items[2],
            (item::Item{{"metric_name", "tickets_by_status#READY"}, {"source", "tickets"}, {"count_value", 1}}));
  EXPECT_EQ(items[3], (item::Item{{"metric_name", "history#tickets#minutes#2026-01-02T12"},
                                  {"source", "tickets"},
                                  {"ttl", base::epoch_seconds(noon + 25h)},
                                  {"00 feedback", 1},
                                  {"00 feedback total", 4},
                                  {"07 tickets_created", 1},
                                  {"08 tickets_resolved", 1},
                                  {"08 tickets_resolved total", item::Number::parse("60.5").value()}}));
  EXPECT_EQ(items[4].find("metric_name")->as<std::string>(), "history#tickets#hours#2026-01-02");
  EXPECT_EQ(items[4].find("12 tickets_created")->as<item::Number>(), item::Number(1));
}

TEST(KeyFingerprintsTest, KnowsWhatItHasMet) {
  KeyFingerprints met;
  EXPECT_FALSE(met.contains(fingerprint_of({{"PK", "0"}})));
  constexpr int many = 10'000;
  for (int i = 0; i < many; ++i) EXPECT_TRUE(met.insert(fingerprint_of({{"PK", std::to_string(i)}})));
  for (int i = 0; i < many; ++i) EXPECT_FALSE(met.insert(fingerprint_of({{"PK", std::to_string(i)}})));
  EXPECT_EQ(met.size(), many);
  EXPECT_FALSE(met.contains(fingerprint_of({{"PK", "none"}})));
  met.clear();
  EXPECT_FALSE(met.contains(fingerprint_of({{"PK", "0"}})));
  EXPECT_EQ(met.size(), 0U);
}

}  // namespace
}  // namespace postino::metrics
