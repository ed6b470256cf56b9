// Drafts, sent reminders and guards as items: ours come back as they were, and those of other programs are understood.
#include <gmock/gmock.h>

#include "item/json_codec.h"
#include "reminders/record/draft_item.h"
#include "reminders/record/guard_item.h"
#include "reminders/record/sent_item.h"
#include "reminders/record/watch.h"

namespace postino::reminders {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 2025-09-21T14:30:22.250Z
constexpr base::TimePoint of_seed(base::Milliseconds(1'758'465'022'250));

item::Item parsed(const char* json) {
  auto item = item::parse_item(json);
  EXPECT_TRUE(item) << (item ? "" : item.error().message);
  return item.value_or(item::Item());
}

Draft full_draft() {
  Draft draft;
  draft.id = "20250921_143022_cust_001";
  draft.customer_id = "cust_001";
  draft.customer_name = "John Doe";
  draft.customer_email = "john@example.com";
  draft.reminder_type = "first";
  draft.text = {"Payment Reminder", "Dear John...", "<p>Dear John...</p>"};
  draft.revision = 3;
  draft.template_id = "reminder_first";
  draft.template_version = 2;
  draft.branding = "innovate_ai";
  draft.from = "a@example.com";
  draft.reply_to = "b@example.com";
  draft.variables = {{"discount", "5 %"}, {"empty", ""}};
  draft.overdue_amount = Money::parse("1500.10", "EUR").value();
  draft.overdue_invoices = {"INV-002", "INV-001"};
  draft.status = DraftStatus::rejected;
  draft.reason = "too harsh";
  draft.created_by = "ai_system";
  draft.created_key = "key-1";
  draft.revised_by = "bob";
  draft.revised_key = "key-2";
  draft.decided_by = "carol";
  draft.decided_at = of_seed + std::chrono::hours(1);
  draft.sent_record = "20250921_150000_first";
  draft.decision_token = "token";
  draft.created_at = of_seed;
  draft.updated_at = of_seed + std::chrono::hours(1);
  draft.version = 4;
  return draft;
}

TEST(DraftItem, HasTheAttributesOfTheSeed) {
  const item::Item item = draft_item(Keys(""), full_draft());
  const auto text = [&](const char* name) { return item.find(name)->as<std::string>(); };
  EXPECT_EQ(text("PK"), "CUSTOMER#cust_001");
  EXPECT_EQ(text("SK"), "DRAFT#20250921_143022_cust_001");
  EXPECT_EQ(text("GSI1PK"), "STATUS#rejected");
  EXPECT_EQ(text("GSI1SK"), "2025-09-21T14:30:22Z");
  EXPECT_EQ(text("created_date"), "2025-09-21T14:30:22Z");
  EXPECT_EQ(text("customer_id"), "cust_001");
  EXPECT_EQ(text("customer_name"), "John Doe");
  EXPECT_EQ(text("customer_email"), "john@example.com");
  EXPECT_EQ(text("reminder_type"), "first");
  EXPECT_EQ(text("email_subject"), "Payment Reminder");
  EXPECT_EQ(text("email_content"), "Dear John...");
  EXPECT_EQ(text("status"), "rejected");
  EXPECT_EQ(text("created_by"), "ai_system");
  EXPECT_EQ(item.find("overdue_amount")->as<item::Number>().to_string(), "1500.1");
  EXPECT_EQ(*item.find("overdue_invoices"), item::AttributeValue(item::List{"INV-002", "INV-001"}));
  EXPECT_EQ(*item.find("ttl"), item::AttributeValue(base::epoch_seconds(of_seed) + 30 * 86'400));
}

TEST(DraftItem, ComesBackAsItWas) {
  const Draft draft = full_draft();
  const item::Item item = draft_item(Keys("", 8), draft);
  const auto read = read_draft(item, "USD");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(draft_item(Keys("", 8), *read), item);
  EXPECT_EQ(read->text, draft.text);
  EXPECT_EQ(read->variables, draft.variables);
  EXPECT_EQ(read->overdue_amount, draft.overdue_amount);
  EXPECT_EQ(read->created_at, of_seed);
  EXPECT_EQ(read->version, 4);
}

constexpr const char* seed_draft_json = R"({
  "PK": {"S": "CUSTOMER#cust_001"}, "SK": {"S": "DRAFT#20250921_143022_cust_001"},
  "GSI1PK": {"S": "STATUS#draft"}, "GSI1SK": {"S": "2025-09-21T14:30:22Z"}, "customer_id": {"S": "cust_001"},
  "customer_name": {"S": "John Doe"}, "customer_email": {"S": "john@example.com"}, "reminder_type": {"S": "first"},
  "email_subject": {"S": "Payment Reminder from Innovate AI"}, "email_content": {"S": "Dear John..."},
  "status": {"S": "draft"}, "created_date": {"S": "2025-09-21T14:30:22Z"}, "created_by": {"S": "ai_system"},
  "overdue_amount": {"N": "1500.00"}, "overdue_invoices": {"L": [{"S": "INV-001"}, {"S": "INV-002"}]}})";

TEST(DraftItem, OfTheSeedIsUnderstood) {
  const auto draft = read_draft(parsed(seed_draft_json), "USD");
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->id, "20250921_143022_cust_001");
  EXPECT_EQ(draft->revision, 1);
  EXPECT_EQ(draft->version, 0);
  EXPECT_EQ(draft->overdue_amount->text(), "1500.00 USD");
  EXPECT_THAT(draft->overdue_invoices, ElementsAre("INV-001", "INV-002"));
  EXPECT_EQ(seed_time(draft->created_at), "2025-09-21T14:30:22Z");
}

TEST(DraftItem, OfOtherProgramsMayLackAndDiffer) {
  const auto bare = read_draft(parsed(R"({"PK": {"S": "CUSTOMER#a"}, "SK": {"S": "DRAFT#20250921_143022_a"}})"), "USD");
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_EQ(bare->customer_id, "a");
  EXPECT_EQ(bare->status, DraftStatus::draft);
  EXPECT_EQ(key_time(bare->created_at), "20250921_143022");

  item::Item item = parsed(seed_draft_json);
  item.set("overdue_amount", "1500.00");
  item.set("overdue_invoices", item::StringSet({"B", "A"}));
  item.set("created_date", "2025-09-21T14:30:22.123456");
  item.set("customer_name", item::Null{});
  const auto odd = read_draft(item, "EUR");
  ASSERT_TRUE(odd) << odd.error().message;
  EXPECT_EQ(odd->overdue_amount->text(), "1500.00 EUR");
  EXPECT_THAT(odd->overdue_invoices, ElementsAre("A", "B"));
}

TEST(DraftItem, ThatCannotBeReadSaysWhy) {
  const std::vector<std::pair<std::string, item::AttributeValue>> faults = {
      {"status", "lost"},
      {"overdue_amount", "much"},
      {"overdue_invoices", "INV-1"},
      {"revision", "one"},
      {"revision", -1},
      {"variables", "none"},
      {"email_content", 5},
      {"version", item::Number::parse("1.5").value()}};
  for (const auto& [name, value] : faults) {
    item::Item item = parsed(seed_draft_json);
    item.set(name, value);
    const auto draft = read_draft(item, "USD");
    ASSERT_FALSE(draft) << name;
    EXPECT_EQ(draft.error().code, base::ErrorCode::corrupt);
    EXPECT_THAT(draft.error().message, HasSubstr("CUSTOMER#cust_001/DRAFT#20250921_143022_cust_001"));
    EXPECT_THAT(draft.error().message, HasSubstr(name));
  }
  EXPECT_FALSE(read_draft(parsed(R"({"PK": {"S": "CUSTOMER#a"}, "SK": {"S": "DRAFT#new"}})"), "USD"));
}

TEST(DraftItem, HasTheTimeOfItsKeyWhereNoOtherCanBeRead) {
  item::Item item = parsed(seed_draft_json);
  item.set("created_date", "17.11.2026");
  auto draft = read_draft(item, "USD");
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->created_at, parse_key_time("20250921_143022"));
  item.set("created_date", "2025-09-21T14:30:23Z");
  item.set("created_at_ms", -1);
  draft = read_draft(item, "USD");
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->created_at, parse_key_time("20250921_143023"));
}

TEST(DraftStatus, FollowsFromTheTime) {
  Draft draft;
  draft.created_at = of_seed;
  EXPECT_EQ(status_at(draft, of_seed + draft_life - base::Milliseconds(1)), DraftStatus::draft);
  EXPECT_EQ(status_at(draft, of_seed + draft_life), DraftStatus::expired);
  draft.status = DraftStatus::approved;
  EXPECT_EQ(status_at(draft, of_seed + draft_life), DraftStatus::approved);
}

TEST(DraftItem, HasTheHashOfWhatTheEmailIsMadeOf) {
  Draft draft;
  draft.text = {"Please pay", "Dear Ada", ""};
  draft.customer_name = "Ada Lovelace";
  draft.customer_email = "ada@example.com";
  draft.reminder_type = "first";
  draft.from = "billing@example.com";
  EXPECT_EQ(hash_of(draft), "12b785a6634d5970b55f803c70d6487452dd70a079c13f7c76b062242e0194ea");
  EXPECT_EQ(hash_of_text(draft.text), "715e4f08303cb6d76350e433865015fe9fde080ee0a2c2adbe9496fc059464b1");
  EXPECT_TRUE(is_hash_of(hash_of_text(draft.text), draft)) << "of an earlier version";
}

TEST(RevisionItem, ComesBackAsItWas) {
  const Revision revision{"20250921_143022_cust_001", 7, {"s", "b", "h"}, "bob", of_seed};
  const item::Item item = revision_item(Keys("acme"), "cust_001", of_seed, revision);
  EXPECT_EQ(item.find("SK")->as<std::string>(), "REVISION#20250921_143022_cust_001#000007");
  const auto read = read_revision(item);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->number, 7);
  EXPECT_EQ(read->text, revision.text);
  EXPECT_EQ(read->author, "bob");
  EXPECT_EQ(read->at, of_seed);
}

TEST(SentItem, ComesBackAsItWas) {
  SentReminder sent;
  sent.id = "20250921_150000_first";
  sent.customer_id = "cust_001";
  sent.customer_name = "John Doe";
  sent.customer_email = "john@example.com";
  sent.reminder_type = "first";
  sent.text = {"s", "b", "h"};
  sent.sent_at = of_seed;
  sent.approved_by = "user_123";
  sent.email_id = "e";
  sent.message_id = "e@example.com";
  sent.delivery = DeliveryStatus::bounced;
  sent.failure = "5.1.1 no such user";
  sent.delivered_at = of_seed;
  sent.draft_id = "20250921_143022_cust_001";
  sent.revision = 2;
  sent.template_id = "t";
  sent.template_version = 3;
  sent.overdue_amount = Money::parse("7", "JPY").value();
  sent.overdue_invoices = {"INV-1"};
  sent.version = 5;
  const item::Item item = sent_item(Keys("acme", 4), sent);
  EXPECT_TRUE(item.find("GSI1PK")->as<std::string>().starts_with("TENANT#acme#STATUS#failed#"));
  EXPECT_EQ(item.find("ses_message_id")->as<std::string>(), "e@example.com");
  const auto read = read_sent(item, "USD");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(sent_item(Keys("acme", 4), *read), item);
}

TEST(SentItem, OfOtherProgramsIsUnderstood) {
  const auto sent = read_sent(parsed(R"({
    "PK": {"S": "CUSTOMER#cust_001"}, "SK": {"S": "SENT#20250921_150000_first"}, "status": {"S": "sent"},
    "sent_date": {"S": "2025-09-21T15:00:00Z"}, "ses_message_id": {"S": "0000014a"},
    "delivery_status": {"S": "delivered"}})"),
                              "USD");
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_EQ(sent->customer_id, "cust_001");
  EXPECT_EQ(sent->reminder_type, "first");
  EXPECT_EQ(sent->delivery, DeliveryStatus::sent);
  EXPECT_EQ(sent->message_id, "0000014a");
  EXPECT_TRUE(sent->counts());

  const auto delivery = [](const char* delivery_status, const char* status) {
    const auto read = read_sent({{"PK", "CUSTOMER#a"},
                                 {"SK", "SENT#20250921_150000_first"},
                                 {"status", status},
                                 {"delivery_status", delivery_status}},
                                "USD");
    return read ? std::string(name_of(read->delivery)) : read.error().message;
  };
  EXPECT_EQ(delivery("failed", "sent"), "failed");
  EXPECT_EQ(delivery("", "failed"), "failed");
  EXPECT_EQ(delivery("bounce", "sent"), "bounced");
  EXPECT_EQ(delivery("pending", "sent"), "sent") << "what is not known to have failed counts";
  EXPECT_FALSE(read_sent({{"PK", "CUSTOMER#a"}, {"SK", "SENT#x"}}, "USD")) << "nothing tells its time";
}

TEST(GuardItem, ComesBackAsItWas) {
  Guard guard;
  guard.last = {{"final", of_seed, "a"}, {"first", of_seed - std::chrono::hours(1), "b"}};
  guard.seen = "20250921_143022";
  guard.version = 9;
  const auto read = read_guard(guard_item(Keys(""), "cust_001", guard));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->last, guard.last);
  EXPECT_EQ(read->seen, guard.seen);
  EXPECT_EQ(read->version, 9);
}

TEST(GuardItem, KeepsTheLastOfEachType) {
  const Guard guard = Guard().with("first", of_seed, "b").with("first", of_seed - std::chrono::hours(1), "a");
  EXPECT_THAT(guard.last, ElementsAre(LastSent{"first", of_seed, "b"}));
}

TEST(GuardItem, ThatCannotBeReadIsCorrupt) {
  for (const item::Item& item : std::vector<item::Item>{
           {{"PK", "a"}, {"SK", "GUARD"}},
           {{"PK", "a"}, {"SK", "GUARD"}, {"version", 0}},
           {{"PK", "a"}, {"SK", "GUARD"}, {"version", 1}, {"last", "x"}},
           {{"PK", "a"}, {"SK", "GUARD"}, {"version", 1}, {"last", item::Map{{"first", "x"}}}},
           {{"PK", "a"}, {"SK", "GUARD"}, {"version", 1}, {"last", item::Map{{"first", item::Map{{"at_ms", "x"}}}}}}})
    EXPECT_FALSE(read_guard(item));
}

TEST(Watch, IsLookedAtLaterAndLater) {
  using namespace std::chrono_literals;
  EXPECT_EQ(pause_before_look(0), 10s);
  EXPECT_EQ(pause_before_look(1), 20s);
  EXPECT_EQ(pause_before_look(100), 6h);
  Watch watch{"e", "acme", "cust_001", "record", 2, of_seed};
  const auto read = read_watch(watch_item(watch, of_seed));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tenant, "acme");
  EXPECT_EQ(read->looks, 2);
  EXPECT_EQ(read->settled_at, of_seed);
  EXPECT_TRUE(watch_item(watch, of_seed + watch_time - 1ms).contains("GSI1PK"));
  EXPECT_FALSE(watch_item(watch, of_seed + watch_time).contains("GSI1PK"));
  EXPECT_EQ(*watch_item(watch, of_seed).find("ttl"), item::AttributeValue(base::epoch_seconds(of_seed + watch_life)));
  watch.settled_at.reset();
  const item::Item waiting = watch_item(watch, of_seed + 1000 * 24h);
  EXPECT_TRUE(waiting.contains("GSI1PK")) << "what waits is looked at however long";
  EXPECT_FALSE(waiting.contains("ttl"));
  EXPECT_EQ(read_watch(waiting)->settled_at, std::nullopt);
}

}  // namespace
}  // namespace postino::reminders
