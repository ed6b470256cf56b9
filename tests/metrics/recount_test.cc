// Counting again: when it is due, and that it finds the same.
#include "metrics/figures/tally.h"
#include "metrics/follow/checkpoint.h"
#include "metrics/metrics_table.h"
#include "store/forwarding_store.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void set_figure(SupportDesk& desk, const std::string& name, item::AttributeValue value) {
  store::PutItemRequest request;
  request.table_name = metrics_table;
  request.item = {{"metric_name", name}, {"source", "tickets"}, {"count_value", std::move(value)}};
  ASSERT_TRUE(desk.engine().put_item(request));
}

void change_much(SupportDesk& desk, base::Random& random, int changes) {
  for (int i = 0; i < changes; ++i) change_something(desk.engine(), random, desk.now(), 40);
}

TEST(RecountTest, FindsWhatWasThereBefore) {
  SupportDesk desk;
  base::SeededRandom random(1);
  change_much(desk, random, 300);
  CountingProcess process(desk);
  EXPECT_EQ(process.count_all(), 0) << "nothing is left after it";
  EXPECT_FALSE(stored_figures(desk.engine()).empty());
  desk.expect_right();
}

TEST(RecountTest, GivesTheSameAsCountingChangeByChange) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SupportDesk desk;
    base::SeededRandom random(seed);
    CountingProcess process(desk);
    process.count_all();
    for (int round = 0; round < 10; ++round) {
      change_much(desk, random, 100);
      process.count_all();
      desk.expect_right();
      desk.time().advance(11min);
    }
    const auto before = stored_figures(desk.engine());
    process.follower.begin_anew();
    process.count_all();
    EXPECT_EQ(process.follower.counts().begun, 2U);
    EXPECT_EQ(stored_figures(desk.engine()), before);
  }
}

TEST(RecountTest, IsDoneByTheNextProcessIfItIsWanted) {
  SupportDesk desk;
  desk.put(ticket_item("a", "NEW", desk.now()));
  {
    CountingProcess process(desk);
    process.count_all();
  }
  // As after a repair that has lost some tickets: nothing tells that the figure is too large.
  set_figure(desk, "tickets_by_status#NEW", 7);
  store::PutItemRequest delivered;
  delivered.table_name = metrics_table;
  delivered.item = checkpoint_item("subscriber#mine", {.version = 1});
  ASSERT_TRUE(desk.engine().put_item(delivered));
  EXPECT_EQ(want_recount(desk.engine(), metrics_table, "the store was repaired"), 1) << "subscribers count nothing";
  CountingProcess process(desk);
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 1U);
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 1);
}

TEST(RecountTest, IsNotWantedWhereNothingIsCounted) {
  SupportDesk desk;
  EXPECT_EQ(want_recount(desk.engine(), "no-such-table", "the store was repaired"), 0);
}

// A copy asks whether a server uses the store.
TEST(FollowersTest, TellWhenTheyWereSeenLast) {
  SupportDesk desk;
  EXPECT_EQ(last_sign_of_a_follower(desk.engine(), "no-such-table"), std::nullopt);
  EXPECT_EQ(last_sign_of_a_follower(desk.engine(), metrics_table), std::nullopt);
  const auto write = [&](const std::string& follower, const Checkpoint& checkpoint) {
    store::PutItemRequest put;
    put.table_name = metrics_table;
    put.item = checkpoint_item(follower, checkpoint);
    ASSERT_TRUE(desk.engine().put_item(put));
  };
  write("ended", {.version = 1, .at = desk.now()});
  EXPECT_EQ(last_sign_of_a_follower(desk.engine(), metrics_table), std::nullopt) << "it has let go";
  write("older", {.owner = "a process", .version = 1, .at = desk.now() - std::chrono::hours(1)});
  write("newer", {.owner = "another", .version = 1, .at = desk.now() - std::chrono::seconds(3)});
  EXPECT_EQ(last_sign_of_a_follower(desk.engine(), metrics_table), desk.now() - std::chrono::seconds(3));
}

TEST(RecountTest, ATableLargerThanItsMemoryIsCountedInPasses) {
  SupportDesk desk;
  base::SeededRandom random(3);
  change_much(desk, random, 500);
  CountingProcess process(desk, desk.engine(), "one", {.keys_per_pass = 7, .page = 5});
  process.count_all();
  desk.expect_right();
}

// Two changes are written for each one that is read.
class TirelessStore final : public store::ForwardingStore {
 public:
  explicit TirelessStore(SupportDesk& desk) : ForwardingStore(desk.engine()), desk_(desk) {}
  store::Answer<std::unique_ptr<store::Subscription>> subscribe(const std::string& table,
                                                                std::optional<store::StreamPlace> after) override {
    TRY(std::unique_ptr<store::Subscription> subscription, inner().subscribe(table, std::move(after)));
    return std::make_unique<TirelessSubscription>(*this, std::move(subscription));
  }
  int writes_left = 20'000;

 private:
  class TirelessSubscription final : public store::Subscription {
   public:
    TirelessSubscription(TirelessStore& store, std::unique_ptr<store::Subscription> inner)
        : store_(store), inner_(std::move(inner)) {}
    store::Answer<std::vector<store::StreamRecord>> next(int, base::Milliseconds timeout) override {
      for (int i = 0; i < 2 && store_.writes_left > 0; ++i, --store_.writes_left)
        change_something(store_.inner(), store_.random_, store_.desk_.now(), 30);
      return inner_->next(1, timeout);
    }
    store::StreamPlace place() const override { return inner_->place(); }
    store::Answer<store::StreamMoment> present_end() override { return inner_->present_end(); }
    bool has_passed(const store::StreamMoment& moment) const override { return inner_->has_passed(moment); }
    void close() override { inner_->close(); }

   private:
    TirelessStore& store_;
    const std::unique_ptr<store::Subscription> inner_;
  };

  SupportDesk& desk_;
  base::SeededRandom random_{5};
};

TEST(RecountTest, EndsAlthoughOthersWriteFasterThanItReads) {
  SupportDesk desk;
  base::SeededRandom random(4);
  change_much(desk, random, 40);
  TirelessStore store(desk);
  CountingProcess process(desk, store, "one", {.page = 20});
  EXPECT_EQ(process.follower.run_once(), Follower::Round::handled) << process.follower.problem();
  EXPECT_EQ(process.follower.counts().begun, 1U);
  EXPECT_GT(store.writes_left, 0) << "it did not wait for the writers to end";
  store.writes_left = 0;
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 1U);
  desk.expect_right();
}

TEST(RecountTest, ChangesThatWereGoneAreNoticed) {
  SupportDesk desk;
  {
    CountingProcess process(desk);
    desk.put(ticket_item("a", "NEW", desk.now()));
    process.count_all();
  }
  desk.put(ticket_item("b", "NEW", desk.now()));
  desk.pass(25h);
  desk.put(ticket_item("c", "NEW", desk.now()));
  CountingProcess process(desk);
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 1U);
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 3);
}

TEST(RecountTest, ChangesMayBeGoneAlthoughNoneWasEverSeen) {
  SupportDesk desk;
  {
    CountingProcess process(desk);
    process.count_all();
  }
  desk.put(ticket_item("a", "NEW", desk.now()));
  desk.pass(25h);
  CountingProcess process(desk);
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 1);
}

TEST(RecountTest, NothingIsGoneIfNothingHappened) {
  SupportDesk desk;
  desk.put(ticket_item("a", "NEW", desk.now()));
  {
    CountingProcess process(desk);
    process.count_all();
    desk.put(ticket_item("b", "NEW", desk.now()));
    process.count_all();
  }
  desk.pass(25h);
  CountingProcess process(desk);
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 0U);
}

TEST(RecountTest, AnotherStreamIsNoticed) {
  SupportDesk desk;
  CountingProcess process(desk);
  desk.put(ticket_item("a", "NEW", desk.now()));
  process.count_all();
  store::UpdateTableRequest update;
  update.table_name = tickets_table;
  update.stream = store::StreamSpecification{.enabled = false, .view_type = std::nullopt};
  ASSERT_TRUE(desk.engine().update_table(update));
  desk.put(ticket_item("unseen", "NEW", desk.now()));
  desk.time().advance(1s);
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 2);
  EXPECT_EQ(process.follower.counts().begun, 2U);
}

// As after a restore of the table of metrics alone.
TEST(RecountTest, AFigureThatWouldFallBelowZeroIsNoticed) {
  SupportDesk desk;
  CountingProcess process(desk);
  desk.put(ticket_item("a", "NEW", desk.now()));
  desk.put(ticket_item("b", "NEW", desk.now()));
  process.count_all();
  set_figure(desk, "tickets_by_status#NEW", 1);
  desk.put(ticket_item("a", "READY", desk.now()));
  desk.put(ticket_item("b", "READY", desk.now()));
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 2U);
  desk.expect_right();
}

TEST(RecountTest, IsNotMadeAgainAndAgain) {
  SupportDesk desk;
  FollowerOptions options = following_at_once("one");
  options.between_beginnings = 30s;
  CountingProcess process(desk, desk.engine(), options);
  process.count_all();
  set_figure(desk, "tickets_by_status#NEW", "many");
  desk.put(ticket_item("a", "NEW", desk.now()));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(process.follower.run_once(), Follower::Round::failed);
  EXPECT_EQ(process.follower.counts().begun, 1U);
  desk.time().advance(30s);
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 2U);
  desk.expect_right();
}

TEST(RecountTest, AFigureThatIsNoNumberIsNoticed) {
  SupportDesk desk;
  CountingProcess process(desk);
  process.count_all();
  set_figure(desk, "tickets_by_status#NEW", "many");
  desk.put(ticket_item("a", "NEW", desk.now()));
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 2U);
  desk.expect_right();
}

TEST(RecountTest, ACheckpointOfALaterStateIsNoticed) {
  SupportDesk desk;
  {
    CountingProcess process(desk);
    process.count_all();
  }
  for (const item::Item& item : desk.scan(metrics_table))
    if (item.contains("position")) {
      Checkpoint checkpoint = read_checkpoint(item).value();
      checkpoint.place.positions[""] = store::SequenceNumber::parse("104611686018427387904").value();
      store::PutItemRequest request;
      request.table_name = metrics_table;
      request.item = checkpoint_item("tickets", checkpoint);
      ASSERT_TRUE(desk.engine().put_item(request));
    }
  desk.put(ticket_item("a", "NEW", desk.now()));
  CountingProcess process(desk);
  process.count_all();
  EXPECT_EQ(process.follower.counts().begun, 1U);
  desk.expect_right();
}

TEST(RecountTest, ASpoiltCheckpointIsMadeAnew) {
  SupportDesk desk;
  store::PutItemRequest request;
  request.table_name = metrics_table;
  request.item = {{"metric_name", "checkpoint#tickets"}, {"position", 7}};
  ASSERT_TRUE(desk.engine().put_item(request));
  desk.put(ticket_item("a", "NEW", desk.now()));
  CountingProcess process(desk);
  process.count_all();
  desk.expect_right();
}

TEST(RecountTest, FiguresOfWhatIsGoneGo) {
  SupportDesk desk;
  CountingProcess process(desk);
  desk.put(ticket_item("a", "NEW", desk.now(), "acme"));
  process.count_all();
  set_figure(desk, "TENANT#bell#tickets_by_status#NEW", 3);
  set_figure(desk, "tickets_by_status#LOST", 3);
  process.follower.begin_anew();
  process.count_all();
  desk.expect_right();
  for (const item::Item& item : desk.scan(metrics_table))
    EXPECT_NE(item.find("metric_name")->as<std::string>(), "tickets_by_status#LOST");
}

// More items than one commit takes.
TEST(RecountTest, ReplacesAnyNumberOfFigures) {
  SupportDesk desk;
  for (int i = 0; i < 60; ++i) {
    const std::string tenant = "tenant" + std::to_string(i);
    desk.put(ticket_item("t", "NEW", desk.now(), tenant));
    desk.put(ready_ticket("u", desk.now() - 2h, desk.now(), tenant));
  }
  CountingProcess process(desk);
  process.count_all();
  EXPECT_GT(stored_figures(desk.engine()).size(), 300U);
  desk.expect_right();
}

// E-mails expire; the history of what happened to them stays.
TEST(RecountTest, KeepsTheHistoryOfWhatHasExpired) {
  SupportDesk desk;
  Source source = ticket_source(tickets_table);
  source.kept_for = 48h;
  Counter counter(desk.engine(), source, desk.clock(), desk.retry());
  Follower follower(desk.engine(), following_at_once("one"), counter, desk.clock(), desk.random(), desk.retry());
  const auto count_all = [&] {
    for (Follower::Round round = Follower::Round::handled; round != Follower::Round::waiting;)
      round = follower.run_once();
  };
  item::Item ticket = ticket_item("a", "NEW", desk.now());
  ticket.set("ttl", base::epoch_seconds(desk.now() + 49h));
  desk.put(ticket);
  desk.put(ticket_item("b", "NEW", desk.now()));
  count_all();
  desk.pass(23h);
  count_all();
  desk.put(ticket_item("c", "NEW", desk.now()));
  count_all();
  desk.pass(23h);
  count_all();
  desk.pass(23h);
  count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 2) << "one has expired";
  const auto created = [&] {
    std::int64_t count = 0;
    const auto hours = desk.dashboard().history("", "tickets", Unit::hours, desk.now() - 80h, desk.now());
    for (const HistoryPoint& point : hours.value()) count += point.events.at("tickets_created").count;
    return count;
  };
  EXPECT_EQ(created(), 3);
  follower.begin_anew();
  count_all();
  EXPECT_EQ(follower.counts().begun, 2U);
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 2);
  EXPECT_EQ(created(), 3) << "they were made, although one is gone";
}

TEST(RecountTest, TellsOfItemsThatCannotBeCounted) {
  SupportDesk desk;
  for (int i = 0; i < 150; ++i) {
    item::Item wrong = ticket_item("t" + std::to_string(i), "", desk.now());
    wrong.set("status", i);
    desk.put(wrong);
  }
  desk.put(ticket_item("good", "NEW", desk.now()));
  CountingProcess process(desk);
  process.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 1);
  const std::vector<SetAside> aside = desk.set_aside();
  ASSERT_THAT(aside, SizeIs(100)) << "not without end";
  EXPECT_EQ(process.follower.counts().set_aside, 100U);
  EXPECT_EQ(aside.front().event, "SCAN");
  EXPECT_EQ(aside.front().reason, "status of a ticket must be a text");
  EXPECT_EQ(aside.front().table, tickets_table);
  process.follower.begin_anew();
  process.count_all();
  EXPECT_THAT(desk.set_aside(), SizeIs(::testing::Le(150U))) << "each once";
}

}  // namespace
}  // namespace postino::metrics
