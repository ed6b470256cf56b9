// The items beside a ticket, as they are stored.
#include <gtest/gtest.h>

#include "item/json_codec.h"
#include "item/plain_json.h"
#include "support/record/creation.h"
#include "support/record/feedback.h"
#include "support/record/handover.h"
#include "support/record/ticket_email.h"
#include "support/record/ticket_event.h"

namespace postino::support {
namespace {

constexpr base::TimePoint record_time = base::TimePoint(std::chrono::milliseconds(1'763'460'000'123));

TEST(TicketRecords, FeedbackHasItsForm) {
  Feedback feedback{.ticket_id = "tkt_1", .customer_id = "cust_1", .operator_id = "op_1", .rating = 4};
  feedback.was_helpful = true;
  feedback.resolved_issue = false;
  feedback.comments = "good";
  feedback.submitted_at = record_time;
  feedback.submitted_text = write_time(record_time);
  const item::Item item = feedback_item(Keys(""), feedback);
  EXPECT_EQ(
      item::to_plain_json(item),
      R"({"GSI1PK":"FEEDBACK#cust_1","GSI1SK":"op_1#2025-11-18T10:00:00.123Z","GSI3PK":"OPERATOR#op_1",)"
      R"("GSI3SK":"2025-11-18T10:00:00.123Z","PK":"TICKET#tkt_1","SK":"FEEDBACK#2025-11-18T10:00:00.123Z",)"
      R"("customer_id":"cust_1","data":{"comments":"good","operator_id":"op_1","rating":4,"resolved_issue":false,)"
      R"("submitted_at":"2025-11-18T10:00:00.123Z","was_helpful":true},"entity_type":"feedback",)"
      R"("operator_id":"op_1","rating":4,"submitted_at":"2025-11-18T10:00:00.123Z","ticket_id":"tkt_1",)"
      R"("was_helpful":true})");
  const Feedback read = read_feedback(item).value();
  EXPECT_EQ(read.ticket_id, "tkt_1");
  EXPECT_EQ(read.customer_id, "cust_1");
  EXPECT_EQ(read.operator_id, "op_1");
  EXPECT_EQ(read.rating, 4);
  EXPECT_EQ(read.was_helpful, true);
  EXPECT_EQ(read.resolved_issue, false);
  EXPECT_EQ(read.comments, "good");
  EXPECT_EQ(read.submitted_at, record_time);
  EXPECT_EQ(completed_feedback(Keys(""), item, "cust_1"), std::nullopt) << "it lacks nothing";
  EXPECT_FALSE(read_feedback({{"PK", "TICKET#1"}, {"SK", "FEEDBACK#soon"}, {"rating", 1}}));
  for (const item::AttributeValue& wrong :
       {item::AttributeValue("five"), item::AttributeValue(-5), item::AttributeValue(0), item::AttributeValue(6)})
    EXPECT_FALSE(read_feedback({{"PK", "TICKET#1"}, {"SK", "FEEDBACK#2025-11-18"}, {"rating", wrong}}));
}

TEST(TicketRecords, EventsHaveTheirForm) {
  TicketEvent event;
  event.date = "2025-11-18";
  event.number = 2;
  event.at = record_time;
  event.type = "status_changed";
  event.by = "op_1";
  event.old_status = "NEW";
  event.new_status = "PROCESSING";
  event.details = {{"reason", "taken"}};
  event.id = "0123";
  const item::Item item = event_item(Keys("acme"), "tkt_1", event);
  EXPECT_EQ(item::to_plain_json(item),
            R"({"PK":"TENANT#acme#TICKET#tkt_1","SK":"EVENT#2025-11-18#002","by":"op_1","details":{"reason":"taken"},)"
            R"("entity_type":"event","event_id":"0123","event_type":"status_changed","new_status":"PROCESSING",)"
            R"("old_status":"NEW","ticket_id":"tkt_1","timestamp":"2025-11-18T10:00:00.123Z"})");
  const TicketEvent read = read_event(item).value();
  EXPECT_EQ(read.date, event.date);
  EXPECT_EQ(read.number, event.number);
  EXPECT_EQ(read.at, event.at);
  EXPECT_EQ(read.type, event.type);
  EXPECT_EQ(read.details, event.details);
  // As the former system's transactions write them.
  const TicketEvent other =
      read_event({{"PK", "TICKET#1"}, {"SK", "EVENT#2025-11-18T10:00:00.123456#status_change"}, {"event_type", "x"}})
          .value();
  EXPECT_EQ(other.date, "2025-11-18");
  EXPECT_EQ(other.number, std::nullopt);
  EXPECT_EQ(other.at, record_time) << "the time of its key";
  EXPECT_FALSE(read_event({{"PK", "TICKET#1"}, {"SK", "EVENT#x"}}));
}

TEST(TicketRecords, EmailsHaveTheirForm) {
  TicketEmail email;
  email.ticket_id = "tkt_1";
  email.message_id = "id-1@example.com";
  email.email_id = "id-1";
  email.kind = "answer";
  email.from = "support@example.com";
  email.to = {"ada@example.org"};
  email.subject = "Hello";
  email.text = "World";
  email.in_reply_to = "id-0@example.org";
  email.by = "op_1";
  email.at = record_time;
  const item::Item item = email_item(Keys(""), email);
  EXPECT_EQ(item::to_plain_json(item),
            R"({"PK":"TICKET#tkt_1","SK":")" + email_sort(email) +
                R"(","by":"op_1","direction":"sent","email_id":"id-1","entity_type":"email",)"
                R"("from":"support@example.com","in_reply_to":"id-0@example.org","kind":"answer",)"
                R"("message_id":"id-1@example.com","subject":"Hello","text":"World","ticket_id":"tkt_1",)"
                R"("timestamp":"2025-11-18T10:00:00.123Z","to":["ada@example.org"]})");
  EXPECT_EQ(email_sort(email).substr(0, 31), "EMAIL#2025-11-18T10:00:00.123Z#");
  EXPECT_EQ(email_sort(email).size(), 39U);
  const TicketEmail read = read_email(item).value();
  EXPECT_EQ(read.sort, email_sort(email));
  EXPECT_EQ(read.to, email.to);
  EXPECT_EQ(read.text, email.text);
  EXPECT_FALSE(read.received);
  const item::Item reference = mail_reference_item(Keys("acme"), email);
  EXPECT_EQ(item::to_plain_json(reference), R"({"PK":"TENANT#acme#MAIL#id-1@example.com","SK":"TICKET","email":")" +
                                                email_sort(email) +
                                                R"(","entity_type":"mail_reference","ticket_id":"tkt_1"})");
  EXPECT_EQ(read_mail_reference(reference).ticket_id, "tkt_1");
}

TEST(TicketRecords, CreationsExpire) {
  const Creation creation{"tkt_1", "NEW", "2025-11-18T10:00:00.123Z", "abc"};
  const item::Item item = creation_item(Keys(""), "key", creation, record_time);
  EXPECT_EQ(item::to_plain_json(item),
            R"({"PK":"IDEMPOTENCY#key","SK":"METADATA","created_at":"2025-11-18T10:00:00.123Z","request_hash":"abc",)"
            R"("response":"{\"created_at\":\"2025-11-18T10:00:00.123Z\",\"status\":\"NEW\",\"ticket_id\":\"tkt_1\"}",)"
            R"("ticket_id":"tkt_1","ttl":1763546400})");
  EXPECT_EQ(read_creation(item, record_time)->request_hash, "abc");
  EXPECT_TRUE(read_creation(item, record_time + std::chrono::hours(24)));
  EXPECT_FALSE(read_creation(item, record_time + std::chrono::hours(24) + std::chrono::seconds(1)));
  // With nothing but the answer, or nothing but the ticket.
  const auto of_answer = read_creation(
      {{"response", R"({"ticket_id":"tkt_2","status":"PROCESSING","created_at":"2025-11-18T10:00:00"})"}}, record_time);
  ASSERT_TRUE(of_answer);
  EXPECT_EQ(of_answer->ticket_id, "tkt_2");
  EXPECT_EQ(of_answer->status, "PROCESSING");
  EXPECT_EQ(of_answer->created_at, "2025-11-18T10:00:00");
  const auto of_ticket = read_creation({{"ticket_id", "tkt_3"}, {"created_at", "2025-11-18"}}, record_time);
  ASSERT_TRUE(of_ticket);
  EXPECT_EQ(of_ticket->status, "NEW");
  EXPECT_FALSE(read_creation({{"PK", "IDEMPOTENCY#x"}}, record_time));
}

TEST(TicketRecords, HandoversHaveTheirForm) {
  const item::Item item = handover_item({"id-1", "acme", "{}"});
  EXPECT_EQ(item::to_plain_json(item), R"({"PK":"HANDOVER#)" + std::to_string(Keys::handover_shard("id-1")) +
                                           R"(","SK":"id-1","payload":"{}","tenant":"acme"})");
  const Handover read = read_handover(item).value();
  EXPECT_EQ(read.email_id, "id-1");
  EXPECT_EQ(read.tenant, "acme");
}

}  // namespace
}  // namespace postino::support
