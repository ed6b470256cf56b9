// Tickets of several processes on one store.
#include "store/shared_store_testing.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using ::testing::SizeIs;

TEST(SharedDesk, WhatAnotherProcessLeftIsHandedOver) {
  SupportStore store;
  store::SharedStore shared(store.engine());
  MemoryMailer mail;
  SupportOffice other(store, shared, &mail);  // whose outbox shares no commits
  SupportOffice office(store, shared);
  EXPECT_EQ(office.desk.handovers().run_once().value_or(-1), 0);
  NewTicket ticket = new_ticket();
  ticket.letter = test_letter();
  other.make(ticket);
  EXPECT_EQ(office.desk.handovers().run_once().value_or(-1), 0) << "it has looked a moment ago";
  store.time().advance(std::chrono::seconds(30));
  EXPECT_EQ(office.desk.handovers().run_once().value_or(-1), 1);
  EXPECT_THAT(office.emails(), SizeIs(1));
}

TEST(SharedDesk, ATransactionWhoseAnswerWasLostIsDoneOnce) {
  SupportStore store;
  store::SharedStore shared(store.engine());
  SupportOffice office(store, shared);
  shared.lose_answers(3);
  const std::string id = office.make();
  shared.lose_answers(3);
  ASSERT_TRUE(succeeded(office.tickets.move(id, {.to = TicketStatus::processing}, {.version = 1}, operator_of())));
  EXPECT_EQ(office.tickets.get(id, operator_of())->version, 2);
  EXPECT_THAT(office.events.list(id, {}, operator_of())->entries, SizeIs(2));
}

// A process that was restarted with a larger number notes it, and one that runs on takes it up.
TEST(SharedDesk, ARunningProcessLearnsOfMoreShards) {
  SupportStore store;
  store::SharedStore shared(store.engine());
  base::SeededRandom random(1);
  const store::Retry retry = store.retry();
  TicketStore running(shared, {}, store.time(), random, retry);
  ASSERT_TRUE(running.prepare({}));
  SupportTables more;
  more.shards.count = 8;
  TicketStore restarted(shared, more, store.time(), random, retry);
  ASSERT_TRUE(restarted.prepare({}));
  const auto places = [](const TicketStore& tickets) { return tickets.keys(Scope{}).shards_of("STATUS#NEW"); };
  EXPECT_THAT(places(running), SizeIs(1));
  running.look_at_shards();
  EXPECT_EQ(places(running), places(restarted));
  EXPECT_THAT(places(running), SizeIs(9));
}

}  // namespace
}  // namespace postino::support
