// What items of tickets, e-mails and reminders contribute.
#include <gmock/gmock.h>

#include <algorithm>

#include "metrics/figures/email_figures.h"
#include "metrics/figures/figures_testing.h"
#include "metrics/figures/reminder_figures.h"
#include "metrics/figures/ticket_figures.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "tickets_by_status#NEW 1", "avg_resolution_time 1 12.5"; then "@2026-...Z tickets_created 1".
std::vector<std::string> contributions(const Source& source, const item::Item& item) {
  const auto counted = source.count(item);
  if (!counted) return {"fault: " + counted.error().message};
  const auto text = [](const std::string& name, const Amount& amount) {
    return name + " " + std::to_string(amount.count) +
           (amount.thousandths != 0 ? " " + number_of_thousandths(amount.thousandths).to_string() : "");
  };
  std::vector<std::string> lines;
  if (!counted->tenant.empty()) lines.push_back("of " + counted->tenant);
  for (const auto& [name, amount] : counted->figures) lines.push_back(text(name, amount));
  for (const Event& event : counted->events)
    lines.push_back("@" + base::format_timestamp(event.at) + " " + text(event.name, event.amount));
  return lines;
}

class TicketSourceTest : public ::testing::Test {
 protected:
  const Source source_ = ticket_source("tickets");
};

TEST_F(TicketSourceTest, LooksAtTicketsFeedbackAndEventsAlone) {
  const auto concerns = [&](const char* pk, const char* sk) { return source_.concerns({{"PK", pk}, {"SK", sk}}); };
  EXPECT_TRUE(concerns("TICKET#tkt_1", "METADATA"));
  EXPECT_TRUE(concerns("TENANT#acme#TICKET#tkt_1", "METADATA"));
  EXPECT_TRUE(concerns("TICKET#tkt_1", "FEEDBACK#2026-01-02T12:00:00Z"));
  EXPECT_TRUE(concerns("TICKET#tkt_1", "EVENT#2026-01-02#001"));
  EXPECT_FALSE(concerns("TICKET#tkt_1", "ATTACHMENT#1"));
  EXPECT_FALSE(concerns("TICKET#tkt_1", "BY#PRODUCT"));
  EXPECT_FALSE(concerns("SESSION#sess_1", "METADATA"));
  EXPECT_FALSE(concerns("IDEMPOTENCY#k", "METADATA"));
}

TEST_F(TicketSourceTest, CountsATicketByItsStatus) {
  EXPECT_THAT(contributions(source_, ticket_item("t", "NEW", noon)),
              ElementsAre("tickets_by_status#NEW 1", "@2026-01-02T12:00:00.000Z tickets_created 1"));
  EXPECT_THAT(contributions(source_, ticket_item("t", "ESCALATED", noon, "acme")),
              ElementsAre("of acme", "tickets_by_status#ESCALATED 1", "@2026-01-02T12:00:00.000Z tickets_created 1"));
}

TEST_F(TicketSourceTest, MeasuresHowLongItTook) {
  EXPECT_THAT(
      contributions(source_, ready_ticket("t", noon, noon + 90'500ms)),
      ElementsAre("tickets_by_status#READY 1", "avg_resolution_time 1 90.5",
                  "@2026-01-02T12:00:00.000Z tickets_created 1", "@2026-01-02T12:01:30.500Z tickets_resolved 1 90.5"));
  EXPECT_THAT(
      contributions(source_, ready_ticket("t", noon, noon - 1h)),
      ElementsAre("tickets_by_status#READY 1", "avg_resolution_time 1", "@2026-01-02T12:00:00.000Z tickets_created 1",
                  "@2026-01-02T11:00:00.000Z tickets_resolved 1"))
      << "clocks differ";
  item::Item endless = ready_ticket("t", noon, noon);
  endless.set("completed_at", "9999-12-31T00:00:00Z");
  EXPECT_EQ(source_.count(endless)->figures[1].second.thousandths, base::Milliseconds(std::chrono::years(10)).count());
  item::Item failed = ready_ticket("t", noon, noon + 1h);
  failed.set("status", "FAILED");
  EXPECT_THAT(contributions(source_, failed),
              ElementsAre("tickets_by_status#FAILED 1", "@2026-01-02T12:00:00.000Z tickets_created 1"));
}

TEST_F(TicketSourceTest, ReadsWhatProgramsOfOthersWrite) {
  item::Item item = ready_ticket("t", noon, noon);
  item.set("created_at", "2026-01-02T12:00:00.123456");  // Python's utcnow().isoformat()
  item.set("completed_at", "2026-01-02T12:00:10.123456");
  EXPECT_THAT(contributions(source_, item), ElementsAre("tickets_by_status#READY 1", "avg_resolution_time 1 10",
                                                        "@2026-01-02T12:00:00.123Z tickets_created 1",
                                                        "@2026-01-02T12:00:10.123Z tickets_resolved 1 10"));
  item.set("status", "WAITING_FOR_PARTS");
  item.erase("created_at");
  EXPECT_THAT(contributions(source_, item), ElementsAre("tickets_by_status#OTHER 1"));
  item.set("status", 7);
  EXPECT_THAT(contributions(source_, item), ElementsAre("fault: status of a ticket must be a text"));
  item.erase("status");
  EXPECT_THAT(contributions(source_, item), ElementsAre("fault: status of a ticket must be a text"));
  for (const item::AttributeValue& data :
       {item::AttributeValue(item::Map{{"status", "NEW"}}), item::AttributeValue(R"({"status":"NEW"})")}) {
    item.set("data", data);
    EXPECT_THAT(contributions(source_, item), ElementsAre("tickets_by_status#NEW 1"));
  }
}

TEST_F(TicketSourceTest, CountsRatings) {
  item::Item feedback = feedback_item("t", noon, 4);
  EXPECT_THAT(contributions(source_, feedback),
              ElementsAre("customer_satisfaction 1 4", "@2026-01-02T12:00:00.000Z feedback 1 4"));
  for (const item::AttributeValue& wrong :
       {item::AttributeValue(0), item::AttributeValue(6), item::AttributeValue("5"), item::AttributeValue(-1),
        item::AttributeValue(item::Number::parse("4.7").value()),
        item::AttributeValue(item::Number::parse("4.0005").value())}) {
    feedback.set("rating", wrong);
    EXPECT_THAT(contributions(source_, feedback),
                ElementsAre("fault: rating of feedback must be a whole number from 1 to 5"));
  }
}

TEST_F(TicketSourceTest, KnowsMovesFromEvents) {
  EXPECT_THAT(contributions(source_, event_item("t", noon, "001", "READY")),
              ElementsAre("@2026-01-02T12:00:00.000Z tickets_moved#READY 1"));
  item::Item nested = event_item("t", noon, "001", "READY");
  nested.erase("new_status");
  nested.set("details", item::Map{{"new_status", "FAILED"}});
  EXPECT_THAT(contributions(source_, nested), ElementsAre("@2026-01-02T12:00:00.000Z tickets_moved#FAILED 1"));
  nested.set("details", "anything");
  EXPECT_THAT(contributions(source_, nested), IsEmpty());
  item::Item creation = event_item("t", noon, "001", "NEW");
  creation.set("event_type", "ticket_created");
  EXPECT_THAT(contributions(source_, creation), IsEmpty()) << "a ticket that is made has not moved";
}

TEST(EmailSourceTest, CountsByState) {
  const Source source = email_source("email-outbox", 24h);
  EXPECT_TRUE(source.concerns({{"Id", "e"}, {"Status", "_META"}}));
  EXPECT_FALSE(source.concerns({{"Id", "e"}, {"Status", "SENT"}})) << "a line of its history";
  item::Item email{{"Id", "e"},
                   {"Status", "_META"},
                   {"Tenant", "acme"},
                   {"CreatedAt", base::epoch_milliseconds(noon)},
                   {"Attributes", item::Map{{"Latest", "READY"}}}};
  EXPECT_THAT(contributions(source, email),
              ElementsAre("of acme", "emails_by_state#READY 1", "@2026-01-02T12:00:00.000Z emails_accepted 1"));
  email.erase("Tenant");
  email.set("SettledAt", base::epoch_milliseconds(noon + 1s));
  email.set("Attributes", item::Map{{"Latest", "CALLING-SENT-CALLBACK"}});
  EXPECT_THAT(contributions(source, email),
              ElementsAre("emails_by_state#CALLING-SENT-CALLBACK 1", "@2026-01-02T12:00:00.000Z emails_accepted 1",
                          "@2026-01-02T12:00:01.000Z emails_settled#SENT 1"));
  email.set("Attributes", item::Map{{"Latest", "NOWHERE"}});
  EXPECT_THAT(contributions(source, email), ElementsAre("fault: Attributes.Latest of an e-mail must be a state"));
}

TEST(ReminderSourceTest, CountsByStatusAndType) {
  const Source source = reminder_source("EmailTrackingTable", 24h, {"first"});
  EXPECT_TRUE(source.concerns({{"PK", "CUSTOMER#c"}, {"SK", "DRAFT#20260102_120000_c"}}));
  EXPECT_TRUE(source.concerns({{"PK", "TENANT#acme#CUSTOMER#c"}, {"SK", "SENT#20260102_120000_first"}}));
  EXPECT_FALSE(source.concerns({{"PK", "CUSTOMER#c"}, {"SK", "PROFILE"}}));
  EXPECT_FALSE(source.concerns({{"PK", "CUSTOMER#c"}, {"SK", "INVOICE#1"}}));
  const item::Item draft{{"PK", "TENANT#acme#CUSTOMER#c"},
                         {"SK", "DRAFT#20260102_120000_c"},
                         {"status", "approved"},
                         {"created_date", "2026-01-02T12:00:00Z"}};
  EXPECT_THAT(contributions(source, draft), ElementsAre("of acme", "reminders_by_status#approved 1",
                                                        "@2026-01-02T12:00:00.000Z reminders_drafted 1"));
  item::Item sent{{"PK", "CUSTOMER#c"},
                  {"SK", "SENT#20260102_120000_first"},
                  {"status", "sent"},
                  {"reminder_type", "first"},
                  {"sent_at_ms", base::epoch_milliseconds(noon)}};
  EXPECT_THAT(contributions(source, sent), ElementsAre("reminders_by_status#sent 1", "reminders_by_type#first 1",
                                                       "@2026-01-02T12:00:00.000Z reminders_sent#first 1"));
  sent.set("reminder_type", "<b>");
  EXPECT_THAT(contributions(source, sent), ElementsAre("reminders_by_status#sent 1", "reminders_by_type#other 1",
                                                       "@2026-01-02T12:00:00.000Z reminders_sent#other 1"));
  sent.set("status", "failed");
  EXPECT_THAT(contributions(source, sent), ElementsAre("reminders_by_status#failed 1"));
}

TEST(ReminderSourceTest, KnowsEachFigureOnce) {
  std::vector<std::string> figures = reminder_source("t", 24h, {"first", "other", "first"}).known_figures;
  std::ranges::sort(figures);
  EXPECT_EQ(std::ranges::adjacent_find(figures), figures.end());
  EXPECT_EQ(std::ranges::count(figures, "reminders_by_type#first"), 1);
}

TEST(ContributionTest, HasATenantThatCanBeOne) {
  const Source source = email_source("email-outbox", 24h);
  item::Item email{{"Id", "e"}, {"Status", "_META"}, {"Attributes", item::Map{{"Latest", "READY"}}}};
  for (const std::string& tenant : {std::string("acme"), std::string(255, 'a')}) {
    email.set("Tenant", tenant);
    EXPECT_TRUE(contribution_of(source, email));
  }
  for (const std::string& tenant : {std::string("*"), std::string("a#b"), std::string(256, 'a')}) {
    email.set("Tenant", tenant);
    EXPECT_FALSE(contribution_of(source, email)) << tenant;
  }
}

TEST(OwnerTest, IsInTheKey) {
  EXPECT_EQ(owner_of("TICKET#1").tenant, "");
  EXPECT_EQ(owner_of("TENANT#acme#TICKET#1").tenant, "acme");
  EXPECT_EQ(owner_of("TENANT#acme#TICKET#1").rest, "TICKET#1");
  EXPECT_EQ(owner_of("TENANT#acme").tenant, "");
  EXPECT_EQ(owner_of("TENANT##x").tenant, "");
}

}  // namespace
}  // namespace postino::metrics
