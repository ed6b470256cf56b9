// Approvals on a store: what is in the one commit, and who and what is refused.
#include "reminder_office.h"
#include "reminders/erasure.h"
#include "reminders/record/guard_item.h"
#include "reminders/record/reminder_mail.h"
#include "store/forwarding_store.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ApprovalsOnAStore : public ::testing::Test {
 protected:
  std::string text(const std::string& sort, const std::string& attribute) {
    const auto item = store_.get("CUSTOMER#cust_001", sort);
    const item::AttributeValue* const value = item ? item->find(attribute) : nullptr;
    if (value == nullptr) return "absent";
    if (const auto* const number = value->get_if<item::Number>()) return number->to_string();
    return value->as<std::string>();
  }
  std::string draft(const std::string& type = "first", base::TimePoint at = test_start) {
    return put_draft(store_, "cust_001", type, at);
  }
  void change_draft(const std::string& id, const std::string& name, item::AttributeValue value) {
    item::Item item = store_.get("CUSTOMER#cust_001", "DRAFT#" + id).value();
    item.set(name, std::move(value));
    store_.put(std::move(item));
  }
  // Nothing but the draft is there, and nothing was sent.
  void expect_nothing_happened(const std::string& id) {
    EXPECT_THAT(store_.sort_keys("CUSTOMER#cust_001"), ElementsAre("DRAFT#" + id));
    EXPECT_THAT(office_.emails(), IsEmpty());
    EXPECT_THAT(store_.scan("EmailTrackingTable-audit"), IsEmpty());
  }

  RemindersStore store_;
  ReminderOffice office_{store_};
};

TEST_F(ApprovalsOnAStore, AreOneCommitWithEverything) {
  const std::string id = draft();
  store_.time().advance(1h);
  const auto sent = office_.approve(id);
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(sent->id, "20260102_040405_first");
  EXPECT_EQ(sent->delivery, DeliveryStatus::queued);

  EXPECT_THAT(store_.sort_keys("CUSTOMER#cust_001"), ElementsAre("DRAFT#" + id, "GUARD", "SENT#20260102_040405_first"));
  const std::string of_draft = "DRAFT#" + id;
  EXPECT_EQ(text(of_draft, "status"), "approved");
  EXPECT_EQ(text(of_draft, "GSI1PK"), "STATUS#approved");
  EXPECT_EQ(text(of_draft, "decided_by"), "user_123");
  EXPECT_EQ(text(of_draft, "sent_record"), sent->id);
  EXPECT_EQ(text(of_draft, "created_by"), "ai_system") << "what others wrote stays";

  const std::string record = "SENT#20260102_040405_first";
  EXPECT_EQ(text(record, "GSI1PK"), "STATUS#sent");
  EXPECT_EQ(text(record, "GSI1SK"), "2026-01-02T04:04:05Z");
  EXPECT_EQ(text(record, "sent_date"), "2026-01-02T04:04:05Z");
  EXPECT_EQ(text(record, "status"), "sent");
  EXPECT_EQ(text(record, "approved_by"), "user_123");
  EXPECT_EQ(text(record, "reminder_type"), "first");
  EXPECT_EQ(text(record, "email_subject"), "Payment Reminder from Innovate AI");
  EXPECT_EQ(text(record, "email_content"), "Dear John...");
  EXPECT_EQ(text(record, "delivery_status"), "queued");
  EXPECT_EQ(text(record, "overdue_amount"), "1500");
  EXPECT_EQ(text(record, "ses_message_id"), sent->email_id + "@example.com");
  EXPECT_EQ(text(record, "ttl"), std::to_string(base::epoch_seconds(test_start + 1h + 365 * 24h)));

  const std::vector<outbox::Email> emails = office_.emails();
  ASSERT_THAT(emails, SizeIs(1));
  EXPECT_EQ(emails[0].id, sent->email_id);
  EXPECT_EQ(emails[0].id, reminder_email_id("", id, 1));
  EXPECT_EQ(emails[0].subject, "Payment Reminder from Innovate AI");
  EXPECT_EQ(emails[0].sender, "billing@example.com");
  EXPECT_EQ(emails[0].recipients.at(0).address, "john@example.com");
  EXPECT_THAT(emails[0].tags, ElementsAre("reminder", "first", "customer:cust_001"));

  const std::vector<item::Item> events = store_.scan("EmailTrackingTable-audit");
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].find("action")->as<std::string>(), "draft.approved");
  EXPECT_EQ(events[0].find("actor")->as<std::string>(), "user_123");
  EXPECT_EQ(events[0].find("subject")->as<std::string>(), "drafts/" + id);
  EXPECT_EQ(events[0].find("PK")->as<std::string>(), "AUDIT#2026-01-02");

  const Guard guard = office_.records.guard(Keys(""), "cust_001").value();
  EXPECT_EQ(guard.version, 1);
  EXPECT_THAT(guard.last, ElementsAre(LastSent{"first", test_start + 1h, sent->id}));
}

TEST_F(ApprovalsOnAStore, AreDoneOnce) {
  const std::string id = draft();
  ASSERT_TRUE(succeeded(office_.approve(id)));
  const auto again = office_.approve(id);
  EXPECT_EQ(outcome_of(again), "wrong_state");
  EXPECT_THAT(again.error().message, HasSubstr("was sent as 20260102_030405_first"));
  store_.time().advance(8 * 24h);
  EXPECT_EQ(outcome_of(office_.approve(id)), "wrong_state") << "also when the rules would allow it";
  EXPECT_THAT(office_.emails(), SizeIs(1));
}

TEST_F(ApprovalsOnAStore, AreOfTheRevisionThatWasSeen) {
  const std::string id = draft();
  change_draft(id, "revision", 3);
  change_draft(id, "version", 5);
  for (const int seen : {-1, 0, 1, 2, 4}) {
    const auto answer = office_.approve(id, seen);
    EXPECT_EQ(outcome_of(answer), "other_revision") << seen;
    EXPECT_EQ(answer.error().current_revision, 3);
  }
  expect_nothing_happened(id);
  const auto sent = office_.approve(id, 3);
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(sent->revision, 3);
}

TEST_F(ApprovalsOnAStore, AreOfOpenDraftsOnly) {
  for (const char* const status : {"rejected", "withdrawn", "approved", "sent"}) {
    const std::string id = draft();
    change_draft(id, "status", status);
    EXPECT_EQ(outcome_of(office_.approve(id)), "wrong_state") << status;
  }
  const std::string odd = draft();
  change_draft(odd, "status", "lost");
  EXPECT_EQ(outcome_of(office_.approve(odd)), "corrupt");
  for (const char* const id : {"", "x", "20260102_030405_", "20260102_030405_cust_002", "20261302_030405_cust_001"})
    EXPECT_EQ(outcome_of(office_.approve(id)), "unknown_draft") << id;
  EXPECT_THAT(office_.emails(), IsEmpty());
}

TEST_F(ApprovalsOnAStore, EndWhenTheDraftHasExpired) {
  const std::string early = draft();
  const std::string late = draft("second", test_start + 1s);
  store_.put(seed_sent("cust_001", test_start - 1h, "first"));
  store_.time().advance(30 * 24h);
  EXPECT_EQ(outcome_of(office_.approve(early)), "wrong_state");
  EXPECT_EQ(outcome_of(office_.approve(late)), "") << "it has another second";
}

TEST_F(ApprovalsOnAStore, FindAFreeSecondHoweverManyAreTaken) {
  for (int second = 0; second < 100; ++second) {
    item::Item failed = seed_sent("cust_001", test_start + second * 1s, "first");
    failed.set("status", "failed");
    failed.set("delivery_status", "failed");
    store_.put(std::move(failed));
  }
  const auto sent = office_.approve(draft());
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(sent->id, "20260102_030545_first");
  EXPECT_EQ(sent->sent_at, test_start);
}

TEST_F(ApprovalsOnAStore, OfATenantAreUnknownToOthers) {
  const std::string id = draft();
  const Actor stranger{.tenant = "acme", .name = "eve", .key = {}, .from = {}};
  EXPECT_EQ(outcome_of(office_.approvals.approve(id, 1, stranger)), "unknown_draft");
  item::Item own = seed_draft("cust_001", test_start, "first");
  own.set("PK", "TENANT#acme#CUSTOMER#cust_001");
  store_.put(std::move(own));
  ASSERT_TRUE(succeeded(office_.approvals.approve(id, 1, stranger)));
  EXPECT_EQ(office_.emails().at(0).tenant, "acme");
  EXPECT_EQ(text("DRAFT#" + id, "status"), "draft");
  EXPECT_EQ(outcome_of(office_.approve(id)), "") << "the rules of one tenant do not hold for another";
  EXPECT_THAT(office_.emails(), SizeIs(2));
}

TEST_F(ApprovalsOnAStore, CanBeForAnotherPersonThanTheDrafter) {
  ReminderOffice strict(store_, store_.engine(), nullptr, {.other_person = true, .from = "billing@example.com"});
  const std::string id = draft();
  change_draft(id, "created_key", "key-1");
  change_draft(id, "revised_by", "bob");
  change_draft(id, "revised_key", "key-2");
  const auto outcome = [&](const std::string& name, const std::string& key) {
    return outcome_of(strict.approvals.approve(id, 1, {.tenant = "", .name = name, .key = key, .from = {}}));
  };
  EXPECT_EQ(outcome("ai_system", "key-3"), "same_person");
  EXPECT_EQ(outcome("bob", "key-3"), "same_person");
  EXPECT_EQ(outcome("carol", "key-1"), "same_person") << "a name alone makes nobody another person";
  EXPECT_EQ(outcome("carol", "key-2"), "same_person");
  EXPECT_EQ(outcome("", "key-2"), "same_person");
  EXPECT_EQ(outcome("Bob ", "key-3"), "same_person") << "as people read it";
  EXPECT_EQ(outcome("AI_System", "key-3"), "same_person");
  EXPECT_EQ(outcome("Key-1", "key-3"), "same_person") << "who gives no name is known by that of the key";
  EXPECT_EQ(outcome("carol", "BOB"), "same_person");
  expect_nothing_happened(id);
  EXPECT_EQ(outcome("carol", "key-3"), "");
}

TEST_F(ApprovalsOnAStore, HaveAPerson) {
  const std::string id = draft();
  for (const std::string nobody : {"", " ", "\u00a0"}) {
    const auto answer = office_.approve(id, 1, nobody);
    EXPECT_EQ(outcome_of(answer), "invalid") << nobody;
    EXPECT_EQ(refusal_text(answer), "approved_by is required");
  }
  expect_nothing_happened(id);
  const Actor key{.tenant = "", .name = "", .key = "shop", .from = {}};
  EXPECT_EQ(outcome_of(office_.approvals.approve(id, 1, key)), "") << "the key has a name";
}

TEST_F(ApprovalsOnAStore, ForAnotherPersonNeedToKnowWhoWroteIt) {
  ReminderOffice strict(store_, store_.engine(), nullptr, {.other_person = true, .from = "billing@example.com"});
  const std::string id = draft();
  change_draft(id, "created_by", "");
  const auto of_nobody = strict.approve(id);
  ASSERT_EQ(outcome_of(of_nobody), "same_person");
  EXPECT_THAT(of_nobody.error().message, HasSubstr("does not say who wrote it"));
  change_draft(id, "created_by", "ai_system");
  change_draft(id, "revised_at_ms", base::epoch_milliseconds(test_start));
  EXPECT_EQ(outcome_of(strict.approve(id)), "same_person") << "of the revision";
  expect_nothing_happened(id);
  change_draft(id, "revised_by", "bob");
  EXPECT_EQ(outcome_of(strict.approve(id)), "");
}

TEST_F(ApprovalsOnAStore, WaitWhileTheClockIsDoubted) {
  struct DoubtfulClock final : base::Clock {
    base::TimePoint now() const override { return test_start; }
    bool is_doubtful() const override { return true; }
  } clock;
  const std::string id = draft();
  ReminderStore records(store_.engine(), {}, Rules::usual(), clock, store_.random(), store_.retry());
  Approvals approvals(records, office_.customers, office_.mail, {.other_person = false, .from = "a@example.com"});
  EXPECT_EQ(outcome_of(approvals.approve(id, 1, {})), "busy");
  ApprovalRules rules{.other_person = false, .from = "a@example.com"};
  rules.is_clock_contradicted = [] { return true; };
  Approvals contradicted(store_.records(), office_.customers, office_.mail, rules);
  EXPECT_EQ(outcome_of(contradicted.approve(id, 1, {})), "busy");
  expect_nothing_happened(id);
}

TEST_F(ApprovalsOnAStore, OfAClockThatWentBackAreTooSoon) {
  ASSERT_TRUE(succeeded(office_.approve(draft())));
  store_.time().set_by(-100 * 24h);
  const auto early = office_.approve(draft("first", test_start - 100 * 24h));
  EXPECT_EQ(outcome_of(early), "too_soon");
  EXPECT_EQ(early.error().decision->allowed_from, test_start + 7 * 24h);
  EXPECT_EQ(outcome_of(office_.approve(draft("second", test_start - 100 * 24h))), "too_soon_after");
}

TEST_F(ApprovalsOnAStore, TakeTheNextFreeSecond) {
  item::Item failed = seed_sent("cust_001", test_start, "first");
  failed.set("delivery_status", "failed");
  store_.put(failed);
  failed.set("SK", "SENT#20260102_030406_first");
  store_.put(std::move(failed));
  const auto sent = office_.approve(draft());
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(sent->id, "20260102_030407_first");
  EXPECT_EQ(sent->sent_at, test_start) << "the true time";
}

TEST_F(ApprovalsOnAStore, CountWhatOtherProgramsHaveSent) {
  store_.put(seed_sent("cust_001", test_start - 3 * 24h, "first"));
  const auto refused = office_.approve(draft());
  EXPECT_EQ(outcome_of(refused), "too_soon");
  EXPECT_EQ(refused.error().decision->rests_on.at(0).record, "20251230_030405_first");
  // Also after the guard was written, and the other program goes on.
  store_.time().advance(5 * 24h);
  ASSERT_TRUE(succeeded(office_.approve(draft())));
  store_.time().advance(8 * 24h);
  store_.put(seed_sent("cust_001", test_start + 12 * 24h, "first"));
  EXPECT_EQ(outcome_of(office_.approve(draft())), "too_soon");
  EXPECT_EQ(outcome_of(office_.approve(draft("second"))), "too_soon_after");
}

TEST_F(ApprovalsOnAStore, OfWhatIsNoEmailAreRefused) {
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"email_subject", "Pay\r\nBcc: all@example.com"},
      {"customer_email", "john@example.com, eve@example.com"},
      {"customer_email", "john"},
      {"customer_email", ""},
      {"email_subject", std::string(3000, 'a')},
      {"email_subject", ""},
      {"email_content", ""},
      {"email_reply_to", "nobody"},
      {"email_from", "a@example.com\r\nBcc: b@c.de"}};
  Templates templates(store_.records());
  Drafts drafts(store_.records(), office_.customers, templates, office_.mail);
  for (const auto& [name, value] : broken) {
    const std::string id = draft();
    change_draft(id, name, value);
    const auto shown = drafts.find(id, "");
    ASSERT_TRUE(succeeded(shown));
    EXPECT_THAT(shown->stopped, StartsWith("it cannot be an e-mail: " + name + " must "));
    EXPECT_FALSE(shown->decision.is_allowed());
    const auto answer = office_.approve(id);
    EXPECT_EQ(outcome_of(answer), "invalid") << name << " " << value;
    if (!answer) {
      ASSERT_THAT(answer.error().faults, SizeIs(1));
      EXPECT_EQ(answer.error().faults[0].field, name);
    }
    EXPECT_EQ(text("DRAFT#" + id, "status"), "draft");
  }
  EXPECT_THAT(office_.emails(), IsEmpty());
}

TEST_F(ApprovalsOnAStore, SurviveANameThatIsMarkup) {
  const std::string id = draft();
  change_draft(id, "customer_name", "<b>\"Ann\"</b> {{x}}\r\nBcc: eve@example.com, <eve@example.com>");
  const auto sent = office_.approve(id);
  ASSERT_TRUE(succeeded(sent));
  ASSERT_THAT(office_.emails().at(0).recipients, SizeIs(1));
  EXPECT_EQ(office_.emails().at(0).recipients.at(0).address, "john@example.com");
}

TEST_F(ApprovalsOnAStore, AreNotStoppedByASpoiltCount) {
  const std::string id = draft();
  const auto first = office_.approve(id);
  ASSERT_TRUE(succeeded(first));
  std::string partition, sort;
  for (item::Item item : store_.scan("EmailTrackingTable"))
    if (item.find("PK")->as<std::string>().starts_with("SUMMARY#")) {
      item.set("approved", "many");
      partition = item.find("PK")->as<std::string>();
      sort = item.find("SK")->as<std::string>();
      store_.put(std::move(item));
    }
  ASSERT_EQ(partition, "SUMMARY#2026-01-02");
  // Drafts spread over the counts, so that several find it sooner or later.
  for (int i = 0; i < 40; ++i) {
    const std::string customer = "other_" + std::to_string(i);
    EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, customer, "first"))), "");
  }
  EXPECT_NE(store_.get(partition, sort)->find("approved")->get_if<item::Number>(), nullptr);
}

TEST_F(ApprovalsOnAStore, OfAnEmailThatIsThereAlreadySendNone) {
  const std::string id = draft();
  outbox::Payload other;
  other.id = reminder_email_id("", id, 1);
  other.from.address = other.to.emplace_back().address = "a@example.com";
  ASSERT_TRUE(office_.mail.accept(other, ""));
  const auto answer = office_.approve(id);
  EXPECT_EQ(outcome_of(answer), "wrong_state");
  EXPECT_THAT(answer.error().message, HasSubstr("the outbox has an e-mail of this revision"));
  EXPECT_THAT(store_.sort_keys("CUSTOMER#cust_001"), ElementsAre("DRAFT#" + id));
}

TEST_F(ApprovalsOnAStore, NeedASender) {
  ReminderOffice nameless(store_, store_.engine(), nullptr, {});
  const std::string id = draft();
  EXPECT_EQ(outcome_of(nameless.approve(id)), "no_sender");
  change_draft(id, "email_from", "Acme <acme@example.org>");
  ASSERT_TRUE(succeeded(nameless.approve(id)));
  EXPECT_EQ(office_.emails().at(0).sender, "acme@example.org");
}

TEST_F(ApprovalsOnAStore, StopAtASuppressedAddress) {
  ASSERT_TRUE(office_.outbox.suppress("", "John@Example.com", "bounced"));
  const std::string id = draft();
  EXPECT_EQ(outcome_of(office_.approve(id)), "stopped");
  expect_nothing_happened(id);
}

TEST_F(ApprovalsOnAStore, AloneAreRefusedForASentRecordThatCannotBeRead) {
  Customer customer;
  customer.id = "cust_001";
  customer.name = "John Doe";
  customer.email = "john@example.com";
  const Actor actor{.tenant = "", .name = "ann", .key = {}, .from = {}};
  ASSERT_TRUE(succeeded(office_.customers.put(customer, actor)));
  Invoice invoice;
  invoice.customer_id = "cust_001";
  invoice.id = "INV-001";
  invoice.amount = Money::parse("1500.00", "USD").value();
  invoice.due_date = "2025-12-19";
  ASSERT_TRUE(succeeded(office_.customers.put_invoice(invoice, actor)));
  item::Item odd = seed_sent("cust_001", test_start - 8 * 24h, "first");
  odd.set("reminder_type", 5);
  store_.put(odd);
  EXPECT_EQ(outcome_of(office_.approve(draft())), "corrupt");
  EXPECT_TRUE(succeeded(office_.customers.opt_out("cust_001", "no more", actor)));
  EXPECT_TRUE(succeeded(office_.customers.pay("cust_001", "INV-001", {}, actor)));
  Erasure erasure(office_.records, office_.mail);
  EXPECT_TRUE(succeeded(erasure.erase("cust_001", true, actor)));

  item::Item odd_date = seed_sent("cust_002", test_start - 6 * 24h, "first");
  odd_date.set("sent_date", "17.11.2026");
  store_.put(odd_date);
  EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_002", "first"))), "too_soon")
      << "its key tells the time";
}

// Others have the same items for so many transactions.
class CrowdedStore final : public store::ForwardingStore {
 public:
  CrowdedStore(store::Store& inner, int crowded) : ForwardingStore(inner), crowded_(crowded) {}

  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override {
    if (crowded_-- <= 0) return inner().transact_write_items(request);
    store::Error error(store::ErrorType::transaction_canceled, "others");
    auto details = std::make_shared<store::ErrorDetails>();
    details->reasons.resize(request.actions.size());
    details->reasons.front().code = "TransactionConflict";
    error.details = std::move(details);
    return tl::unexpected<store::Error>(std::move(error));
  }

 private:
  int crowded_;
};

TEST_F(ApprovalsOnAStore, AreDecidedAlsoWhenManyWriteTheSame) {
  MemoryReminderMailer mail;
  for (ReminderMailer* const room : {static_cast<ReminderMailer*>(nullptr), static_cast<ReminderMailer*>(&mail)}) {
    CrowdedStore crowded(store_.engine(), 5 * store::store_attempts);
    ReminderOffice office(store_, crowded, room);
    EXPECT_EQ(outcome_of(office.approve(put_draft(store_, room == nullptr ? "cust_001" : "cust_002", "first"))), "");
  }
}

TEST_F(ApprovalsOnAStore, AreBusyAndNotUnavailableWhenItNeverEnds) {
  CrowdedStore crowded(store_.engine(), 1'000'000);
  ReminderOffice office(store_, crowded);
  EXPECT_EQ(outcome_of(office.approve(draft())), "busy");
}

}  // namespace
}  // namespace postino::reminders
