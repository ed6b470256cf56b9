// Creation, reading, and moves of tickets.
#include "item/attribute_text.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using item::attribute_text;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum TicketStatus;

class TicketsTest : public ::testing::Test {
 protected:
  SupportStore store_;
  SupportOffice office_{store_};
  Tickets& tickets_ = office_.tickets;
  const Actor actor_ = operator_of();
};

TEST_F(TicketsTest, AreMadeWithTheirFirstEventInOneCommit) {
  const auto created = tickets_.create(new_ticket(), "key_1", actor_);
  ASSERT_TRUE(succeeded(created));
  EXPECT_FALSE(created->is_repeated);
  EXPECT_EQ(created->answer.status, "NEW");
  EXPECT_EQ(created->answer.created_at, "2026-01-02T03:04:05.000Z");
  const std::string id = created->answer.ticket_id;
  EXPECT_TRUE(id.starts_with("tkt_"));
  EXPECT_THAT(store_.sort_keys("TICKET#" + id),
              ElementsAre("BY#ERROR", "BY#PRIORITY", "BY#PRODUCT", "EVENT#2026-01-02#001", "METADATA"));
  const auto ticket = tickets_.get(id, actor_);
  ASSERT_TRUE(succeeded(ticket));
  EXPECT_EQ(ticket->version, 1);
  EXPECT_EQ(ticket->customer, new_ticket().customer);
  EXPECT_EQ(ticket->priority, "P3");
  const auto event = store_.get("TICKET#" + id, "EVENT#2026-01-02#001");
  EXPECT_EQ(attribute_text(*event, "event_type"), "ticket_created");
  const auto record = store_.get("IDEMPOTENCY#key_1", "METADATA");
  EXPECT_EQ(attribute_text(*record, "ticket_id"), id);
  EXPECT_EQ(attribute_text(*record, "response"),
            R"({"created_at":"2026-01-02T03:04:05.000Z","status":"NEW","ticket_id":")" + id + R"("})");
  EXPECT_EQ(*record->find("ttl"), item::AttributeValue(base::epoch_seconds(test_start) + 24 * 3'600));
}

TEST_F(TicketsTest, OfTheSameKeyAreMadeOnce) {
  const auto first = tickets_.create(new_ticket(), "key_1", actor_);
  ASSERT_TRUE(succeeded(first));
  office_.move(first->answer.ticket_id, processing);
  store_.time().advance(std::chrono::hours(23));
  const auto again = tickets_.create(new_ticket(), "key_1", actor_);
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->is_repeated);
  EXPECT_EQ(again->answer.ticket_id, first->answer.ticket_id);
  EXPECT_EQ(again->answer.status, "NEW") << "the first answer";
  EXPECT_EQ(again->answer.created_at, first->answer.created_at);

  NewTicket other = new_ticket();
  other.symptom_text += " Sometimes.";
  EXPECT_TRUE(is_refused(tickets_.create(other, "key_1", actor_), RefusalKind::key_reused));
  EXPECT_THAT(store_.scan(table_name, std::string(status_index)), SizeIs(1));

  // The key has expired, whether the store has removed it or not.
  store_.time().advance(std::chrono::hours(2));
  const auto later = tickets_.create(other, "key_1", actor_);
  ASSERT_TRUE(succeeded(later));
  EXPECT_NE(later->answer.ticket_id, first->answer.ticket_id);
}

TEST_F(TicketsTest, OfOtherCallersHaveOtherKeys) {
  const auto of_operator = tickets_.create(new_ticket(), "key", actor_).value();
  const auto of_tenant = tickets_.create(new_ticket(), "key", operator_of("acme")).value();
  const auto of_customer = tickets_.create(new_ticket(), "key", customer_actor("cust_456")).value();
  EXPECT_FALSE(of_tenant.is_repeated);
  EXPECT_FALSE(of_customer.is_repeated);
  EXPECT_NE(of_customer.answer.ticket_id, of_operator.answer.ticket_id);
  // However the keys of others are written.
  for (const std::string key : {"CUSTOMER#cust_456#key", "_OF#cust_456#key", "OF#cust_456#key", "cust_456#key"})
    EXPECT_FALSE(tickets_.create(new_ticket(), key, actor_).value().is_repeated) << key;
  EXPECT_TRUE(tickets_.create(new_ticket(), "key", customer_actor("cust_456")).value().is_repeated);
}

TEST_F(TicketsTest, AreRefusedWithEveryFieldThatBreaksARule) {
  NewTicket wrong;
  wrong.symptom_text = "short";
  wrong.priority = "high";
  wrong.customer.contact_email = "nobody";
  wrong.customer.name = "a\nb";
  wrong.asset.model = std::string(201, 'x');
  EXPECT_THAT(faulty_fields(tickets_.create(wrong, std::string(TicketLimits::key_bytes + 1, 'k'), actor_)),
              ElementsAre("customer.id", "customer.name", "customer.contact_email", "asset.model", "symptom_text",
                          "priority", "idempotency_key"));
  EXPECT_THAT(store_.scan(table_name), IsEmpty());
  NewTicket markup = new_ticket();
  markup.symptom_text = "<script>alert(1)</script>\n\tfoo & bar";
  EXPECT_EQ(tickets_.get(office_.make(markup), actor_)->symptom_text, markup.symptom_text);
}

TEST_F(TicketsTest, AreReadManyAtOnce) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(office_.make());
  const auto many = tickets_.get_many({ids[3], "none", ids[0], ids[3], ""}, actor_);
  ASSERT_TRUE(succeeded(many));
  EXPECT_THAT(ids_of(*many), ElementsAre(ids[3], ids[0]));
  EXPECT_THAT(faulty_fields(tickets_.get_many(std::vector<std::string>(101, "x"), actor_)), ElementsAre("ids"));
}

TEST_F(TicketsTest, MoveWithEventAndKeysInOneCommit) {
  const std::string id = office_.make();
  store_.time().advance(std::chrono::minutes(1));
  const auto moved = tickets_.move(id, {.to = processing, .reason = "taken"}, {.version = 1}, actor_);
  ASSERT_TRUE(succeeded(moved));
  EXPECT_EQ(moved->version, 2);
  const auto item = store_.get("TICKET#" + id, "METADATA");
  EXPECT_EQ(attribute_text(*item, "status"), "PROCESSING");
  EXPECT_EQ(attribute_text(*item, "GSI1SK"), "STATUS#PROCESSING#2026-01-02T03:04:06.000Z");
  EXPECT_EQ(attribute_text(*item, "GSI2PK"), "STATUS#PROCESSING");
  EXPECT_EQ(attribute_text(item->find("data")->as<item::Map>(), "status"), "PROCESSING");
  const auto event = store_.get("TICKET#" + id, "EVENT#2026-01-02#002");
  ASSERT_TRUE(event);
  EXPECT_EQ(attribute_text(*event, "event_type"), "status_changed");
  EXPECT_EQ(attribute_text(*event, "old_status"), "NEW");
  EXPECT_EQ(attribute_text(*event, "new_status"), "PROCESSING");
  EXPECT_EQ(attribute_text(*event, "by"), "op_1");
  EXPECT_EQ(attribute_text(event->find("details")->as<item::Map>(), "reason"), "taken");

  store_.time().advance(std::chrono::hours(1));
  EXPECT_EQ(office_.move(id, ready).completed_at, store_.clock().now());
  EXPECT_EQ(attribute_text(*store_.get("TICKET#" + id, "METADATA"), "completed_at"), "2026-01-02T04:05:06.000Z");
}

TEST_F(TicketsTest, MoveFromWhatTheCallerSawAlone) {
  const std::string id = office_.make();
  office_.move(id, processing);
  const auto old = tickets_.move(id, {.to = ready}, {.version = 1}, actor_);
  ASSERT_TRUE(is_refused(old, RefusalKind::other_version));
  EXPECT_EQ(old.error().current_version, 2);
  EXPECT_EQ(old.error().current_status, processing);
  EXPECT_EQ(old.error().message, "the ticket " + id + " has version 2 and is PROCESSING");
  EXPECT_TRUE(is_refused(tickets_.move(id, {.to = ready}, {.status = fresh}, actor_), RefusalKind::other_version));
  const auto illegal = tickets_.move(id, {.to = fresh}, {.version = 2}, actor_);
  ASSERT_TRUE(is_refused(illegal, RefusalKind::wrong_state));
  EXPECT_EQ(illegal.error().current_status, processing);
  EXPECT_TRUE(succeeded(tickets_.move(id, {.to = ready}, {.version = 2}, actor_)));
  EXPECT_TRUE(is_refused(tickets_.move("tkt_none", {.to = ready}, {}, actor_), RefusalKind::unknown_ticket));
}

TEST_F(TicketsTest, EnterAndLeaveTheSparseIndex) {
  const std::string id = office_.make();
  EXPECT_TRUE(is_refused(tickets_.escalate(id, "eng_1", "hard", {}, actor_), RefusalKind::wrong_state));
  office_.move(id, processing);
  EXPECT_THAT(faulty_fields(tickets_.escalate(id, "", "hard", {}, actor_)), ElementsAre("engineer"));
  EXPECT_THAT(faulty_fields(tickets_.move(id, {.to = ready, .engineer = "eng_1"}, {}, actor_)),
              ElementsAre("engineer"));
  ASSERT_TRUE(succeeded(tickets_.escalate(id, "eng_1", "hard", {}, actor_)));
  const std::vector<item::Item> entries = store_.scan(table_name, std::string(escalated_index));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(attribute_text(entries.front(), "ticket_id"), id);
  EXPECT_EQ(attribute_text(entries.front(), "assigned_to"), "eng_1");
  EXPECT_EQ(attribute_text(entries.front(), "escalation_reason"), "hard");
  EXPECT_THAT(store_.sort_keys("TICKET#" + id), ::testing::Contains("ESCALATION"));

  EXPECT_TRUE(succeeded(tickets_.deescalate(id, "solved", {}, actor_)));
  EXPECT_THAT(store_.scan(table_name, std::string(escalated_index)), IsEmpty());
  EXPECT_THAT(store_.sort_keys("TICKET#" + id), ::testing::Not(::testing::Contains("ESCALATION")));
  EXPECT_TRUE(is_refused(tickets_.deescalate(id, "", {}, actor_), RefusalKind::wrong_state));
}

TEST_F(TicketsTest, ChangeTheirPriority) {
  const std::string id = office_.make();
  const auto urgent = tickets_.change_priority(id, "P1", {.version = 1}, actor_);
  ASSERT_TRUE(succeeded(urgent));
  EXPECT_EQ(urgent->version, 2);
  EXPECT_EQ(attribute_text(*store_.get("TICKET#" + id, "BY#PRIORITY"), "GSI1PK"), "PRIORITY#P1");
  const auto same = tickets_.change_priority(id, "P1", {}, actor_);
  ASSERT_TRUE(succeeded(same));
  EXPECT_EQ(same->version, 2) << "nothing to change";
  EXPECT_TRUE(is_refused(tickets_.change_priority(id, "P2", {.version = 1}, actor_), RefusalKind::other_version));
  EXPECT_THAT(faulty_fields(tickets_.change_priority(id, "P9", {}, actor_)), ElementsAre("priority"));
}

TEST_F(TicketsTest, KeepDataAsJsonIfThatIsConfigured) {
  SupportOffice json(store_, nullptr, {.data = DataForm::json});
  const std::string id = json.make();
  const auto item = store_.get("TICKET#" + id, "METADATA");
  EXPECT_NE(attribute_text(*item, "data").find(R"("status":"NEW")"), std::string::npos);
  // The other server leaves the form as it is.
  office_.move(id, processing);
  EXPECT_NE(attribute_text(*store_.get("TICKET#" + id, "METADATA"), "data").find(R"("status":"PROCESSING")"),
            std::string::npos);
  EXPECT_EQ(json.tickets.get(id, actor_)->status, processing);
}

TEST_F(TicketsTest, CacheResultsForAQuarterOfAnHour) {
  Cache& cache = office_.desk.cache();
  const item::Map data = {{"answer", 42}};
  ASSERT_TRUE(succeeded(cache.put("k", data, actor_)));
  EXPECT_EQ(cache.get("k", actor_).value(), data);
  EXPECT_EQ(cache.get("other", actor_).value(), std::nullopt);
  EXPECT_EQ(cache.get("k", operator_of("acme")).value(), std::nullopt);
  EXPECT_EQ(cache.get("k", customer_actor("cust_456")).value(), std::nullopt);
  store_.time().advance(std::chrono::minutes(15) - std::chrono::seconds(1));
  EXPECT_EQ(cache.get("k", actor_).value(), data);
  store_.time().advance(std::chrono::seconds(1));
  EXPECT_EQ(cache.get("k", actor_).value(), std::nullopt);
  EXPECT_THAT(faulty_fields(cache.put("", data, actor_)), ElementsAre("key"));
}

}  // namespace
}  // namespace postino::support
