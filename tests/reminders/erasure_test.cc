// Everything there is of one customer: exported, and erased.
#include "reminders/erasure.h"

#include <functional>

#include "base/many_threads_testing.h"
#include "customers_environment.h"
#include "failing_store.h"
#include "json/document.h"
#include "json/pointer_testing.h"
#include "memory_reminder_mailer.h"
#include "reminder_office.h"
#include "reminders/drafts.h"
#include "reminders/record/sent_item.h"
#include "reminders/summary.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* erased_email = "00000000-0000-8000-8000-000000000001";

// A customer who has a record of every kind.
class CustomerToErase {
 public:
  CustomerToErase() {
    EXPECT_TRUE(succeeded(store_.customers().put(test_customer(), test_actor)));
    EXPECT_TRUE(succeeded(store_.customers().opt_out("cust_001", "Ada said so", test_actor)));
    put_invoice("INV-1");
    put_invoice("INV-2");
    EXPECT_TRUE(succeeded(store_.customers().pay("cust_001", "INV-1", test_payment(), test_actor)));
    store_.put(seed_draft("cust_001", test_start - 1h, "first"));
    store_.put(seed_draft("cust_001", test_start - 2h, "first"));
    put_record("REVISION#20260102_020405_cust_001#000001", {{"email_content", "Dear Ada, earlier"}});
    put_record("TEMPLATE#reminder_first", {{"body_template", "Dear Ada"}});
    put_record("NOTE#1", {{"text", "Ada is nice"}});
    item::Item foreign = seed_sent("cust_001", test_start - 30 * 24h, "first");
    foreign.set("customer_email", "ada@example.org");
    foreign.set("nickname", "Ada");
    foreign.set("phone", item::Map{{"home", "Ada's"}});
    store_.put(foreign);
    put_sent(erased_email);
  }

  void put_invoice(const std::string& id) {
    EXPECT_TRUE(succeeded(store_.customers().put_invoice(test_invoice(id, "2025-12-01"), test_actor)));
  }
  void put_record(const std::string& sort, item::Item item) {
    item.set("PK", "CUSTOMER#cust_001");
    item.set("SK", sort);
    store_.put(std::move(item));
  }
  // As an approval leaves it, with its e-mail in the outbox.
  void put_sent(const std::string& email_id) {
    SentReminder sent;
    sent.id = key_time(test_start - 24h) + "_second";
    sent.customer_id = "cust_001";
    sent.customer_name = "Ada Lovelace";
    sent.customer_email = "ada@example.org";
    sent.reminder_type = "second";
    sent.text = {"For Ada", "Dear Ada", "<p>Dear Ada</p>"};
    sent.sent_at = test_start - 24h;
    sent.email_id = email_id;
    sent.overdue_invoices = {"INV-1"};
    sent.failure = "450 ada@example.org is busy";
    sent.version = 1;
    store_.put(sent_item(Keys(""), sent));
    outbox::Payload payload;
    payload.id = email_id;
    payload.to = {{"Ada Lovelace", "ada@example.org"}};
    EXPECT_TRUE(mail_.accept(payload, ""));
    store_.put(watch_item({email_id, "", "cust_001", sent.id}, sent.sent_at));
  }

  // All that may be about the person.
  std::vector<std::string> traces() {
    std::vector<std::string> found;
    for (const std::string text : {"Ada", "ada@", "John", "Dear", "is busy"})
      if (store_.has_anywhere(store_.records().tables().tracking, text)) found.push_back(text);
    for (const outbox::Payload& payload : mail_.payloads())
      if (!payload.to.empty()) found.push_back("e-mail " + payload.id);
    return found;
  }
  static std::vector<std::string> shown(const std::vector<ErasureReport::Line>& lines) {
    std::vector<std::string> all;
    for (const ErasureReport::Line& line : lines) all.push_back(std::to_string(line.count) + " " + line.what);
    return all;
  }
  static std::vector<std::string> shown(const OrRefusal<ErasureReport>& report) {
    EXPECT_TRUE(succeeded(report));
    if (!report) return {};
    std::vector<std::string> all = shown(report->removed);
    for (const std::string& line : shown(report->kept))
      // The repeated attempts leave events, too.
      if (!line.ends_with("audit events")) all.push_back("kept " + line);
    return all;
  }
  static auto expected_report(bool was_sent = false) {
    std::vector<std::string> lines = {"1 customer",
                                      "2 drafts",
                                      "1 revisions of drafts",
                                      "2 texts, names and addresses of sent reminders",
                                      "2 invoices",
                                      "1 templates for this customer",
                                      "1 other records",
                                      "1 contents of e-mails in the outbox"};
    if (was_sent)
      lines.insert(lines.end(), {"kept 1 records of e-mails that were sent", "kept 2 sent reminders"});
    else
      lines.insert(lines.end(), {"kept 1 records of e-mails that were not sent", "kept 1 sent reminders",
                                 "kept 1 reminders that were not sent"});
    lines.insert(lines.end(), {"kept 1 links from e-mails to reminders",
                               was_sent ? "kept 2 times of the last reminders" : "kept 1 times of the last reminders",
                               "kept 1 objection to reminders", "kept 1 address on the suppression list"});
    return ::testing::ElementsAreArray(lines);
  }
  static auto expected_records() {
    return UnorderedElementsAre("ERASED", "GUARD", "SENT#20251203_030405_first", "SENT#20260101_030405_second");
  }

  CustomersEnvironment store_;
  MemoryReminderMailer mail_;
};

class ErasureTest : public ::testing::Test, protected CustomerToErase {
 protected:
  ErasureTest() { mail_.suppress("ada@example.org"); }
  OrRefusal<ErasureReport> erase(bool also_unpaid = true) {
    return erasure_.erase("cust_001", also_unpaid, test_actor);
  }

  Erasure erasure_{store_.records(), mail_};
};

TEST_F(ErasureTest, LeavesNothingAboutThePerson) {
  EXPECT_THAT(traces(), Contains("ada@"));
  const std::int64_t guard = store_.guard_version();
  const auto report = erase();
  EXPECT_THAT(shown(report), expected_report());
  for (const ErasureReport::Line& line : report->kept) EXPECT_NE(line.why, "") << line.what;
  EXPECT_THAT(traces(), IsEmpty());
  EXPECT_THAT(store_.sort_keys("CUSTOMER#cust_001"), expected_records());
  EXPECT_THAT(mail_.erased, ElementsAre(erased_email));
  EXPECT_EQ(store_.guard_version(), guard + 2) << "no approval overlooks it, and what waited no longer counts";
  EXPECT_EQ(refusal_kind(store_.customers().find("cust_001", "")), RefusalKind::unknown_customer);
  const item::Item sent = *store_.get("CUSTOMER#cust_001", "SENT#20260101_030405_second");
  EXPECT_EQ(item::attribute_text(sent, "reminder_type"), "second");
  EXPECT_EQ(item::attribute_text(sent, "email_id"), erased_email);
  EXPECT_TRUE(sent.contains("ttl"));
  const item::Item foreign = *store_.get("CUSTOMER#cust_001", "SENT#20251203_030405_first");
  EXPECT_EQ(foreign.find("ttl")->as<item::Number>(),
            item::Number(base::epoch_seconds(test_start - 30 * 24h + sent_life)))
      << "it does not stay for ever, whoever wrote it";
  EXPECT_EQ(item::attribute_text(foreign, "ses_message_id"), "0000014a-f4d4-4f41-9d83-8c0a6df0c5a1-000000");
  EXPECT_THAT(store_.customers().all_overdue({}, "")->entries, IsEmpty());
}

TEST_F(ErasureTest, TellsTheSameWhenItIsRepeated) {
  const auto first = shown(erase());
  EXPECT_EQ(shown(erase()), first);
  const auto events = store_.audited();
  EXPECT_EQ(std::ranges::count(events, "customer.erased"), 1);
}

TEST_F(ErasureTest, TakesWhatAnotherProgramAddsAfterwards) {
  ASSERT_TRUE(succeeded(erase()));
  item::Item foreign = *store_.get("CUSTOMER#cust_001", "SENT#20251203_030405_first");
  foreign.set("nickname", "Ada");
  store_.put(foreign);
  EXPECT_THAT(shown(erase()), expected_report());
  EXPECT_THAT(traces(), IsEmpty());
}

TEST_F(ErasureTest, TellsWhyEachThingStays) {
  const auto why = [](const OrRefusal<ErasureReport>& report, const std::string& what) {
    const auto line = std::ranges::find(report->kept, what, &ErasureReport::Line::what);
    return line == report->kept.end() ? std::string() : line->why;
  };
  const auto cancelled = erase();
  ASSERT_TRUE(succeeded(cancelled));
  EXPECT_THAT(why(cancelled, "records of e-mails that were not sent"), HasSubstr("were not sent"));
  EXPECT_THAT(why(cancelled, "reminders that were not sent"), HasSubstr("did not get"));
  EXPECT_THAT(why(cancelled, "links from e-mails to reminders"), HasSubstr("45 days"));
}

TEST_F(ErasureTest, OfUnpaidInvoicesNeedsAWord) {
  const auto answer = erase(false);
  EXPECT_EQ(refusal_kind(answer), RefusalKind::wrong_state);
  EXPECT_THAT(refusal_text(answer), HasSubstr("not paid"));
  EXPECT_TRUE(succeeded(store_.customers().find("cust_001", "")));
  EXPECT_THAT(mail_.erased, IsEmpty());
  ASSERT_TRUE(succeeded(store_.customers().pay("cust_001", "INV-2", test_payment(), test_actor)));
  EXPECT_TRUE(succeeded(erase(false)));
}

TEST_F(ErasureTest, OfNobodyIsTold) {
  for (const std::string id : {"nobody", "", "a/b"}) {
    EXPECT_EQ(refusal_kind(erasure_.erase(id, true, test_actor)), RefusalKind::unknown_customer) << id;
    EXPECT_EQ(refusal_kind(erasure_.export_customer(id, test_actor)), RefusalKind::unknown_customer) << id;
  }
  Actor other = test_actor;
  other.tenant = "acme";
  EXPECT_EQ(refusal_kind(erasure_.erase("cust_001", true, other)), RefusalKind::unknown_customer);
  EXPECT_EQ(refusal_kind(erasure_.export_customer("cust_001", other)), RefusalKind::unknown_customer);
  EXPECT_TRUE(succeeded(store_.customers().find("cust_001", "")));
}

TEST_F(ErasureTest, AlsoOfCustomersThatOnlyOtherProgramsKnow) {
  store_.put(seed_draft("cust_009", test_start, "first"));
  store_.put(seed_sent("cust_009", test_start, "first"));
  ASSERT_TRUE(succeeded(erasure_.erase("cust_009", false, test_actor)));
  EXPECT_THAT(store_.sort_keys("CUSTOMER#cust_009"),
              UnorderedElementsAre("ERASED", "GUARD", "SENT#20260102_030405_first"));
  EXPECT_FALSE(store_.get("CUSTOMER#cust_009", "SENT#20260102_030405_first")->contains("email_content"));
}

TEST_F(ErasureTest, OfARecordThatCannotBeRead) {
  item::Item profile = *store_.get("CUSTOMER#cust_001", "PROFILE");
  profile.set("complaints", "many");
  store_.put(profile);
  EXPECT_TRUE(succeeded(erase()));
  EXPECT_THAT(traces(), IsEmpty());
}

TEST_F(ErasureTest, WaitsForAReminderThatIsBeingSent) {
  mail_.change(erased_email, [](outbox::Email& email) { email.state = outbox::State::processing; });
  const auto answer = erase();
  EXPECT_EQ(refusal_kind(answer), RefusalKind::busy);
  EXPECT_THAT(refusal_text(answer), HasSubstr("being sent"));
  EXPECT_THAT(traces(), ElementsAre(std::string("e-mail ") + erased_email)) << "everything else is gone";
  const auto returns = store_.customers().put(test_customer(), test_actor);
  EXPECT_EQ(refusal_kind(returns), RefusalKind::wrong_state) << "not before it is finished";
  mail_.change(erased_email, [](outbox::Email& email) { email.state = outbox::State::sent; });
  EXPECT_THAT(shown(erase()), expected_report(true));
  EXPECT_THAT(traces(), IsEmpty());
}

TEST_F(ErasureTest, GoesOnByItselfAfterAWhile) {
  mail_.change(erased_email, [](outbox::Email& email) { email.state = outbox::State::processing; });
  EXPECT_EQ(refusal_kind(erase()), RefusalKind::busy);
  Erasure erasure(store_.records(), mail_);
  EXPECT_EQ(erasure.run_once().value_or(-1), 0) << "whoever has begun it may repeat it";
  store_.time().advance(1min);
  EXPECT_EQ(erasure.run_once().value_or(-1), 0) << "it is still being sent";
  EXPECT_EQ(store_.records().troubles().erasures, 1);
  mail_.change(erased_email, [](outbox::Email& email) { email.state = outbox::State::sent; });
  EXPECT_EQ(erasure.run_once().value_or(-1), 0) << "not all the time";
  store_.time().advance(1min);
  EXPECT_EQ(erasure.run_once().value_or(-1), 1);
  EXPECT_THAT(traces(), IsEmpty());
  const auto events = store_.audited();
  EXPECT_EQ(std::ranges::count(events, "customer.erased"), 1);
  store_.time().advance(1min);
  EXPECT_EQ(erasure.run_once().value_or(-1), 0) << "it is finished";
  EXPECT_TRUE(succeeded(store_.customers().put(test_customer(), test_actor)));
}

TEST_F(ErasureTest, TakesTheEmailOfAReminderThatAnotherProgramHasSpoilt) {
  item::Item sent = *store_.get("CUSTOMER#cust_001", "SENT#20260101_030405_second");
  sent.set("reminder_type", 5);
  store_.put(sent);
  ASSERT_TRUE(succeeded(erase()));
  EXPECT_THAT(traces(), IsEmpty());
}

TEST_F(ErasureTest, OfARecordThatCannotBeReadKeepsTheObjection) {
  ASSERT_TRUE(succeeded(store_.customers().opt_out("cust_001", "asked", test_actor)));
  item::Item profile = *store_.get("CUSTOMER#cust_001", "PROFILE");
  profile.set("version", "two");
  store_.put(profile);
  ASSERT_TRUE(succeeded(erase()));
  EXPECT_TRUE(succeeded(store_.customers().put(test_customer(), test_actor)));
  EXPECT_TRUE(store_.customers().find("cust_001", "")->opted_out);
}

TEST_F(ErasureTest, OfARecordThatAnotherProgramHasRemovedKeepsTheObjection) {
  store_.remove("CUSTOMER#cust_001", "PROFILE");
  EXPECT_THAT(shown(erase()), Contains("kept 1 objection to reminders"));
  EXPECT_THAT(traces(), IsEmpty());
  EXPECT_TRUE(succeeded(store_.customers().put(test_customer(), test_actor)));
  EXPECT_TRUE(store_.customers().find("cust_001", "")->opted_out);
}

TEST_F(ErasureTest, DecisionsCountWhenTheCustomerComesBack) {
  ASSERT_TRUE(succeeded(store_.customers().complain("cust_001", "", test_actor)));
  ASSERT_TRUE(succeeded(erase()));
  const auto back = store_.customers().put(test_customer(), test_actor);
  ASSERT_TRUE(succeeded(back));
  EXPECT_TRUE(back->opted_out);
  EXPECT_EQ(back->complaints, 1);
  const auto guard = store_.records().guard(Keys(""), "cust_001");
  ASSERT_TRUE(succeeded(guard));
  EXPECT_EQ(guard->last.size(), 1U) << "what was sent before still counts";
  ASSERT_TRUE(succeeded(erase()));
  EXPECT_THAT(traces(), IsEmpty()) << "also the second time";
}

// The process ends before or after each of its writes; then it is repeated.
TEST(ErasureFailures, AtAnyStepAreMendedByRepeating) {
  for (const WriteFault fault : {WriteFault::ended_before, WriteFault::ended_after}) {
    int number = 1;
    for (bool was_hit = true; was_hit; ++number) {
      CustomerToErase customer;
      customer.mail_.suppress("ada@example.org");
      FailingStore failing(customer.store_.engine());
      ReminderStore records(failing, {}, Rules::usual(), customer.store_.time(), customer.store_.random(),
                            customer.store_.retry());
      failing.fail_at(number, fault);
      const auto answer = Erasure(records, customer.mail_).erase("cust_001", true, test_actor);
      was_hit = failing.has_failed();
      EXPECT_EQ(answer.has_value(), !was_hit);
      Erasure again(customer.store_.records(), customer.mail_);
      EXPECT_THAT(CustomerToErase::shown(again.erase("cust_001", true, test_actor)), CustomerToErase::expected_report())
          << number;
      EXPECT_THAT(customer.traces(), IsEmpty()) << number;
      EXPECT_THAT(customer.store_.sort_keys("CUSTOMER#cust_001"), CustomerToErase::expected_records());
    }
    EXPECT_EQ(number, 8) << "the end of another program's record, the customer, what waits, the e-mail's reminder, "
                            "the records, the end; and once nothing fails";
  }
}

TEST(ErasureFailures, SayThatItHasBegun) {
  CustomerToErase customer;
  FailingStore watched(customer.store_.engine());
  ReminderStore records(watched, {}, Rules::usual(), customer.store_.time(), customer.store_.random(),
                        customer.store_.retry());
  Erasure erasure(records, customer.mail_);
  customer.mail_.fails = true;
  const auto before = erasure.erase("cust_001", true, test_actor);
  EXPECT_EQ(refusal_kind(before), RefusalKind::unavailable) << "nothing was done";
  EXPECT_TRUE(customer.store_.get("CUSTOMER#cust_001", "PROFILE"));
  customer.mail_.fails = false;
  watched.meet_at_write(3, [&] { customer.mail_.fails = true; });
  const auto within = erasure.erase("cust_001", true, test_actor);
  EXPECT_EQ(refusal_kind(within), RefusalKind::outcome_unknown);
  EXPECT_THAT(refusal_text(within), HasSubstr("the erasure of the customer cust_001 has begun"));
  EXPECT_THAT(refusal_text(within), HasSubstr("repeat it, and it goes on where it was"));
  EXPECT_FALSE(customer.store_.get("CUSTOMER#cust_001", "PROFILE"));
  customer.mail_.fails = false;
  EXPECT_TRUE(succeeded(erasure.erase("cust_001", true, test_actor)));
  EXPECT_THAT(customer.traces(), IsEmpty());
}

// Something happens just before an e-mail is accepted.
class MailerWithMeeting final : public ReminderMailer {
 public:
  MailerWithMeeting(ReminderMailer& inner, std::function<void()> meeting)
      : inner_(inner), meeting_(std::move(meeting)) {}

  bool shares_commits() const override { return false; }
  outbox::JoinedOutcome accept_with(const outbox::Payload& payload, const std::string& tenant,
                                    std::vector<store::TransactAction> actions) override {
    return inner_.accept_with(payload, tenant, std::move(actions));
  }
  base::Result<void> accept(const outbox::Payload& payload, const std::string& tenant) override {
    meeting_();
    return inner_.accept(payload, tenant);
  }
  base::Result<std::optional<MailedReminder>> find(const std::string& id, const std::string& tenant) override {
    return inner_.find(id, tenant);
  }
  std::string message_id_of(const std::string& id, const std::string& sender) const override {
    return inner_.message_id_of(id, sender);
  }
  base::Result<bool> is_suppressed(const std::string& address, const std::string& tenant) override {
    return inner_.is_suppressed(address, tenant);
  }
  base::Result<std::optional<MailedReminder>> cancel(const std::string& id, const std::string& tenant,
                                                     const std::string& reason) override {
    return inner_.cancel(id, tenant, reason);
  }
  base::Result<bool> erase(const std::string& id, const std::string& tenant) override {
    return inner_.erase(id, tenant);
  }

 private:
  ReminderMailer& inner_;
  const std::function<void()> meeting_;
};

class ErasureInFlight : public ::testing::Test {
 protected:
  ErasureInFlight() { EXPECT_TRUE(succeeded(store_.customers().put(test_customer(), test_actor))); }

  // Has the outbox of others, which shares no commits, an e-mail that goes out?
  bool goes_out() {
    const auto payloads = mail_.payloads();
    return std::ranges::any_of(payloads, [](const outbox::Payload& payload) { return !payload.to.empty(); });
  }
  bool is_told() { return store_.has_anywhere(store_.records().tables().tracking, "Dear John"); }
  // The record, the audit and the counts tell that the only reminder was cancelled, and why.
  void expect_cancelled(const SentReminder& reminder) {
    const item::Item sent = store_.get("CUSTOMER#cust_001", "SENT#" + reminder.id).value();
    EXPECT_EQ(item::attribute_text(sent, "delivery_status"), "cancelled");
    EXPECT_EQ(item::attribute_text(sent, "GSI1PK"), "STATUS#failed");
    std::vector<std::string> events;
    for (const item::Item& event : store_.scan(store_.records().tables().audit()))
      if (item::attribute_text(event, "action") == "reminder.cancelled")
        events.push_back(item::attribute_text(event, "actor") + ": " +
                         item::attribute_text(event.find("details")->as<item::Map>(), "reason"));
    EXPECT_THAT(events, ElementsAre("ann: the customer's data was erased"));
    auto summary = Summary(store_.records()).of_day("2026-01-02", "");
    ASSERT_TRUE(succeeded(summary));
    EXPECT_EQ(summary->counts["cancelled"], 1);
  }

  CustomersEnvironment store_;
  MemoryReminderMailer mail_;
  Erasure erasure_{store_.records(), mail_};
};

TEST_F(ErasureInFlight, AReminderThatReachesTheOutboxAfterwardsIsCancelledThere) {
  bool was_met = false;
  MailerWithMeeting mail(mail_, [&] {
    was_met = true;
    EXPECT_TRUE(succeeded(erasure_.erase("cust_001", true, test_actor)));
  });
  ReminderOffice office(store_, &mail);
  ASSERT_TRUE(succeeded(office.approve(put_draft(store_, "cust_001", "first"))));
  EXPECT_TRUE(succeeded(office.handovers.run_once()));
  EXPECT_TRUE(was_met);
  EXPECT_FALSE(goes_out());
  EXPECT_FALSE(is_told());
}

TEST_F(ErasureInFlight, NothingIsAddedToACustomerWhoIsErasedAtThisMoment) {
  FailingStore watched(store_.engine());
  ReminderStore records(watched, {}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  Customers customers(records);
  const auto erase_first = [&](const char* what) {
    ASSERT_TRUE(succeeded(store_.customers().put(test_customer(), test_actor))) << what;
    watched.meet_at_write(1, [&] { EXPECT_TRUE(succeeded(erasure_.erase("cust_001", true, test_actor))); });
  };
  erase_first("an invoice");
  EXPECT_EQ(refusal_kind(customers.put_invoice(test_invoice("INV-1", "2026-01-01"), test_actor)),
            RefusalKind::unknown_customer);
  erase_first("an objection");
  EXPECT_EQ(refusal_kind(customers.opt_out("cust_001", "Ada", test_actor)), RefusalKind::unknown_customer);
  ASSERT_TRUE(succeeded(store_.customers().put(test_customer(), test_actor)));
  ASSERT_TRUE(succeeded(store_.customers().put_invoice(test_invoice("INV-2", "2026-01-01"), test_actor)));
  erase_first("a payment");
  EXPECT_EQ(refusal_kind(customers.pay("cust_001", "INV-2", test_payment(), test_actor)),
            RefusalKind::unknown_customer);
  EXPECT_THAT(store_.sort_keys("CUSTOMER#cust_001"), UnorderedElementsAre("ERASED", "GUARD"));
}

// Texts that people or other programs give a draft, at any moment of an erasure and the other way round.
TEST_F(ErasureInFlight, ATextThatIsWrittenAtThisMomentDoesNotStay) {
  FailingStore watched(store_.engine());
  ReminderStore records(watched, {}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  const auto write_texts = [&](ReminderStore& through, const std::string& draft) {
    Customers customers(through);
    Templates templates(through);
    Drafts drafts(through, customers, templates, mail_);
    (void)drafts.find(draft, "");
    (void)drafts.revise(draft, 1, {"Please pay", "Dear Ada", ""}, test_actor);
  };
  const auto erase = [&](ReminderStore& through) {
    EXPECT_TRUE(succeeded(Erasure(through, mail_).erase("cust_001", true, test_actor)));
  };
  for (const bool is_erasure_first : {true, false}) {
    bool was_met = true;
    int moments = 0;
    for (; was_met; ++moments) {
      was_met = false;
      ASSERT_TRUE(succeeded(store_.customers().put(test_customer(), test_actor)));
      const std::string draft = put_draft(store_, "cust_001", "first");
      watched.meet_at(moments + 1, [&] {
        was_met = true;
        is_erasure_first ? write_texts(store_.records(), draft) : erase(store_.records());
      });
      is_erasure_first ? erase(records) : write_texts(records, draft);
      if (!is_erasure_first && !was_met) erase(store_.records());
      EXPECT_THAT(store_.sort_keys("CUSTOMER#cust_001"), UnorderedElementsAre("ERASED", "GUARD")) << moments;
    }
    EXPECT_GT(moments, 10);
  }
}

TEST_F(ErasureInFlight, AnApprovedReminderThatIsJustHandedOverIsCancelled) {
  FailingStore watched(store_.engine());
  ReminderOffice office(store_, watched, &mail_);
  const auto sent = office.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  bool was_met = false;
  watched.meet_at_write(1, [&] {
    was_met = true;
    EXPECT_TRUE(goes_out()) << "it is in the outbox, and that is not written down yet";
    EXPECT_TRUE(succeeded(erasure_.erase("cust_001", true, test_actor)));
  });
  EXPECT_TRUE(succeeded(office.handovers.run_once()));
  EXPECT_TRUE(was_met);
  EXPECT_FALSE(goes_out());
  EXPECT_FALSE(is_told());
}

TEST_F(ErasureInFlight, AnApprovalAtThisMomentIsRefused) {
  FailingStore watched(store_.engine());
  ReminderOffice office(store_, watched, &mail_);
  const std::string draft = put_draft(store_, "cust_001", "first");
  watched.meet_at_write(1, [&] { EXPECT_TRUE(succeeded(erasure_.erase("cust_001", true, test_actor))); });
  EXPECT_EQ(outcome_of(office.approve(draft)), "unknown_draft");
  EXPECT_TRUE(succeeded(office.handovers.run_once()));
  EXPECT_FALSE(goes_out());
  EXPECT_FALSE(is_told());
}

TEST_F(ErasureInFlight, WhatBecomesOfItIsWrittenDownWithoutWords) {
  ReminderOffice office(store_, &mail_);
  const auto sent = office.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  ASSERT_TRUE(succeeded(office.handovers.run_once()));
  mail_.change(sent->email_id, [](outbox::Email& email) { email.state = outbox::State::sent; });
  ASSERT_TRUE(succeeded(erasure_.erase("cust_001", true, test_actor)));
  mail_.change(sent->email_id, [](outbox::Email& email) {
    email.bounces.push_back({"john@example.com", "5.1.1", "no such user john@example.com", true, {}});
  });
  office.deliveries.note(sent->email_id);
  ASSERT_TRUE(succeeded(office.deliveries.run_once()));
  EXPECT_EQ(office.history.find("cust_001", sent->id, "")->delivery, DeliveryStatus::bounced);
  EXPECT_FALSE(store_.has_anywhere(store_.records().tables().tracking, "john@example.com"));
}

TEST_F(ErasureInFlight, ConcurrentApprovalsAndErasureLeaveNoEmail) {
  for (int round = 0; round < base::volume(15) + 3; ++round) {
    const std::string id = "cust_" + std::to_string(round);
    ASSERT_TRUE(succeeded(store_.customers().put(test_customer(id), test_actor)));
    const std::string draft = put_draft(store_, id, "first");
    ReminderOffice office(store_, &mail_);
    base::run_threads(3, [&](int thread) {
      if (thread == 0) (void)office.approve(draft);
      if (thread == 1) (void)office.handovers.run_once();
      if (thread == 2) EXPECT_TRUE(succeeded(erasure_.erase(id, true, test_actor)));
    });
    EXPECT_TRUE(succeeded(office.handovers.run_once()));
    EXPECT_FALSE(goes_out());
    EXPECT_FALSE(is_told());
  }
}

TEST_F(ErasureInFlight, AReminderThatTheOutboxDoesNotHaveYetIsCancelled) {
  ReminderOffice office(store_, &mail_);
  const auto sent = office.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  ASSERT_TRUE(succeeded(erasure_.erase("cust_001", true, test_actor)));
  EXPECT_FALSE(store_.get(Keys::handover(Keys::work_shard(sent->email_id)), sent->email_id));
  expect_cancelled(*sent);
  EXPECT_TRUE(succeeded(office.handovers.run_once()));
  EXPECT_FALSE(goes_out());
  EXPECT_FALSE(is_told());
}

// With the outbox in the same store, where approval and e-mail are one commit.
TEST_F(ErasureInFlight, AReminderThatWaitsInTheOutboxIsCancelled) {
  ReminderOffice office(store_);
  Erasure erasure(office.records, office.mail);
  const auto sent = office.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  const auto report = erasure.erase("cust_001", true, test_actor);
  ASSERT_TRUE(succeeded(report));
  expect_cancelled(*sent);
  ASSERT_THAT(office.emails(), ::testing::SizeIs(1));
  EXPECT_EQ(office.emails().front().state, outbox::State::cancelled);
  EXPECT_FALSE(office.outbox.payload(office.emails().front().id, "", [](std::size_t) { return true; }));
  for (const std::string text : {"Dear John", "ada@example.org", "Ada"})
    EXPECT_FALSE(store_.has_anywhere(store_.records().tables().tracking, text)) << text;
}

TEST_F(ErasureTest, AnOutboxThatFailsIsAskedAgain) {
  mail_.fails = true;
  EXPECT_FALSE(erase());
  EXPECT_TRUE(succeeded(store_.customers().find("cust_001", ""))) << "it cannot tell whether the address is suppressed";
  mail_.fails = false;
  EXPECT_THAT(shown(erase()), expected_report());
}

TEST_F(ErasureTest, ExportHasEveryRecord) {
  put_record("NOTE#2", {{"exact", item::Number::parse("0.1000000000000000000001").value()},
                        {"set", item::StringSet({"b", "a"})},
                        {"nothing", item::Null()},
                        {"bytes", item::Binary{"\x01"}}});
  const auto text = erasure_.export_customer("cust_001", test_actor);
  ASSERT_TRUE(succeeded(text));
  json::Document document;
  json::FieldErrors errors;
  ASSERT_TRUE(document.parse(*text, errors)) << *text;
  const auto at = [&](const char* pointer) {
    const auto found = json::find_at(document.root(), pointer);
    return found ? found->compact() : "none";
  };
  EXPECT_EQ(at("/customer_id"), "\"cust_001\"");
  EXPECT_EQ(at("/profile/customer_email"), "\"ada@example.org\"");
  EXPECT_EQ(at("/profile/opt_out_reason"), "\"Ada said so\"");
  EXPECT_EQ(at("/objection/opt_out"), "true");
  EXPECT_EQ(at("/invoices/1/invoice_id"), "\"INV-2\"");
  EXPECT_EQ(at("/invoices/2"), "none");
  EXPECT_EQ(at("/invoices/0/payments/0/amount"), "100");
  EXPECT_EQ(at("/drafts/1/overdue_amount"), "1500");
  EXPECT_EQ(at("/revisions/0/email_content"), "\"Dear Ada, earlier\"");
  EXPECT_EQ(at("/sent_reminders/1/email_content"), "\"Dear Ada\"");
  EXPECT_EQ(at("/overrides/0/body_template"), "\"Dear Ada\"");
  EXPECT_EQ(at("/others/0/text"), "\"Ada is nice\"");
  EXPECT_THAT(*text, HasSubstr("\"exact\":0.1000000000000000000001"));
  EXPECT_EQ(at("/others/1/set"), "[\"a\",\"b\"]");
  EXPECT_EQ(at("/others/1/bytes"), "\"AQ==\"");
  EXPECT_THAT(at("/audit"), HasSubstr("customers/cust_001/invoices/INV-1"));
  EXPECT_THAT(store_.audited(), Contains("customer.exported"));
}

TEST_F(ErasureTest, ExportOfACustomerWhoseIdIsAWordOfSubjectsHasNothingOfOthers) {
  ASSERT_TRUE(succeeded(store_.customers().put(test_customer("customers"), test_actor)));
  const auto text = erasure_.export_customer("customers", test_actor);
  ASSERT_TRUE(succeeded(text));
  EXPECT_THAT(*text, HasSubstr("\"customers/customers\""));
  EXPECT_THAT(*text, Not(HasSubstr("cust_001")));
}

TEST_F(ErasureTest, ExportHasNothingOfOthers) {
  ASSERT_TRUE(succeeded(store_.customers().put(test_customer("cust_0011"), test_actor)));
  ASSERT_TRUE(
      succeeded(store_.customers().put_invoice(test_invoice("INV-9", "2025-12-01", "9", "cust_0011"), test_actor)));
  const auto text = erasure_.export_customer("cust_001", test_actor);
  ASSERT_TRUE(succeeded(text));
  EXPECT_EQ(text->find("cust_0011"), std::string::npos);
  EXPECT_EQ(text->find("INV-9"), std::string::npos);
}

}  // namespace
}  // namespace postino::reminders
