// Programs of the former system beside ours: what they write is read at once, and completed; they read what we write.
#include "former_system.h"
#include "item/attribute_text.h"
#include "item/plain_json.h"
#include "store/forwarding_store.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using item::attribute_text;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum TicketStatus;

class AdoptionTest : public ::testing::Test {
 protected:
  std::vector<std::string> find(const TicketFilter& filter) {
    return ids_of(office_.lists.find(filter, {}, actor_)->entries);
  }
  std::vector<std::string> escalated(const std::string& engineer = "") {
    return ids_of(office_.lists.escalated(engineer, {}, actor_)->entries);
  }
  void remove(const std::string& id) {
    store::DeleteItemRequest request;
    request.table_name = table_name;
    request.key = Keys::key("TICKET#" + id, "METADATA");
    ASSERT_TRUE(store_.engine().delete_item(request));
  }

  SupportStore store_;
  SupportOffice office_{store_};
  FormerSystem former_{store_};
  const Actor actor_ = operator_of();
};

// A store whose stream cannot be read for a while; counts scans.
class BusyStreamStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  store::Answer<std::unique_ptr<store::Subscription>> subscribe(const std::string& table,
                                                                std::optional<store::StreamPlace> after) override {
    if (failure) return store::refuse(*failure, "not now");
    return inner().subscribe(table, std::move(after));
  }
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) override {
    ++scans;
    return inner().scan(request);
  }
  std::optional<store::ErrorType> failure;
  int scans = 0;
};

TEST_F(AdoptionTest, APassingErrorDoesNotMakeItLookAtEverything) {
  former_.put_ticket(FormerSystem::ticket("tkt_1", "PROCESSING", "2025-11-18T10:00:00Z"));
  EXPECT_EQ(office_.adopt(), 1);
  // The next process, which finds the position.
  BusyStreamStore busy(store_.engine());
  SupportOffice next(store_, busy);
  busy.failure = store::ErrorType::service_unavailable;
  EXPECT_FALSE(next.desk.adoption().run_once(100, base::Milliseconds(0)));
  busy.failure.reset();
  former_.put_ticket(FormerSystem::ticket("tkt_2", "PROCESSING", "2025-11-18T10:00:00Z"));
  EXPECT_EQ(next.adopt(), 1);
  EXPECT_EQ(busy.scans, 0);
}

// Sessions, cached results and keys of creations are in the same table.
TEST_F(AdoptionTest, ThePositionMovesOnWithChangesOfOtherItems) {
  office_.make();
  office_.adopt();
  const auto noted = store_.get("ADOPTION", "POSITION");
  ASSERT_TRUE(noted);
  store_.put({{"PK", "SESSION#sess_1"}, {"SK", "METADATA"}, {"entity_type", "session"}});
  office_.adopt();
  EXPECT_NE(store_.get("ADOPTION", "POSITION"), noted);
}

TEST_F(AdoptionTest, ThePositionOfAQuietTableStaysWithinTheStream) {
  office_.make();
  office_.adopt();
  for (int times = 0; times < 6; ++times) {
    store_.pass_time(std::chrono::hours(7));
    EXPECT_EQ(office_.adopt(), 0);
  }
  BusyStreamStore next_store(store_.engine());
  SupportOffice next(store_, next_store);
  EXPECT_EQ(next.adopt(), 0);
  EXPECT_EQ(next_store.scans, 0) << "all tickets are looked at, although no change was missed";
}

TEST_F(AdoptionTest, TheNoteOfThePositionIsNoReasonForTheNextOne) {
  office_.make();
  office_.adopt();
  const auto noted = store_.get("ADOPTION", "POSITION");
  ASSERT_TRUE(noted);
  office_.adopt();
  EXPECT_EQ(store_.get("ADOPTION", "POSITION"), noted);
}

TEST_F(AdoptionTest, TheFormerSystemReadsWhatWeWrote) {
  const std::string id = office_.make();
  office_.move(id, processing);
  const auto ticket = former_.get_ticket(id);
  ASSERT_TRUE(ticket);
  EXPECT_EQ(attribute_text(*ticket, "ticket_id"), id);
  EXPECT_EQ(attribute_text(*ticket, "status"), "PROCESSING");
  EXPECT_EQ(attribute_text(ticket->find("customer")->as<item::Map>(), "id"), "cust_456");
  EXPECT_THAT(former_.query_tickets_by_customer("cust_456"), SizeIs(1));
  EXPECT_THAT(former_.query_tickets_by_customer("cust_456", "PROCESSING"), SizeIs(1));
  EXPECT_THAT(former_.query_tickets_by_customer("cust_456", "NEW"), IsEmpty());
  EXPECT_THAT(former_.query_tickets_by_status("PROCESSING"), SizeIs(1));
  ASSERT_TRUE(
      succeeded(office_.feedback.add(id, {.operator_id = "op_1", .rating = 4, .resolved_issue = true}, actor_)));
  EXPECT_THAT(former_.get_feedback_of_ticket(id), SizeIs(1));
  const auto of_operator = former_.query_feedback_by_operator("op_1");
  ASSERT_THAT(of_operator, SizeIs(1));
  EXPECT_EQ(*of_operator.front().find("rating"), item::AttributeValue(4));
  EXPECT_THAT(former_.query_events_by_date_range(id, "2026-01-02", "2026-01-02"), SizeIs(3));
}

TEST_F(AdoptionTest, TheirTicketsAreReadAtOnceAndListedSoon) {
  former_.put_ticket(FormerSystem::ticket("tkt_1", "PROCESSING", "2025-11-18T10:00:00Z"));
  const auto ticket = office_.tickets.get("tkt_1", actor_);
  ASSERT_TRUE(succeeded(ticket));
  EXPECT_EQ(ticket->asset.product_type, "switch");
  EXPECT_EQ(ticket->version, 1);
  EXPECT_THAT(find({.customer_id = "cust_456"}), ElementsAre("tkt_1"));
  EXPECT_THAT(find({.product_type = "switch"}), IsEmpty());
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(find({.product_type = "switch"}), ElementsAre("tkt_1"));
  EXPECT_THAT(find({.priority = "P2"}), ElementsAre("tkt_1"));
  EXPECT_EQ(office_.tickets.get("tkt_1", actor_)->version, 1) << "as it was read before";
  EXPECT_EQ(*former_.get_ticket("tkt_1")->find("own_field"), item::AttributeValue(item::List{1, "two"}));
  EXPECT_EQ(office_.adopt(), 0);
}

TEST_F(AdoptionTest, TheirTransactionsAreCompleted) {
  ASSERT_TRUE(former_.create_ticket_transactional(FormerSystem::ticket("tkt_1", "NEW", former_.now_text()), "key"));
  EXPECT_EQ(office_.tickets.get("tkt_1", actor_)->customer.contact_email, "bob@example.org");
  EXPECT_THAT(find({.status = fresh}), IsEmpty());
  EXPECT_GE(office_.adopt(), 1);
  EXPECT_THAT(find({.status = fresh}), ElementsAre("tkt_1"));
  EXPECT_THAT(find({.customer_id = "cust_456"}), ElementsAre("tkt_1"));
  // Its readers want JSON where its writers write it.
  EXPECT_TRUE(item::parse_plain_json(attribute_text(*store_.get("TICKET#tkt_1", "METADATA"), "data")));
  // The record of its key counts for us, and ours for it.
  const auto again = office_.tickets.create(new_ticket(), "key", actor_);
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->is_repeated);
  EXPECT_EQ(again->answer.ticket_id, "tkt_1");
  ASSERT_TRUE(succeeded(office_.tickets.create(new_ticket(), "ours", actor_)));
  EXPECT_FALSE(former_.create_ticket_transactional(FormerSystem::ticket("tkt_2", "NEW", former_.now_text()), "ours"));
}

TEST_F(AdoptionTest, TheirMovesGetTheirKeys) {
  const std::string id = office_.make();
  former_.update_ticket_status_with_event(id, "PROCESSING", "NEW");
  const auto seen = office_.tickets.get(id, actor_);
  EXPECT_EQ(seen->status, processing);
  EXPECT_EQ(seen->version, 2);
  EXPECT_TRUE(is_refused(office_.tickets.move(id, {.to = ready}, {.version = 1}, actor_), RefusalKind::other_version))
      << "the caller has not seen their move";
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(former_.query_tickets_by_status("PROCESSING"), SizeIs(1));
  EXPECT_THAT(former_.query_tickets_by_status("NEW"), IsEmpty());
  EXPECT_EQ(attribute_text(*former_.get_ticket(id), "status"), "PROCESSING");
  EXPECT_TRUE(succeeded(office_.tickets.move(id, {.to = ready}, {.version = 2}, actor_)));
  EXPECT_EQ(office_.adopt(), 0) << "our own moves lack nothing";
}

TEST_F(AdoptionTest, AMoveOfOursCompletesTheirs) {
  const std::string id = office_.make();
  former_.update_ticket_status_with_event(id, "PROCESSING", "NEW");
  EXPECT_EQ(office_.move(id, ready).version, 3);
  EXPECT_THAT(find({.status = ready}), ElementsAre(id));
  EXPECT_EQ(office_.adopt(), 0);
}

TEST_F(AdoptionTest, TheirEscalationsAreFound) {
  const std::string id = office_.make();
  office_.move(id, processing);
  store_.time().advance(std::chrono::minutes(5));
  former_.escalate_ticket(id, "hard", "eng_7");
  EXPECT_EQ(office_.tickets.get(id, actor_)->escalation->engineer, "eng_7");
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(escalated(), ElementsAre(id));
  EXPECT_THAT(escalated("eng_7"), ElementsAre(id));
  // Its move away leaves the attributes of the sparse index behind.
  former_.update_ticket_status_with_event(id, "PROCESSING", "ESCALATED");
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(escalated(), IsEmpty());
  EXPECT_THAT(store_.scan(table_name, std::string(escalated_index)), IsEmpty());
  // Without a name of an engineer.
  former_.update_ticket_status_with_event(id, "ESCALATED", "PROCESSING");
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(escalated(), ElementsAre(id));
  EXPECT_THAT(office_.adopt(), 0);
}

// Programs subtract the two times, which must have the same form.
TEST_F(AdoptionTest, TheirTicketsKeepTheFormOfTheirTimes) {
  former_.put_ticket(FormerSystem::ticket("tkt_1", "PROCESSING", "2026-01-02T03:00:00.000001"));
  office_.move("tkt_1", ready);
  EXPECT_EQ(attribute_text(*store_.get("TICKET#tkt_1", "METADATA"), "completed_at"), "2026-01-02T03:04:05.000000");
}

TEST_F(AdoptionTest, TheirFeedbackIsSeenByTheCustomer) {
  const std::string id = office_.make();
  former_.put_feedback(
      id,
      {{"operator_id", "op_1"}, {"submitted_at", "2026-01-02T03:04:05.123456"}, {"rating", 2}, {"comments", "slow"}});
  const auto of_ticket = office_.feedback.of_ticket(id, {}, actor_);
  ASSERT_TRUE(succeeded(of_ticket));
  ASSERT_THAT(of_ticket->feedback.entries, SizeIs(1));
  EXPECT_EQ(of_ticket->feedback.entries.front().comments, "slow");
  EXPECT_THAT(office_.feedback.by_operator("op_1", {}, actor_)->entries, SizeIs(1));
  EXPECT_THAT(office_.feedback.by_operator("op_1", {}, customer_actor("cust_456"))->entries, IsEmpty());
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(office_.feedback.by_operator("op_1", {}, customer_actor("cust_456"))->entries, SizeIs(1));
  EXPECT_THAT(office_.feedback.by_operator("op_1", {}, customer_actor("cust_9"))->entries, IsEmpty());
}

// Some of its programs write neither list's keys.
TEST_F(AdoptionTest, TheirFeedbackIsFoundByItsOperator) {
  const std::string id = office_.make();
  store_.put({{"PK", "TICKET#" + id},
              {"SK", "FEEDBACK#2026-01-02T03:04:05.123456"},
              {"rating", 2},
              {"data", item::Map{{"operator_id", "op_1"}, {"rating", 2}}}});
  EXPECT_THAT(office_.feedback.by_operator("op_1", {}, actor_)->entries, IsEmpty());
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(office_.feedback.by_operator("op_1", {}, actor_)->entries, SizeIs(1));
  EXPECT_THAT(office_.feedback.by_operator("op_1", {}, customer_actor("cust_456"))->entries, SizeIs(1));
  EXPECT_THAT(former_.query_feedback_by_operator("op_1"), SizeIs(1));
  EXPECT_EQ(office_.adopt(), 0);
}

// Programs compare the two.
TEST_F(AdoptionTest, TheirTimesAreTheSameInTheTicketAndInItsData) {
  const std::string id = office_.make();
  office_.move(id, processing);
  store_.time().advance(std::chrono::minutes(5));
  former_.escalate_ticket(id, "hard", "eng_7");
  EXPECT_EQ(office_.adopt(), 1);
  const item::Item item = store_.get("TICKET#" + id, "METADATA").value();
  const std::string at = attribute_text(item, "escalated_at");
  EXPECT_EQ(at.size(), std::string_view("2026-01-02T03:04:05.123456").size());
  const auto& data = item.find("data")->as<item::Map>();
  EXPECT_EQ(attribute_text(data, "escalated_at"), at);
  EXPECT_EQ(attribute_text(data, "updated_at"), attribute_text(item, "updated_at"));
}

TEST_F(AdoptionTest, WhatLeadsToARemovedTicketIsRemoved) {
  const std::string id = office_.make();
  office_.adopt();
  remove(id);
  EXPECT_THAT(find({.product_type = "router"}), IsEmpty());
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(store_.sort_keys("TICKET#" + id), ElementsAre("EVENT#2026-01-02#001"));
}

TEST_F(AdoptionTest, WhatCannotBeReadKeepsNoOthersBack) {
  store_.put({{"PK", "TICKET#bad"}, {"SK", "METADATA"}, {"status", 7}});
  former_.put_ticket(FormerSystem::ticket("tkt_1", "NEW", "2025-11-18T10:00:00Z"));
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(find({.product_type = "switch"}), ElementsAre("tkt_1"));
}

// The stream keeps a day. Tickets from before are found by looking at all of them.
TEST_F(AdoptionTest, OldTicketsAreFoundAtTheFirstStart) {
  former_.put_ticket(FormerSystem::ticket("tkt_1", "NEW", "2025-11-18T10:00:00Z"));
  Keys keys("acme");
  item::Item of_tenant = *store_.get("TICKET#tkt_1", "METADATA");
  of_tenant.set("PK", keys.ticket("tkt_2"));
  of_tenant.set("ticket_id", "tkt_2");
  store_.put(of_tenant);
  store_.pass_time(std::chrono::hours(30));
  EXPECT_EQ(office_.adopt(), 2);
  EXPECT_THAT(ids_of(office_.lists.find({.product_type = "switch"}, {}, operator_of("acme"))->entries),
              ElementsAre("tkt_2"));
  // Another process goes on where this one was.
  office_.make();
  office_.adopt();
  SupportOffice next(store_);
  former_.put_ticket(FormerSystem::ticket("tkt_3", "NEW", "2025-11-18T10:00:00Z"));
  EXPECT_EQ(next.adopt(), 1);
}

// What is written while the table has no stream is in none of its streams.
TEST_F(AdoptionTest, AStreamThatWasBegunAnewIsNoticed) {
  office_.make();
  office_.adopt();
  const auto set_stream = [&](bool enabled) {
    store_.time().advance(std::chrono::seconds(1));
    store::UpdateTableRequest update;
    update.table_name = table_name;
    update.stream = store::StreamSpecification{.enabled = enabled, .view_type = std::nullopt};
    if (enabled) update.stream->view_type = store::StreamViewType::new_and_old_images;
    ASSERT_TRUE(store_.engine().update_table(update));
  };
  set_stream(false);
  former_.put_ticket(FormerSystem::ticket("tkt_1", "NEW", "2025-11-18T10:00:00Z"));
  set_stream(true);
  SupportOffice next(store_);
  EXPECT_EQ(next.adopt(), 1);
  EXPECT_THAT(find({.product_type = "switch"}), ElementsAre("tkt_1"));
}

// All tickets are looked at once, also if there were no changes to be seen.
TEST_F(AdoptionTest, ThePositionIsNotedWhenAllTicketsWereLookedAt) {
  office_.adopt();
  BusyStreamStore counting(store_.engine());
  SupportOffice next(store_, counting);
  EXPECT_EQ(next.adopt(), 0);
  EXPECT_EQ(counting.scans, 0);
}

// Away for longer than the stream keeps its records.
TEST_F(AdoptionTest, AGapIsNoticed) {
  office_.make();
  office_.adopt();
  former_.put_ticket(FormerSystem::ticket("tkt_1", "NEW", "2025-11-18T10:00:00Z"));
  store_.pass_time(std::chrono::hours(30));
  former_.put_ticket(FormerSystem::ticket("tkt_2", "NEW", "2025-11-18T10:00:01Z"));
  SupportOffice next(store_);
  EXPECT_EQ(next.adopt(), 2);
  EXPECT_THAT(find({.product_type = "switch"}), ElementsAre("tkt_2", "tkt_1"));
}

}  // namespace
}  // namespace postino::support
