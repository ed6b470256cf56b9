// Approvals that fail or end at any of their writes, and what others do at that moment: all or nothing, and never two
// e-mails.
#include "failing_store.h"
#include "reminder_office.h"
#include "reminders/record/draft_item.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

constexpr int more_than_all_writes = 40, more_than_all_calls = 100;

const std::vector<WriteFault>& all_faults() {
  static const std::vector<WriteFault> faults = {WriteFault::refused, WriteFault::unknown, WriteFault::ended_before,
                                                 WriteFault::ended_after};
  return faults;
}

// What the records say: each part of an approval is there, or none is.
void expect_whole(RemindersStore& store, const std::string& customer, const std::string& draft_id, bool is_approved) {
  const item::Item draft = store.get("CUSTOMER#" + customer, "DRAFT#" + draft_id).value();
  EXPECT_EQ(draft.find("status")->as<std::string>(), is_approved ? "approved" : "draft");
  int sent = 0, guards = 0;
  for (const std::string& sort : store.sort_keys("CUSTOMER#" + customer)) {
    sent += sort.starts_with("SENT#") ? 1 : 0;
    guards += sort == "GUARD" ? 1 : 0;
  }
  EXPECT_EQ(sent, is_approved ? 1 : 0);
  EXPECT_EQ(guards, is_approved ? 1 : 0);
}

// With the e-mail in the same commit.
TEST(ApprovalThatEnds, IsThereWithItsEmailOrNotAtAll) {
  RemindersStore store;
  ReminderOffice healthy(store);
  std::size_t emails = 0;
  for (const WriteFault fault : all_faults())
    for (int number = 1; number <= more_than_all_writes; ++number) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " at write " + std::to_string(number));
      const std::string customer = "c" + std::to_string(static_cast<int>(fault)) + "_" + std::to_string(number);
      const std::string id = put_draft(store, customer, "first");
      FailingStore failing(store.engine());
      ReminderOffice office(store, failing);
      failing.fail_at(number, fault);
      const auto answer = office.approve(id);
      const bool was_hit = failing.has_failed();
      const bool is_approved =
          *read_draft(store.get("CUSTOMER#" + customer, "DRAFT#" + id).value(), "USD")->sent_record.c_str() != '\0';
      expect_whole(store, customer, id, is_approved);
      emails += is_approved ? 1 : 0;
      EXPECT_THAT(healthy.emails(), SizeIs(std::min<std::size_t>(emails, 100)));
      if (answer) EXPECT_TRUE(is_approved);
      if (fault == WriteFault::refused || fault == WriteFault::unknown) EXPECT_EQ(outcome_of(answer), "");
      if (!answer && is_approved) EXPECT_EQ(outcome_of(answer), "outcome_unknown");

      // An approver that tries again, however often, causes no second e-mail.
      const auto again = healthy.approve(id);
      EXPECT_EQ(outcome_of(again), is_approved ? "wrong_state" : "");
      expect_whole(store, customer, id, true);
      emails += is_approved ? 0 : 1;
      EXPECT_THAT(healthy.emails(), SizeIs(std::min<std::size_t>(emails, 100)));
      if (!was_hit) break;
    }
}

// With an outbox elsewhere. The relay ends at any write, too, and others go on.
TEST(ApprovalThatEnds, IsHandedOverOnceToAnOutboxElsewhere) {
  RemindersStore store;
  MemoryReminderMailer mail;
  ReminderOffice healthy(store, &mail);
  std::size_t emails = 0;
  for (const WriteFault fault : all_faults())
    for (int number = 1; number <= more_than_all_writes; ++number) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " at write " + std::to_string(number));
      const std::string customer = "c" + std::to_string(static_cast<int>(fault)) + "_" + std::to_string(number);
      const std::string id = put_draft(store, customer, "first");
      FailingStore failing(store.engine());
      ReminderOffice office(store, failing, &mail);
      failing.fail_at(number, fault);
      (void)office.approve(id);
      (void)office.handovers.run_once();
      (void)office.handovers.run_once();
      const bool was_hit = failing.has_failed();

      // Another process takes over.
      (void)healthy.approve(id);
      ++emails;
      const auto handed = healthy.handovers.run_once();
      EXPECT_TRUE(succeeded(handed));
      expect_whole(store, customer, id, true);
      EXPECT_THAT(mail.payloads(), SizeIs(emails));
      EXPECT_EQ(healthy.handovers.run_once().value_or(-1), 0) << "nothing is left";
      if (!was_hit) break;
    }
}

TEST(ApprovalThatMeets, AnotherDecisionIsMadeAgain) {
  struct Meeting {
    const char* what;
    std::function<OrRefusal<void>(ReminderOffice&, const std::string& customer)> act;
    std::string outcome;
  };
  const Actor actor{.tenant = "", .name = "system", .key = {}, .from = {}};
  const auto plain = [](const auto& answer) -> OrRefusal<void> {
    if (!answer) return base::propagate(answer.error());
    return {};
  };
  const std::vector<Meeting> meetings = {
      {"opt-out", [&](auto& office, auto& id) { return plain(office.customers.opt_out(id, "asked", actor)); },
       "stopped"},
      {"bounce", [&](auto& office, auto& id) { return plain(office.customers.hard_bounce(id, "5.1.1", actor)); },
       "stopped"},
      {"complaint", [&](auto& office, auto& id) { return plain(office.customers.complain(id, "spam", actor)); },
       "stopped"},
      {"payment", [&](auto& office, auto& id) { return plain(office.customers.pay(id, "INV-001", {}, actor)); },
       "wrong_state"},
  };
  for (const Meeting& meeting : meetings) {
    RemindersStore store;
    FailingStore watched(store.engine());
    ReminderOffice office(store, watched);
    ReminderOffice other(store);
    bool met = true;
    for (int call = 1; met; ++call) {
      SCOPED_TRACE(std::string(meeting.what) + " before call " + std::to_string(call));
      Customer customer;
      customer.id = "cust_" + std::to_string(call);
      customer.name = "John Doe";
      customer.email = "john@example.com";
      ASSERT_TRUE(succeeded(other.customers.put(customer, actor)));
      Invoice invoice;
      invoice.customer_id = customer.id;
      invoice.id = "INV-001";
      invoice.amount = Money::parse("1500.00", "USD").value();
      invoice.due_date = "2025-12-01";
      ASSERT_TRUE(succeeded(other.customers.put_invoice(invoice, actor)));
      const std::string id = put_draft(store, customer.id, "first");
      // It comes before any of the reads of the approval, or when that has decided, and is about to commit.
      met = false;
      watched.meet_at(call, [&] {
        met = true;
        EXPECT_TRUE(succeeded(meeting.act(other, customer.id)));
      });
      const std::string outcome = outcome_of(office.approve(id));
      EXPECT_EQ(outcome, met ? meeting.outcome : "");
      EXPECT_THAT(other.emails(), SizeIs(met ? 0 : 1));
      ASSERT_TRUE(!met || call < more_than_all_calls);
    }
  }
}

TEST(ApprovalThatMeets, AnotherApprovalOfTheCustomerIsRefusedByTheRules) {
  RemindersStore store;
  FailingStore watched(store.engine());
  ReminderOffice office(store, watched);
  ReminderOffice other(store);
  bool met = true;
  for (int call = 1; met; ++call) {
    SCOPED_TRACE("before call " + std::to_string(call));
    const std::string customer = "cust_" + std::to_string(call);
    const std::string mine = put_draft(store, customer, "first");
    const std::string theirs = put_draft(store, customer, "first");
    met = false;
    watched.meet_at(call, [&] {
      met = true;
      store.time().advance(1s);  // so that the keys of their records differ, and only the guard keeps them apart
      EXPECT_EQ(outcome_of(other.approve(theirs)), "");
    });
    const std::string outcome = outcome_of(office.approve(mine));
    EXPECT_EQ(outcome, met ? "too_soon" : "");
    EXPECT_THAT(other.emails(), SizeIs(static_cast<std::size_t>(call)));
    ASSERT_TRUE(!met || call < more_than_all_calls);
  }
}

TEST(ApprovalThatMeets, AChangeOfTheDraftSendsNoOtherText) {
  RemindersStore store;
  FailingStore watched(store.engine());
  ReminderOffice office(store, watched);
  const std::string id = put_draft(store, "cust_001", "first");
  watched.meet_at(2, [&] {  // when it has read the draft
    item::Item changed = seed_draft("cust_001", test_start, "first");
    changed.set("email_content", "Another program has written this.");
    store.put(std::move(changed));
  });
  const auto sent = office.approve(id);
  // It has no revisions, so that the text of the moment is what is approved; never half of each.
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(sent->text.body, "Another program has written this.");
}

}  // namespace
}  // namespace postino::reminders
