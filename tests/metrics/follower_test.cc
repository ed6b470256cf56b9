// How changes are gathered, halved, retried and set aside, whatever is done with them.
#include <set>

#include "item/size.h"
#include "net/logged_lines_testing.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Counts, but not every change.
class FussyCounter final : public ChangeHandler {
 public:
  explicit FussyCounter(SupportDesk& desk)
      : counter_(desk.engine(), ticket_source(tickets_table), desk.clock(), desk.retry()) {}

  Outcome<std::uint64_t> begin(const Beginning& beginning, store::ChangeFeed& feed, CheckpointKeeper& keeper) override {
    return counter_.begin(beginning, feed, keeper);
  }
  Outcome<void> handle(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper) override {
    sizes.push_back(records.size());
    for (const store::StreamRecord& record : records) {
      const std::string pk = record.keys.find("PK")->as<std::string>();
      if (poisonous.contains(pk)) return trouble(Trouble::record, "it is poison");
    }
    if (is_unwell) return trouble(Trouble::temporary, "not now");
    return counter_.handle(records, keeper);
  }
  Outcome<void> set_aside(const store::StreamRecord& record, const std::string& reason,
                          CheckpointKeeper& keeper) override {
    return counter_.set_aside(record, reason, keeper);
  }

  std::set<std::string> poisonous;
  bool is_unwell = false;
  std::vector<std::size_t> sizes;  // of batches

 private:
  Counter counter_;
};

class FollowerTest : public ::testing::Test {
 protected:
  FollowerTest() { EXPECT_EQ(follower_.run_once(), Follower::Round::waiting); }

  void put(int count, int from = 0) {
    for (int i = from; i < from + count; ++i) desk_.put(ticket_item("t" + std::to_string(i), "NEW", desk_.now()));
  }

  SupportDesk desk_;
  FussyCounter handler_{desk_};
  Follower follower_{desk_.engine(), following_at_once("one"), handler_, desk_.clock(), desk_.random(), desk_.retry()};
};

TEST_F(FollowerTest, HandlesAHundredAtATime) {
  put(250);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  EXPECT_EQ(follower_.run_once(), Follower::Round::waiting);
  EXPECT_THAT(handler_.sizes, ElementsAre(100, 100, 50));
  EXPECT_EQ(follower_.counts().records, 250U);
  EXPECT_EQ(follower_.counts().batches, 3U);
}

TEST_F(FollowerTest, LargeChangesMakeSmallBatches) {
  FollowerOptions options = following_at_once("one");
  options.batch_bytes = 500'000;
  options.keeper.follower = "other";
  Follower follower(desk_.engine(), options, handler_, desk_.clock(), desk_.random(), desk_.retry());
  EXPECT_EQ(follower.run_once(), Follower::Round::waiting);
  for (int i = 0; i < 4; ++i) {
    item::Item ticket = ticket_item("t" + std::to_string(i), "NEW", desk_.now());
    ticket.set("symptom_text", std::string(390'000, 'x'));
    desk_.put(std::move(ticket));
  }
  handler_.sizes.clear();
  while (follower.run_once() == Follower::Round::handled) {
  }
  EXPECT_THAT(handler_.sizes, ElementsAre(2, 2)) << "a read of the stream has a megabyte";
}

TEST_F(FollowerTest, PoisonIsFoundByHalvingAndDoesNotStopTheOthers) {
  put(8);
  handler_.poisonous = {"TICKET#t5"};
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  // All; the first half; the second; its first half; t4, t5, three times again t5; the last two.
  EXPECT_THAT(handler_.sizes, ElementsAre(8, 4, 4, 2, 1, 1, 1, 1, 1, 2));
  const std::vector<SetAside> aside = desk_.set_aside();
  ASSERT_THAT(aside, SizeIs(1));
  EXPECT_EQ(aside[0].keys.find("PK")->as<std::string>(), "TICKET#t5");
  EXPECT_EQ(aside[0].reason, "it is poison");
  EXPECT_EQ(aside[0].event, "INSERT");
  EXPECT_EQ(aside[0].follower, "tickets");
  EXPECT_EQ(aside[0].new_image->find("ticket_id")->as<std::string>(), "t5");
  EXPECT_EQ(follower_.counts().set_aside, 1U);
  EXPECT_EQ(follower_.counts().halved, 3U);
  EXPECT_EQ(desk_.count("tickets_by_status#NEW"), 8) << "what can be counted of it is";
  put(1, 8);
  handler_.sizes.clear();
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  EXPECT_THAT(handler_.sizes, ElementsAre(1)) << "it does not come back";
}

TEST_F(FollowerTest, ManyPoisonsAreAllFound) {
  put(100);
  for (int i = 0; i < 100; i += 9) handler_.poisonous.insert("TICKET#t" + std::to_string(i));
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  EXPECT_THAT(desk_.set_aside(), SizeIs(12));
  desk_.expect_right();
}

TEST_F(FollowerTest, TroubleOfOthersIsNoReasonToSetAside) {
  put(3);
  handler_.is_unwell = true;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(follower_.run_once(), Follower::Round::failed);
  EXPECT_EQ(follower_.counts().failures, 10U);
  desk_.time().advance(7s);
  EXPECT_EQ(follower_.counts().lag, 7s);
  put(3, 3);
  handler_.is_unwell = false;
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  EXPECT_EQ(handler_.sizes.back(), 6U) << "with those that came meanwhile";
  EXPECT_EQ(follower_.counts().lag, 0s);
  EXPECT_THAT(desk_.set_aside(), IsEmpty());
  desk_.expect_right();
}

// What was read is done before anything is done again: a receiver would never get it otherwise.
TEST_F(FollowerTest, WhatWasReadBeforeTheStreamEndedIsHandled) {
  put(3);
  handler_.is_unwell = true;
  EXPECT_EQ(follower_.run_once(), Follower::Round::failed);
  store::UpdateTableRequest update;
  update.table_name = tickets_table;
  update.stream = store::StreamSpecification{.enabled = false, .view_type = std::nullopt};
  ASSERT_TRUE(desk_.engine().update_table(update));
  desk_.time().advance(1s);
  EXPECT_EQ(follower_.run_once(), Follower::Round::failed);
  EXPECT_EQ(follower_.run_once(), Follower::Round::failed);
  handler_.is_unwell = false;
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  EXPECT_EQ(handler_.sizes.back(), 3U);
  EXPECT_EQ(follower_.counts().begun, 1U);
  put(1, 3);
  EXPECT_EQ(follower_.run_once(), Follower::Round::waiting) << follower_.problem();
  EXPECT_EQ(follower_.counts().begun, 2U);
  desk_.expect_right();
}

TEST_F(FollowerTest, WhatWasReadBeforeChangesWereGoneIsHandled) {
  put(3);
  handler_.is_unwell = true;
  EXPECT_EQ(follower_.run_once(), Follower::Round::failed);
  put(1, 3);
  desk_.pass(25h);
  put(1, 4);
  EXPECT_EQ(follower_.run_once(), Follower::Round::failed);
  handler_.is_unwell = false;
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  EXPECT_EQ(handler_.sizes.back(), 3U);
  EXPECT_EQ(follower_.run_once(), Follower::Round::beginning);
  EXPECT_EQ(follower_.run_once(), Follower::Round::waiting) << follower_.problem();
  EXPECT_EQ(follower_.counts().begun, 2U);
  EXPECT_EQ(desk_.count("tickets_by_status#NEW"), 5);
}

TEST_F(FollowerTest, AReasonIsCutBetweenCharacters) {
  const auto repeated = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  const auto kept = [&](const std::string& reason) {
    store::PutItemRequest request;
    request.table_name = metrics_table;
    request.item = stored_form(set_aside_gap("other", tickets_table, reason, desk_.now()));
    EXPECT_TRUE(desk_.engine().put_item(request));
    return desk_.set_aside().at(0).reason;
  };
  EXPECT_EQ(kept("x" + repeated("\u00e9", 600)), "x" + repeated("\u00e9", 499));
  EXPECT_EQ(kept("no \xff\nUTF-8"), "no ? UTF-8") << "a receiver may say anything";
}

TEST_F(FollowerTest, TroubleIsToldWhenItBeginsAndWhenItIsOver) {
  const net::LoggedLines lines;
  EXPECT_FALSE(follower_.outage());
  put(1);
  handler_.is_unwell = true;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(follower_.run_once(), Follower::Round::failed);
  EXPECT_EQ(follower_.outage(), "not now");
  handler_.is_unwell = false;
  for (int i = 0; i < 10; ++i) follower_.run_once();
  EXPECT_FALSE(follower_.outage());
  EXPECT_EQ(lines.count("changes cannot be handled now follower=tickets cause=\"not now\""), 1);
  EXPECT_EQ(lines.count("changes are handled again follower=tickets"), 1);
}

TEST_F(FollowerTest, ATableThatIsNotThereYetIsNoTrouble) {
  FollowerOptions options = following_at_once("later");
  options.table = "later";
  options.keeper.follower = "later";
  Follower follower(desk_.engine(), options, handler_, desk_.clock(), desk_.random(), desk_.retry());
  EXPECT_EQ(follower.run_once(), Follower::Round::failed);
  EXPECT_EQ(follower.problem(), "there is no table later");
  EXPECT_FALSE(follower.outage());
}

TEST_F(FollowerTest, OperatorsSeeWhatWasSetAside) {
  put(5);
  for (int i = 0; i < 5; ++i) handler_.poisonous.insert("TICKET#t" + std::to_string(i));
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  SetAsideList list(desk_.engine(), metrics_table, desk_.retry());
  std::vector<std::string> ids;
  std::string cursor;
  do {
    const auto page = list.page(cursor, 2);
    ASSERT_TRUE(page);
    for (const SetAside& record : page->records) ids.push_back(record.id);
    cursor = page->cursor;
  } while (!cursor.empty());
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 5U);
  EXPECT_EQ(list.remove(ids[0]).value(), true);
  EXPECT_EQ(list.remove(ids[0]).value(), false);
  EXPECT_EQ(list.remove("tickets_by_status#NEW").value(), false) << "nothing else is removed";
  EXPECT_THAT(desk_.set_aside(), SizeIs(4));
  EXPECT_EQ(list.page("", 0).error().message, "limit must be from 1 to 200");
  EXPECT_EQ(list.page("", 201).error().message, "limit must be from 1 to 200");
  EXPECT_EQ(list.page("none", 1).error().message, "cursor must be one that an earlier page gave");
}

TEST_F(FollowerTest, ItemsOfOthersDoNotEndTheListOfWhatWasSetAside) {
  put(2);
  for (int i = 0; i < 2; ++i) handler_.poisonous.insert("TICKET#t" + std::to_string(i));
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled);
  for (const char* time : {"2027 01", "9", " "}) {
    store::PutItemRequest foreign;
    foreign.table_name = metrics_table;
    foreign.item = {
        {"metric_name", std::string("an item of another ") + time}, {"set_aside", "records"}, {"set_aside_at", time}};
    ASSERT_TRUE(desk_.engine().put_item(foreign));
  }
  SetAsideList list(desk_.engine(), metrics_table, desk_.retry());
  std::size_t found = 0;
  std::string cursor;
  do {
    const auto page = list.page(cursor, 1);
    ASSERT_TRUE(page) << page.error().message;
    found += page->records.size();
    cursor = page->cursor;
  } while (!cursor.empty());
  EXPECT_EQ(found, 2U);
}

// An image has as many levels as an item can have: there is no room for one more around it.
TEST_F(FollowerTest, AChangeThatCannotBeKeptAsItIsDoesNotStopTheOthers) {
  item::AttributeValue deep("leaf");
  for (int level = 1; level < item::max_nesting; ++level) deep = item::Map{{"in", deep}};
  item::Item feedback = feedback_item("t", desk_.now(), 9);
  feedback.set("deep", deep);
  desk_.put(feedback);
  desk_.put(ticket_item("t", "NEW", desk_.now()));
  EXPECT_EQ(follower_.run_once(), Follower::Round::handled) << follower_.problem();
  EXPECT_EQ(desk_.count("tickets_by_status#NEW"), 1);
  const std::vector<SetAside> aside = desk_.set_aside();
  ASSERT_THAT(aside, SizeIs(1));
  EXPECT_EQ(aside[0].reason, "rating of feedback must be a whole number from 1 to 5");
  EXPECT_FALSE(aside[0].new_image);
}

TEST_F(FollowerTest, AnErrandThatFailsDoesNotDropTheOthers) {
  std::vector<int> done;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(follower_.ask([&done, i](CheckpointKeeper&) -> Outcome<void> {
      done.push_back(i);
      if (i == 0) return trouble(Trouble::temporary, "not now");
      return {};
    }));
  EXPECT_EQ(follower_.run_once(), Follower::Round::failed);
  EXPECT_EQ(follower_.run_once(), Follower::Round::waiting);
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
}

// What it waits for while it is idle is no reason to wait when it ends.
TEST_F(FollowerTest, ATableThatIsNotThereYetIsWaitedFor) {
  FollowerOptions options = following_at_once("one");
  options.keeper.follower = "other";
  options.table = "later";
  Source source = ticket_source("later");
  Counter counter(desk_.engine(), source, desk_.clock(), desk_.retry());
  Follower follower(desk_.engine(), options, counter, desk_.clock(), desk_.random(), desk_.retry());
  EXPECT_EQ(follower.run_once(), Follower::Round::failed);
  store::CreateTableRequest request = tickets_request();
  request.table_name = "later";
  ASSERT_TRUE(desk_.engine().create_table(request));
  EXPECT_EQ(follower.run_once(), Follower::Round::waiting);
}

}  // namespace
}  // namespace postino::metrics
