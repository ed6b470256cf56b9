// Tickets with attributes in the object store: those of the former system, and those that are lost there.
#include <functional>
#include <limits>

#include "access/caller_scope.h"
#include "former_system.h"
#include "item/attribute_text.h"
#include "item/plain_json.h"
#include "item/size.h"
#include "objects/large_item_store.h"
#include "objects/memory_objects_testing.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using item::attribute_text;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using enum TicketStatus;

constexpr const char* created = "2026-01-02T03:00:00Z";

class LargeTicketsTest : public ::testing::Test {
 protected:
  // As the former system's store_large_item() writes it: `data` is an object.
  void put_large(const std::string& id) {
    const item::Map data = FormerSystem::ticket(id, "NEW", created);
    ASSERT_TRUE(
        objects_.put("large-items/TICKET#" + id + "/METADATA.json", item::to_plain_json(item::Map{{"data", data}})));
    put_with_address(id, "s3://test-bucket/large-items/TICKET#" + id + "/METADATA.json");
  }
  void put_with_address(const std::string& id, const item::AttributeValue& address) {
    item::Item item = Keys::key("TICKET#" + id, metadata_sort);
    item.set("status", "NEW");
    item.set("created_at", created);
    item.set("customer_id", "cust_456");
    item.set("ticket_id", id);
    item.set("GSI1PK", "CUSTOMER#cust_456");
    item.set("GSI1SK", std::string("STATUS#NEW#") + created);
    item.set("GSI2PK", "STATUS#NEW");
    item.set("GSI2SK", created);
    item.set("own_attribute", "stays");
    item.set("large_data_uri", address);
    store_.put(std::move(item));
  }

  // By a program that knows nothing of the object store: as large as an item can be.
  void put_full(const std::string& id) {
    item::Map ticket = FormerSystem::ticket(id, "NEW", created);
    ticket.set("protocol", "");
    FormerSystem(store_).put_ticket(ticket);
    const std::size_t rest = item::size_of(store_.get("TICKET#" + id, "METADATA").value());
    ticket.set("protocol", std::string(item::max_item_size - rest, 'x'));
    FormerSystem(store_).put_ticket(ticket);
  }

  SupportStore store_;
  SupportOffice outside_{store_};  // its outbox commits past the object store, as the server's does
  objects::MemoryObjects objects_{store_.clock()};
  objects::LargeItemStore large_{store_.engine(),
                                 objects_,
                                 {objects::describe_large_item_table(store_.engine(), table_name).value()},
                                 store_.clock(),
                                 store_.random()};
  SupportOffice office_{store_, large_, &outside_.own_mail};
  const Actor actor_ = operator_of();
};

TEST_F(LargeTicketsTest, ATicketWhoseDataHasMovedCanBeChanged) {
  put_large("tkt_1");
  ASSERT_TRUE(succeeded(office_.tickets.get("tkt_1", actor_)));
  const auto moved = office_.tickets.move("tkt_1", {.to = processing, .reason = "we look", .engineer = ""}, {}, actor_);
  ASSERT_TRUE(succeeded(moved));
  const auto after = office_.tickets.get("tkt_1", actor_);
  ASSERT_TRUE(succeeded(after));
  EXPECT_EQ(after->status, processing);
  EXPECT_EQ(after->status_reason, "we look");
  EXPECT_EQ(after->asset.product_type, "switch") << "what was in the object is still there";
  EXPECT_EQ(attribute_text(*store_.get("TICKET#tkt_1", "METADATA"), "own_attribute"), "stays");
  EXPECT_THAT(office_.events.list("tkt_1", {}, actor_)->entries, SizeIs(1));
}

TEST_F(LargeTicketsTest, AnEMailGoesOutWithSuchAChange) {
  put_large("tkt_1");
  const auto moved = office_.tickets.move("tkt_1", {.to = processing, .reason = "", .engineer = ""}, {}, actor_,
                                          test_letter("We look at {ticket_id}"));
  ASSERT_TRUE(succeeded(moved));
  EXPECT_THAT(outside_.emails(), SizeIs(1));
  EXPECT_EQ(office_.desk.handovers().run_once().value_or(-1), 0) << "nothing is left to be handed over";
}

TEST_F(LargeTicketsTest, ATicketOfOursThatGrewLargeCanBeChanged) {
  item::Map data = FormerSystem::ticket("tkt_1", "NEW", created);
  data.set("protocol", std::string(600'000, 'x'));
  item::Item item = Keys::key("TICKET#tkt_1", metadata_sort);
  item.set("status", "NEW");
  item.set("created_at", created);
  item.set("data", data);
  store::PutItemRequest put;
  put.table_name = table_name;
  put.item = item;
  ASSERT_TRUE(large_.put_item(put));
  ASSERT_TRUE(succeeded(office_.tickets.move("tkt_1", {.to = processing, .reason = "", .engineer = ""}, {}, actor_)));
  const auto after = office_.tickets.get("tkt_1", actor_);
  ASSERT_TRUE(succeeded(after));
  EXPECT_EQ(attribute_text(after->data, "protocol").size(), 600'000U);
  EXPECT_EQ(attribute_text(after->data, "status"), "PROCESSING");
}

TEST_F(LargeTicketsTest, ATicketThatIsFullCanBeChangedWithAnEMail) {
  put_full("tkt_1");
  const auto moved = office_.tickets.move("tkt_1", {.to = processing, .reason = "", .engineer = ""}, {}, actor_,
                                          test_letter("We look at {ticket_id}"));
  ASSERT_TRUE(succeeded(moved));
  const auto after = office_.tickets.get("tkt_1", actor_);
  ASSERT_TRUE(succeeded(after));
  EXPECT_EQ(after->status, processing);
  EXPECT_GT(attribute_text(after->data, "protocol").size(), 400'000U);
  EXPECT_THAT(outside_.emails(), SizeIs(1));
}

TEST_F(LargeTicketsTest, ATicketThatIsFullIsCompleted) {
  put_full("tkt_1");
  item::Map feedback{{"operator_id", "op_1"}, {"submitted_at", created}, {"rating", 2}, {"comments", ""}};
  FormerSystem(store_).put_feedback("tkt_1", feedback);
  const std::size_t rest = item::size_of(store_.get("TICKET#tkt_1", std::string("FEEDBACK#") + created).value());
  feedback.set("comments", std::string(item::max_item_size - rest, 'x'));
  FormerSystem(store_).put_feedback("tkt_1", feedback);
  EXPECT_EQ(office_.adopt(), 2);
  EXPECT_THAT(ids_of(office_.lists.find({.product_type = "switch"}, {}, actor_)->entries), ElementsAre("tkt_1"));
  const auto given = office_.feedback.by_operator("op_1", {}, customer_actor("cust_456"));
  ASSERT_TRUE(succeeded(given));
  ASSERT_THAT(given->entries, SizeIs(1));
  EXPECT_EQ(given->entries.front().comments.size(), item::max_item_size - rest);
}

// The desk tells the engineer, although the caller has no right to e-mails.
TEST_F(LargeTicketsTest, ACallerThatIsBoundToACustomerEscalatesOne) {
  put_large("tkt_1");
  FormerSystem(store_).update_ticket_status_with_event("tkt_1", "PROCESSING", "NEW");
  SupportDesk desk{large_,
                   outside_.own_mail,
                   {.letters = {.from = "support@example.com",
                                .reply_to = "",
                                .acknowledges = false,
                                .engineers = {{"eng_1", "eng1@example.com"}}}},
                   store_.clock(),
                   store_.random(),
                   store_.retry()};
  {
    const access::CallerScope scope("", "cust_456");
    ASSERT_TRUE(succeeded(desk.tickets().escalate("tkt_1", "eng_1", "", {}, customer_actor("cust_456"))));
  }
  EXPECT_THAT(outside_.emails(), SizeIs(1));
}

TEST_F(LargeTicketsTest, WhatOthersWriteMeanwhileIsNotLost) {
  put_large("tkt_1");
  // Between a read and the write that follows it, several times.
  constexpr int most_writes = 7;
  int writes = 0;
  std::function<void()> meeting = [&] {
    store::UpdateItemRequest update;
    update.table_name = table_name;
    update.key = Keys::key("TICKET#tkt_1", metadata_sort);
    update.update = "SET own_attribute = :new";
    update.placeholders.values = item::Map{{":new", std::to_string(++writes)}};
    ASSERT_TRUE(store_.engine().update_item(update));
    if (writes < most_writes) objects_.meet_at_get(meeting);
  };
  objects_.meet_at_get(meeting);
  ASSERT_TRUE(succeeded(office_.tickets.move("tkt_1", {.to = processing, .reason = "", .engineer = ""}, {}, actor_)));
  EXPECT_EQ(writes, most_writes);
  EXPECT_EQ(attribute_text(*store_.get("TICKET#tkt_1", "METADATA"), "own_attribute"), std::to_string(most_writes));
}

TEST_F(LargeTicketsTest, SuchTicketsAreCompleted) {
  put_large("tkt_1");
  EXPECT_EQ(office_.adopt(), 1);
  EXPECT_THAT(ids_of(office_.lists.find({.product_type = "switch"}, {}, actor_)->entries), ElementsAre("tkt_1"));
}

TEST_F(LargeTicketsTest, OneWithoutItsObjectKeepsNoOtherBack) {
  put_with_address("tkt_1", "s3://other-bucket/large-items/TICKET#tkt_1/METADATA.json");
  put_with_address("tkt_2", "s3://test-bucket/large-items/TICKET#tkt_2/METADATA.json");
  put_with_address("tkt_3", 17);
  FormerSystem(store_).put_ticket(FormerSystem::ticket("tkt_4", "NEW", created));
  EXPECT_TRUE(is_refused(office_.tickets.get("tkt_1", actor_), RefusalKind::corrupt));
  EXPECT_TRUE(is_refused(office_.tickets.get("tkt_2", actor_), RefusalKind::corrupt));
  EXPECT_TRUE(is_refused(office_.tickets.get("tkt_3", actor_), RefusalKind::corrupt));
  EXPECT_EQ(office_.adopt(), 1) << "the one behind them";
  const auto fresh_ones = office_.lists.find({.status = fresh}, {}, actor_);
  ASSERT_TRUE(succeeded(fresh_ones));
  EXPECT_THAT(ids_of(fresh_ones->entries), UnorderedElementsAre("tkt_1", "tkt_2", "tkt_3", "tkt_4"));
  EXPECT_EQ(fresh_ones->unreadable, 0);
  for (const Ticket& ticket : fresh_ones->entries)
    EXPECT_EQ(ticket.unavailable, ticket.id == "tkt_4" ? std::vector<std::string>() : std::vector<std::string>{"*"});
  const auto many = office_.tickets.get_many({"tkt_1", "tkt_4"}, actor_);
  ASSERT_TRUE(succeeded(many));
  EXPECT_THAT(ids_of(*many), ElementsAre("tkt_1", "tkt_4"));
}

TEST_F(LargeTicketsTest, OneWhoseObjectCannotBeReadIsListedWithWhatThereIs) {
  NewTicket wanted = new_ticket();
  const std::string id = office_.make(wanted);
  const std::string other = office_.make(wanted);
  office_.move(id, processing);
  // Another program adds a long protocol.
  store::GetItemRequest get;
  get.table_name = table_name;
  get.key = Keys::key("TICKET#" + id, metadata_sort);
  item::Item item = *large_.get_item(get)->item;
  item::Map data = item.find("data")->as<item::Map>();
  data.set("protocol", std::string(600'000, 'x'));
  item.set("data", std::move(data));
  store::PutItemRequest put;
  put.table_name = table_name;
  put.item = item;
  ASSERT_TRUE(large_.put_item(put));
  ASSERT_TRUE(succeeded(office_.tickets.get(id, actor_)));
  const std::int64_t version = office_.tickets.get(id, actor_)->version;
  objects_.set_outage(true, base::ErrorCode::corrupt);
  for (const TicketFilter& filter :
       {TicketFilter{}, TicketFilter{.customer_id = "cust_456"}, TicketFilter{.product_type = "router"},
        TicketFilter{.error_code = "E42"}, TicketFilter{.priority = "P3"}}) {
    const auto found = office_.lists.find(filter, {}, actor_);
    ASSERT_TRUE(succeeded(found));
    EXPECT_THAT(ids_of(found->entries), ElementsAre(other, id));
    EXPECT_EQ(found->unreadable, 0);
    const Ticket& part = found->entries.at(1);
    EXPECT_THAT(part.unavailable, ElementsAre("data"));
    EXPECT_EQ(part.status, processing);
    EXPECT_EQ(part.version, version);
    EXPECT_EQ(part.symptom_text, wanted.symptom_text);
    EXPECT_EQ(part.customer.id, "cust_456");
    EXPECT_EQ(part.customer.name, "") << "it was in the object";
    EXPECT_THAT(found->entries.at(0).unavailable, ElementsAre());
  }
  const auto refused = office_.tickets.get(id, actor_);
  ASSERT_TRUE(is_refused(refused, RefusalKind::corrupt));
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("cannot be read from the object store"));
  EXPECT_TRUE(is_refused(office_.tickets.move(id, {.to = ready, .reason = "", .engineer = ""}, {}, actor_),
                         RefusalKind::corrupt))
      << "nothing is written on the ground of a part";
  EXPECT_TRUE(succeeded(office_.events.list(id, {}, actor_)));
  EXPECT_TRUE(succeeded(office_.correspondence.list(id, {}, actor_)));
  EXPECT_THAT(office_.feedback.of_ticket(id, {}, actor_)->ticket.unavailable, ElementsAre("data"));

  const Actor owner = customer_actor("cust_456");
  EXPECT_THAT(office_.lists.find({}, {}, owner)->entries, SizeIs(2));
  const auto told = office_.tickets.get(id, owner);
  ASSERT_TRUE(is_refused(told, RefusalKind::corrupt));
  EXPECT_EQ(told.error().message, "the ticket " + id + " cannot be read in full now");
  EXPECT_TRUE(is_refused(office_.tickets.get(id, customer_actor("cust_9")), RefusalKind::unknown_ticket));
  objects_.set_outage(false);
  EXPECT_TRUE(succeeded(office_.tickets.move(id, {.to = ready, .reason = "", .engineer = ""}, {}, actor_)));
}

TEST_F(LargeTicketsTest, NumbersThatCannotGrowAreRefused) {
  const std::string id = office_.make();
  for (const char* const name : {"version", "event_count"}) {
    item::Item item = store_.get("TICKET#" + id, "METADATA").value();
    const item::Item before = item;
    for (const std::int64_t number : {std::numeric_limits<std::int64_t>::max(), TicketLimits::most_counted + 1}) {
      item.set(name, number);
      store_.put(item);
      EXPECT_TRUE(is_refused(office_.tickets.get(id, actor_), RefusalKind::corrupt)) << name;
    }
    item.set(name, TicketLimits::most_counted);
    store_.put(item);
    EXPECT_TRUE(succeeded(office_.tickets.get(id, actor_)));
    EXPECT_TRUE(is_refused(office_.tickets.move(id, {.to = processing, .reason = "", .engineer = ""}, {}, actor_),
                           RefusalKind::corrupt))
        << "the next read would find a number that is too large";
    item.erase("filed");
    store_.put(item);
    office_.adopt();
    EXPECT_TRUE(succeeded(office_.tickets.get(id, actor_))) << name;
    store_.put(before);
  }
}

}  // namespace
}  // namespace postino::support
