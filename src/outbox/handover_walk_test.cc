#include "outbox/handover_walk.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace postino::outbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What a service says of something that was not done.
struct HandoverRefusal {
  bool is_away = false;
  std::string message;
};
using Walk = HandoverWalk<HandoverRefusal>;

class HandoverWalkTest : public testing::Test {
 protected:
  // In partitions of "p0" and "p1".
  void add(const std::string& partition, const std::string& name) {
    records_.push_back({{"PK", partition}, {"SK", name}});
    std::ranges::sort(records_, {}, [](const item::Item& record) {
      return item::attribute_text(record, "PK") + item::attribute_text(record, "SK");
    });
  }
  void add_many(int count) {
    for (int i = 0; i < count; ++i) add("p1", "r" + std::to_string(10 + i));
  }

  // As many on a page as the limit says, and a key to go on from even behind the last one of a full page.
  Walk::Records read(const store::QueryRequest& request) const {
    const std::string partition = request.placeholders.values->find(":pk")->as<std::string>();
    const std::string after =
        request.exclusive_start_key ? item::attribute_text(*request.exclusive_start_key, "SK") : "";
    Walk::Records page;
    for (const item::Item& record : records_) {
      const std::string name = item::attribute_text(record, "SK");
      if (item::attribute_text(record, "PK") != partition || name <= after) continue;
      page.items.push_back(record);
      if (static_cast<int>(page.items.size()) < *request.limit) continue;
      page.next = item::Key{{"PK", partition}, {"SK", name}};
      break;
    }
    return page;
  }

  base::Result<int, HandoverRefusal> run(int limit = 100) {
    Walk::Steps steps;
    steps.table = "records";
    steps.partitions = {"p0", "p1"};
    steps.query = [this](const store::QueryRequest& request) -> Walk::Outcome<Walk::Records> {
      EXPECT_EQ(request.table_name, "records");
      return read(request);
    };
    steps.hand_over = [this](const item::Item& record) -> Walk::Outcome<void> {
      const std::string name = item::attribute_text(record, "SK");
      tried_.push_back(name);
      if (is_away_) return base::propagate(HandoverRefusal{true, "away"});
      if (refused_.contains(name)) return base::propagate(HandoverRefusal{false, "not this one"});
      std::erase(records_, record);
      return {};
    };
    steps.is_away = [](const HandoverRefusal& refusal) { return refusal.is_away; };
    steps.name_of = [](const item::Item& record) { return item::attribute_text(record, "SK"); };
    steps.tell = [this](const std::string& record, const HandoverRefusal& refusal) {
      told_.push_back(record + ": " + refusal.message);
    };
    tried_.clear();
    return walk_.run(steps, limit);
  }

  Walk walk_;
  std::vector<item::Item> records_;
  std::set<std::string> refused_;
  bool is_away_ = false;
  std::vector<std::string> tried_;
  std::vector<std::string> told_;
};

TEST_F(HandoverWalkTest, HandsOverWhatIsInAllPartitionsPageByPage) {
  EXPECT_EQ(run().value_or(-1), 0);
  EXPECT_TRUE(walk_.has_seen_all());
  add("p0", "a");
  add_many(5);
  EXPECT_EQ(run(2).value_or(-1), 2);
  EXPECT_FALSE(walk_.has_seen_all()) << "as many as the limit says, and more may be there";
  EXPECT_EQ(run(10).value_or(-1), 4);
  EXPECT_TRUE(walk_.has_seen_all());
  EXPECT_THAT(records_, IsEmpty());
}

TEST_F(HandoverWalkTest, OneThatIsRefusedKeepsNoOtherBackAndIsToldOfOnce) {
  add("p0", "a");
  add("p0", "b");
  add("p1", "c");
  refused_ = {"a"};
  EXPECT_EQ(run().value_or(-1), 2);
  EXPECT_FALSE(walk_.has_seen_all());
  const auto again = run();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "not this one");
  EXPECT_THAT(told_, ElementsAre("a: not this one"));
  refused_.clear();
  EXPECT_EQ(run().value_or(-1), 1);
  EXPECT_TRUE(walk_.has_seen_all());
}

TEST_F(HandoverWalkTest, GivesUpAfterAFewWhileTheOutboxIsAwayAndGoesOnBehindThem) {
  add_many(15);
  is_away_ = true;
  EXPECT_FALSE(run());
  EXPECT_EQ(tried_.size(), 10U);
  EXPECT_FALSE(run());
  EXPECT_THAT(tried_, ElementsAre("r20", "r21", "r22", "r23", "r24"));
  EXPECT_THAT(told_, IsEmpty()) << "it is about none of them";
  is_away_ = false;
  EXPECT_EQ(run().value_or(-1), 15);
  EXPECT_TRUE(walk_.has_seen_all());
}

}  // namespace
}  // namespace postino::outbox
