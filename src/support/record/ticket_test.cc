// The state machine, and tickets as items.
#include "support/record/ticket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "item/attribute_text.h"
#include "item/json_codec.h"
#include "item/plain_json.h"
#include "support/record/ticket_item.h"

namespace postino::support {
namespace {

using item::attribute_text;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr base::TimePoint morning =
    base::TimePoint(std::chrono::milliseconds(1'763'460'000'000));  // 2025-11-18T10:00:00Z

Ticket test_ticket() {
  Ticket ticket;
  ticket.id = "tkt_123";
  ticket.customer = {"cust_456", "Ada", "ada@example.org", "ENTERPRISE"};
  ticket.asset = {"router", "RX-200", "SN-1", "1.2.3"};
  ticket.symptom_text = "It restarts every ten minutes.";
  ticket.error_code = "E42";
  ticket.created_at = morning;
  ticket.created_text = write_time(morning);
  ticket.updated_at = morning;
  ticket.version = 1;
  return ticket;
}

StoredTicket stored_of(Ticket ticket) {
  StoredTicket stored;
  stored.ticket = std::move(ticket);
  stored.events = {"2025-11-18", 1};
  return stored;
}

std::vector<std::string> sorts_of(const std::vector<Filing>& filings) {
  std::vector<std::string> sorts;
  for (const Filing& filing : filings)
    sorts.push_back((filing.item ? "+" : "-") + filing.sort +
                    (filing.item ? "=" + attribute_text(*filing.item, "GSI1PK") : ""));
  return sorts;
}

TEST(TicketStates, HaveTheseMovesAndNoOthers) {
  using enum TicketStatus;
  const std::set<std::pair<TicketStatus, TicketStatus>> legal = {{fresh, processing},  {processing, ready},
                                                                 {processing, failed}, {processing, escalated},
                                                                 {failed, processing}, {escalated, processing}};
  for (const TicketStatus from : all_statuses)
    for (const TicketStatus to : all_statuses) {
      EXPECT_EQ(may_move(from, to), legal.contains({from, to}));
      Ticket ticket = test_ticket();
      ticket.status = from;
      EXPECT_EQ(moved(ticket, {.to = to}, morning).has_value(), legal.contains({from, to}));
    }
  for (const TicketStatus status : all_statuses) EXPECT_EQ(parse_status(name_of(status)), status);
  EXPECT_EQ(parse_status("DONE"), std::nullopt);
}

TEST(TicketStates, SayWhenATicketWasFinishedOrEscalated) {
  using enum TicketStatus;
  const base::TimePoint later = morning + std::chrono::minutes(5);
  Ticket ticket = moved(test_ticket(), {.to = processing}, later).value();
  EXPECT_EQ(ticket.version, 2);
  EXPECT_EQ(ticket.updated_at, later);
  Ticket escalated_one = moved(ticket, {.to = escalated, .reason = "hard", .engineer = "eng_1"}, later).value();
  EXPECT_EQ(escalated_one.escalation, (Escalation{later, "eng_1", "hard"}));
  EXPECT_EQ(moved(escalated_one, {.to = processing}, later).value().escalation, std::nullopt);
  EXPECT_EQ(moved(ticket, {.to = ready}, later).value().completed_at, later);
  EXPECT_EQ(moved(ticket, {.to = failed}, later).value().completed_at, std::nullopt);
  EXPECT_EQ(moved(ticket, {.to = fresh}, later).error().message,
            "the ticket tkt_123 is PROCESSING and cannot become NEW");
}

// The attributes and keys of the former system, and ours beside them.
TEST(TicketItems, HaveAFormThatOthersRead) {
  const item::Item item = ticket_item(Keys(""), stored_of(test_ticket()), DataForm::map);
  EXPECT_EQ(
      item::to_plain_json(item),
      R"({"GSI1PK":"CUSTOMER#cust_456","GSI1SK":"STATUS#NEW#2025-11-18T10:00:00.000Z","GSI2PK":"STATUS#NEW",)"
      R"("GSI2SK":"2025-11-18T10:00:00.000Z","PK":"TICKET#tkt_123","SK":"METADATA","created_at":"2025-11-18T10:00:00.000Z",)"
      R"("customer_id":"cust_456","data":{"asset":{"firmware":"1.2.3","model":"RX-200","product_type":"router","serial":"SN-1"},)"
      R"("created_at":"2025-11-18T10:00:00.000Z","customer":{"account_tier":"ENTERPRISE","contact_email":"ada@example.org",)"
      R"("id":"cust_456","name":"Ada"},"error_code":"E42","priority":"P3","status":"NEW",)"
      R"("symptom_text":"It restarts every ten minutes.","ticket_id":"tkt_123","updated_at":"2025-11-18T10:00:00.000Z"},)"
      R"("entity_type":"ticket","error_code":"E42","event_count":1,"event_day":"2025-11-18",)"
      R"("filed":{"error":"E42","priority":"P3","product":"router"},"priority":"P3","status":"NEW",)"
      R"("symptom_text":"It restarts every ten minutes.","ticket_id":"tkt_123","updated_at":"2025-11-18T10:00:00.000Z",)"
      R"("version":1})");
}

TEST(TicketItems, AreReadAsTheyWereWritten) {
  for (const DataForm form : {DataForm::map, DataForm::json})
    for (const TicketStatus to : {TicketStatus::fresh, TicketStatus::escalated, TicketStatus::ready}) {
      Ticket ticket = test_ticket();
      if (to != TicketStatus::fresh) {
        ticket = moved(ticket, {.to = TicketStatus::processing}, morning).value();
        ticket = moved(ticket, {.to = to, .reason = "why", .engineer = to == TicketStatus::escalated ? "eng_1" : ""},
                       morning)
                     .value();
      }
      const Keys keys("acme");
      const item::Item item = ticket_item(keys, stored_of(ticket), form);
      EXPECT_EQ(item.find("data")->type(), form == DataForm::map ? item::Type::map : item::Type::string);
      const auto read = read_ticket(keys, item);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_TRUE(is_complete(keys, *read));
      EXPECT_EQ(read->ticket.version, ticket.version);
      EXPECT_EQ(read->ticket.customer, ticket.customer);
      EXPECT_EQ(read->ticket.asset, ticket.asset);
      EXPECT_EQ(read->ticket.status, ticket.status);
      EXPECT_EQ(read->ticket.status_reason, ticket.status_reason);
      EXPECT_EQ(read->ticket.escalation, ticket.escalation);
      EXPECT_EQ(read->ticket.completed_at, ticket.completed_at);
      EXPECT_EQ(read->events, (EventCount{"2025-11-18", 1}));
      EXPECT_EQ(read->filed, filed_of(ticket));
      EXPECT_EQ(item::to_json(ticket_item(keys, *read, form)), item::to_json(item)) << "the form stays";
    }
}

TEST(TicketItems, KeepWhatOtherProgramsAdded) {
  item::Item item = ticket_item(Keys(""), stored_of(test_ticket()), DataForm::map);
  item.set("own", "attribute");
  item.find("data")->as<item::Map>().set("notes", item::List{"a", 1});
  item.find("data")->as<item::Map>().find("customer")->as<item::Map>().set("vip", true);
  StoredTicket stored = read_ticket(Keys(""), item).value();
  stored.ticket = moved(stored.ticket, {.to = TicketStatus::processing}, morning).value();
  const item::Item after = ticket_item(Keys(""), stored, DataForm::map);
  EXPECT_EQ(attribute_text(after, "own"), "attribute");
  const auto& data = after.find("data")->as<item::Map>();
  EXPECT_EQ(*data.find("notes"), item::AttributeValue(item::List{"a", 1}));
  EXPECT_EQ(*data.find("customer")->as<item::Map>().find("vip"), item::AttributeValue(true));
  EXPECT_EQ(attribute_text(data, "status"), "PROCESSING");
  EXPECT_EQ(attribute_text(after, "GSI1SK"), "STATUS#PROCESSING#2025-11-18T10:00:00.000Z");
}

// One of a program that changes nothing but the status, and times in its own form.
TEST(TicketItems, OfOthersAreSeenToLackSomething) {
  const Keys keys("");
  item::Item item = ticket_item(keys, stored_of(test_ticket()), DataForm::map);
  item.set("status", "ESCALATED");
  item.set("escalated_at", "2025-11-18T12:00:00.654321");
  item.set("assigned_to", "eng_1");
  const StoredTicket stored = read_ticket(keys, item).value();
  EXPECT_FALSE(is_complete(keys, stored));
  EXPECT_EQ(stored.stored_version, 1);
  EXPECT_EQ(stored.ticket.version, 2) << "what it will be when it is completed";
  EXPECT_THAT(sorts_of(filings(keys, stored.filed, stored.ticket)), ElementsAre("+ESCALATION=ESCALATIONS"));
  const item::Item completed = ticket_item(keys, stored, DataForm::map);
  EXPECT_EQ(attribute_text(completed, "escalated_at"), "2025-11-18T12:00:00.654321") << "its own text";
  EXPECT_EQ(attribute_text(completed, "GSI2PK"), "STATUS#ESCALATED");
  const StoredTicket again = read_ticket(keys, completed).value();
  EXPECT_TRUE(is_complete(keys, again));
}

TEST(TicketItems, OfATransactionHaveAllTheirContentsAsJson) {
  const item::Item item = {
      {"PK", "TICKET#tkt_9"},
      {"SK", "METADATA"},
      {"ticket_id", "tkt_9"},
      {"status", "PROCESSING"},
      {"created_at", "2025-11-18T10:00:00.000001"},
      {"data", R"({"customer":{"id":"cust_1"},"symptom_text":"Broken.","priority":"P1","number":1.5})"}};
  const StoredTicket stored = read_ticket(Keys(""), item).value();
  EXPECT_EQ(stored.ticket.customer.id, "cust_1");
  EXPECT_EQ(stored.ticket.priority, "P1");
  EXPECT_EQ(stored.ticket.created_at, morning);
  EXPECT_THAT(sorts_of(filings(Keys(""), stored.filed, stored.ticket)),
              ElementsAre("-BY#PRODUCT", "-BY#ERROR", "+BY#PRIORITY=PRIORITY#P1", "-ESCALATION"));
  const item::Item completed = ticket_item(Keys(""), stored, DataForm::map);
  EXPECT_NE(attribute_text(completed, "data").find(R"("number":1.5)"), std::string::npos);
  EXPECT_EQ(attribute_text(completed, "GSI1PK"), "CUSTOMER#cust_1");
}

TEST(TicketItems, ThatCannotBeTicketsSayWhy) {
  const auto fault = [](item::Item item) {
    item.set("PK", "TICKET#1");
    item.set("SK", "METADATA");
    const auto read = read_ticket(Keys(""), std::move(item));
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(fault({{"status", "DONE"}, {"created_at", "2025-11-18"}}),
            "the record TICKET#1/METADATA cannot be read: status must be NEW, PROCESSING, READY, FAILED or ESCALATED");
  EXPECT_EQ(fault({{"status", "NEW"}}), "the record TICKET#1/METADATA cannot be read: created_at is missing");
  EXPECT_EQ(fault({{"status", 1}, {"created_at", "2025-11-18"}}),
            "the record TICKET#1/METADATA cannot be read: status must be a string");
  EXPECT_EQ(fault({{"status", "NEW"}, {"created_at", "soon"}}),
            "the record TICKET#1/METADATA cannot be read: created_at must be a time such as 2025-11-18T10:30:00Z");
  EXPECT_EQ(fault({{"status", "NEW"}, {"created_at", "2025-11-18"}, {"data", "no json"}}),
            "the record TICKET#1/METADATA cannot be read: data must be a map, or one as JSON");
  EXPECT_EQ(fault({{"status", "NEW"}, {"created_at", "2025-11-18"}, {"version", "x"}}),
            "the record TICKET#1/METADATA cannot be read: version must be a number");
}

TEST(TicketFilings, AreWrittenWhereSomethingChanged) {
  const Keys keys("acme");
  Ticket ticket = test_ticket();
  EXPECT_THAT(sorts_of(filings(keys, Filed(), ticket)),
              ElementsAre("+BY#PRODUCT=TENANT#acme#PRODUCT#router", "+BY#ERROR=TENANT#acme#ERROR#E42",
                          "+BY#PRIORITY=TENANT#acme#PRIORITY#P3"));
  EXPECT_THAT(filings(keys, filed_of(ticket), ticket), IsEmpty());
  const Filed before = filed_of(ticket);
  ticket.priority = "P1";
  EXPECT_THAT(sorts_of(filings(keys, before, ticket)), ElementsAre("+BY#PRIORITY=TENANT#acme#PRIORITY#P1"));
  ticket.status = TicketStatus::processing;
  const Ticket escalated = moved(ticket, {.to = TicketStatus::escalated, .engineer = "eng_1"}, morning).value();
  const std::vector<Filing> entered = filings(keys, filed_of(ticket), escalated);
  EXPECT_THAT(sorts_of(entered), ElementsAre("+ESCALATION=TENANT#acme#ESCALATIONS"));
  const item::Item& escalation = *entered.front().item;
  EXPECT_EQ(attribute_text(escalation, "GSI1SK"), "2025-11-18T10:00:00.000Z#tkt_123");
  EXPECT_EQ(attribute_text(escalation, "GSI3PK"), "TENANT#acme#ESCALATED#eng_1");
  EXPECT_FALSE(escalation.contains("escalated_at") && escalation.contains("assigned_to"))
      << "it would stand in escalated-tickets-index beside its ticket";
  EXPECT_THAT(sorts_of(filings(keys, filed_of(escalated), ticket)), ElementsAre("-ESCALATION"));
}

}  // namespace
}  // namespace postino::support
