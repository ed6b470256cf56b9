// Reminders that were approved, and have not gone out, of customers who get none any more.
#include "item/attribute_text.h"
#include "reminder_office.h"
#include "reminders/erasure.h"
#include "reminders/imports.h"
#include "reminders/record/reminder_mail.h"
#include "reminders/record/watch.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using outbox::State;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Actor recall_actor{.tenant = "", .name = "ann", .key = {}, .from = {}};

class RecallsOfReminders : public ::testing::Test {
 protected:
  RecallsOfReminders() {
    Customer customer;
    customer.id = "cust_001";
    customer.name = "John Doe";
    customer.email = "john@example.com";
    EXPECT_TRUE(succeeded(office_.customers.put(customer, recall_actor)));
    Invoice invoice;
    invoice.customer_id = "cust_001";
    invoice.id = "INV-001";
    invoice.amount = Money::parse("1500.00", "USD").value();
    invoice.due_date = "2025-12-01";
    EXPECT_TRUE(succeeded(office_.customers.put_invoice(invoice, recall_actor)));
  }

  SentReminder approved() {
    auto sent = office_.approve(put_draft(store_, "cust_001", "first", store_.time().now()));
    EXPECT_TRUE(succeeded(sent));
    return sent ? *sent : SentReminder();
  }
  SentReminder handed_over() {
    SentReminder sent = approved();
    EXPECT_EQ(office_.handovers.run_once().value_or(-1), 1);
    return sent;
  }
  void become(const SentReminder& sent, State state) {
    mail_.change(sent.email_id, [&](outbox::Email& email) { email.state = state; });
  }
  State state_of(const SentReminder& sent) { return mail_.find(sent.email_id, "").value().value().state; }
  SentReminder record(const SentReminder& sent) {
    return office_.history.find("cust_001", sent.id, "").value_or(SentReminder());
  }
  std::vector<LastSent> last() { return office_.records.guard(Keys(""), "cust_001")->last; }
  OrRefusal<Stopping<Customer>> opt_out() { return office_.customers.opt_out("cust_001", "asked", recall_actor); }
  // As a process does that ends before it has called anything back.
  void opt_out_alone() {
    EXPECT_TRUE(succeeded(Customers(office_.records).opt_out("cust_001", "asked", recall_actor)));
  }
  void expect_cancelled(const SentReminder& sent, const std::string& why) {
    EXPECT_EQ(record(sent).delivery, DeliveryStatus::cancelled);
    EXPECT_EQ(record(sent).failure, why);
    EXPECT_THAT(last(), IsEmpty()) << "it no longer counts for the rules";
    EXPECT_EQ(office_.customers.find("cust_001", "")->reminders_sent, 0);
  }

  // Of events of this action: what has become of the reminder, and why.
  std::vector<std::string> audited(const std::string& action) {
    std::vector<std::string> told;
    for (const item::Item& event : store_.scan("EmailTrackingTable-audit")) {
      if (item::attribute_text(event, "action") != action) continue;
      EXPECT_EQ(item::attribute_text(event, "actor"), "ann");
      const auto& details = event.find("details")->as<item::Map>();
      told.push_back(item::attribute_text(details, "delivery") + ": " + item::attribute_text(details, "reason"));
    }
    return told;
  }

  RemindersStore store_;
  MemoryReminderMailer mail_;
  ReminderOffice office_{store_, &mail_};
};

TEST_F(RecallsOfReminders, AreOfWhateverStopsTheCustomer) {
  const SentReminder first = handed_over();
  const auto out = opt_out();
  ASSERT_TRUE(succeeded(out));
  EXPECT_TRUE(out->opted_out);
  EXPECT_THAT(out->recalled.cancelled, ElementsAre(first.id));
  EXPECT_THAT(out->recalled.being_sent, IsEmpty());
  EXPECT_EQ(state_of(first), State::cancelled);
  expect_cancelled(first, "the customer has opted out of reminders");

  ASSERT_TRUE(succeeded(office_.customers.opt_in("cust_001", recall_actor)));
  const SentReminder second = handed_over();
  const auto complained = office_.customers.complain("cust_001", "angry", recall_actor);
  ASSERT_TRUE(succeeded(complained));
  EXPECT_THAT(complained->recalled.cancelled, ElementsAre(second.id));
  expect_cancelled(second, "the customer has complained about reminders");

  ASSERT_TRUE(succeeded(office_.customers.opt_in("cust_001", recall_actor)));
  const SentReminder third = handed_over();
  Payment part;
  part.amount = "1.00";
  const auto partly = office_.customers.pay("cust_001", "INV-001", part, recall_actor);
  ASSERT_TRUE(succeeded(partly));
  EXPECT_THAT(partly->recalled.cancelled, IsEmpty()) << "something is still overdue";
  const auto paid = office_.customers.pay("cust_001", "INV-001", {}, recall_actor);
  ASSERT_TRUE(succeeded(paid));
  EXPECT_THAT(paid->recalled.cancelled, ElementsAre(third.id));
  expect_cancelled(third, "nothing of what was overdue is left to be paid");
  EXPECT_THAT(mail_.payloads(), SizeIs(3));
}

class RecallsOfPaidReminders : public RecallsOfReminders {
 protected:
  // The draft of the seed names two.
  RecallsOfPaidReminders() {
    for (const std::string id : {"INV-002", "INV-003"}) {
      Invoice invoice = office_.customers.find_invoice("cust_001", "INV-001", "").value();
      invoice.id = id;
      EXPECT_TRUE(succeeded(office_.customers.put_invoice(invoice, recall_actor)));
    }
  }
  void pay_alone(const std::string& invoice) {
    EXPECT_TRUE(succeeded(Customers(office_.records).pay("cust_001", invoice, {}, recall_actor)));
  }

  const std::string why_ = "the invoices that it names are no longer overdue";
};

TEST_F(RecallsOfPaidReminders, AreOfThoseThatNameNothingElse) {
  const SentReminder sent = handed_over();
  const auto first = office_.customers.pay("cust_001", "INV-001", {}, recall_actor);
  ASSERT_TRUE(succeeded(first));
  EXPECT_THAT(first->recalled.cancelled, IsEmpty()) << "the other one is overdue";
  const auto second = office_.customers.pay("cust_001", "INV-002", {}, recall_actor);
  ASSERT_TRUE(succeeded(second));
  EXPECT_THAT(second->recalled.cancelled, ElementsAre(sent.id));
  expect_cancelled(sent, why_);
  EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_001", "first"))), "stopped")
      << "a draft that names only what is paid";
}

TEST_F(RecallsOfPaidReminders, AreNotNeededToKeepThemFromGoingOut) {
  const SentReminder sent = handed_over();
  store_.time().advance(8 * 24h);
  const SentReminder waiting = approved();
  pay_alone("INV-001");
  pay_alone("INV-002");
  EXPECT_EQ(office_.deliveries.why_not_send(mail_.find(sent.email_id, "").value().value()), why_);
  EXPECT_TRUE(succeeded(office_.handovers.run_once()));
  EXPECT_EQ(record(waiting).failure, why_);
  const auto requeued = office_.deliveries.check_requeue(sent.email_id);
  ASSERT_FALSE(requeued);
  EXPECT_EQ(requeued.error().kind, RefusalKind::wrong_state) << "the look before it has called it back";
  EXPECT_EQ(record(sent).failure, why_);
}

TEST_F(RecallsOfReminders, AreOfAnOptOutThatIsImportedToo) {
  const SentReminder sent = handed_over();
  Customer customer = office_.customers.find("cust_001", "").value();
  customer.opted_out = true;
  ASSERT_TRUE(succeeded(office_.customers.take(customer, recall_actor)));
  expect_cancelled(sent, "the customer has opted out of reminders");
}

TEST_F(RecallsOfReminders, LeaveNothingToHandOver) {
  const SentReminder sent = approved();
  const auto out = opt_out();
  ASSERT_TRUE(succeeded(out));
  EXPECT_THAT(out->recalled.cancelled, ElementsAre(sent.id));
  expect_cancelled(sent, "the customer has opted out of reminders");
  EXPECT_EQ(office_.handovers.run_once().value_or(-1), 0);
  EXPECT_THAT(mail_.payloads(), IsEmpty());
}

TEST_F(RecallsOfReminders, TellWhatIsBeingSent) {
  const SentReminder sent = handed_over();
  become(sent, State::processing);
  const auto out = opt_out();
  ASSERT_TRUE(succeeded(out));
  EXPECT_THAT(out->recalled.cancelled, IsEmpty());
  EXPECT_THAT(out->recalled.being_sent, ElementsAre(sent.id));
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::queued);
  // The worker is done with it: then it was sent, and counts.
  become(sent, State::sent);
  office_.deliveries.note(sent.email_id);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::sent);
  EXPECT_THAT(last(), SizeIs(1));
  const auto again = opt_out();
  ASSERT_TRUE(succeeded(again));
  EXPECT_THAT(again->recalled.being_sent, IsEmpty());
}

TEST_F(RecallsOfReminders, GoOnWhenTheMailServerPutsOneOff) {
  const SentReminder sent = handed_over();
  become(sent, State::processing);
  ASSERT_TRUE(succeeded(opt_out()));
  become(sent, State::ready);  // it waits for its next attempt
  office_.deliveries.note(sent.email_id);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
  EXPECT_EQ(state_of(sent), State::cancelled);
  expect_cancelled(sent, "the customer has opted out of reminders");
}

TEST_F(RecallsOfReminders, AreMadeUpForByOthersWhenTheProcessEnds) {
  const SentReminder sent = handed_over();
  opt_out_alone();
  EXPECT_EQ(state_of(sent), State::ready);
  store_.time().advance(10s);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
  EXPECT_EQ(state_of(sent), State::cancelled);
  expect_cancelled(sent, "the customer has opted out of reminders");
}

TEST_F(RecallsOfReminders, AreMadeUpForByWhoHandsOver) {
  const SentReminder sent = approved();
  opt_out_alone();
  EXPECT_TRUE(succeeded(office_.handovers.run_once()));
  EXPECT_THAT(mail_.payloads(), IsEmpty());
  EXPECT_THAT(store_.sort_keys(Keys::handover(Keys::work_shard(sent.email_id))), IsEmpty());
  expect_cancelled(sent, "the customer has opted out of reminders");
}

TEST_F(RecallsOfReminders, MeetAHandOver) {
  const SentReminder sent = approved();
  mail_.before_accept = [&] {
    const auto out = opt_out();
    ASSERT_TRUE(succeeded(out));
    EXPECT_THAT(out->recalled.cancelled, ElementsAre(sent.id));
  };
  EXPECT_TRUE(succeeded(office_.handovers.run_once()));
  EXPECT_EQ(state_of(sent), State::cancelled);
  expect_cancelled(sent, "the customer has opted out of reminders");
}

TEST_F(RecallsOfReminders, DoNotKeepACustomerFromOptingOut) {
  const SentReminder sent = handed_over();
  mail_.fails = true;
  const auto out = opt_out();
  ASSERT_TRUE(succeeded(out));
  EXPECT_TRUE(office_.customers.find("cust_001", "")->opted_out);
  EXPECT_THAT(out->recalled.not_recalled, ElementsAre(sent.id));
  EXPECT_THAT(out->recalled.trouble, HasSubstr("the outbox is away"));
  EXPECT_EQ(office_.records.troubles().recalls, 1) << "operators are told";
  EXPECT_THAT(out->recalled.being_sent, IsEmpty()) << "no worker has it";
  mail_.fails = false;
  const auto again = opt_out();
  ASSERT_TRUE(succeeded(again));
  EXPECT_THAT(again->recalled.cancelled, ElementsAre(sent.id)) << "who asks again tries again";
}

TEST_F(RecallsOfReminders, OfWhatMayHaveGoneOutBeforeGoOnCounting) {
  const SentReminder sent = handed_over();
  mail_.change(sent.email_id, [](MailedReminder& email) { email.may_have_gone_out = true; });
  const auto out = opt_out();
  ASSERT_TRUE(succeeded(out));
  EXPECT_THAT(out->recalled.perhaps_sent, ElementsAre(sent.id));
  EXPECT_THAT(out->recalled.cancelled, IsEmpty());
  EXPECT_EQ(state_of(sent), State::cancelled) << "it is not tried again";
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::unknown);
  EXPECT_THAT(record(sent).failure, HasSubstr("opted out of reminders; an attempt before may have reached"));
  EXPECT_THAT(last(), SizeIs(1));
  EXPECT_EQ(out->reminders_sent, 1);
  ASSERT_TRUE(succeeded(office_.customers.opt_in("cust_001", recall_actor)));
  EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_001", "first"))), "too_soon");
  EXPECT_THAT(audited("reminder.cancelled"), ElementsAre("unknown: the customer has opted out of reminders"));
}

TEST_F(RecallsOfReminders, OfWhatWasGivenUpAfterAnUnknownOutcomeGoOnCounting) {
  const SentReminder sent = handed_over();
  mail_.change(sent.email_id, [](MailedReminder& email) {
    email.may_have_gone_out = true;
    email.state = State::failed;
  });
  office_.deliveries.note(sent.email_id);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::unknown);
  EXPECT_THAT(last(), SizeIs(1));
}

TEST_F(RecallsOfReminders, FindTheEmailOfARecordThatAnotherProgramHasSpoilt) {
  const auto spoil = [&](const SentReminder& sent, const std::string& name, item::AttributeValue value) {
    item::Item item = *store_.get("CUSTOMER#cust_001", "SENT#" + sent.id);
    item.set(name, std::move(value));
    store_.put(item);
  };
  // Its type, its version, its word for the delivery, a word of ours, the e-mail, and all of it.
  for (int way = 0; way < 6; ++way) {
    SCOPED_TRACE(way);
    const SentReminder sent = handed_over();
    if (way == 0) spoil(sent, "reminder_type", 5);
    if (way == 1) spoil(sent, "version", *item::Number::parse("9223372036854775807"));
    if (way == 2) spoil(sent, "delivery_status", "delivered");
    if (way == 3) spoil(sent, "delivery_status", "sent");
    if (way == 4) spoil(sent, "email_id", item::List{});
    if (way == 5) store_.remove("CUSTOMER#cust_001", "SENT#" + sent.id);
    const auto out = opt_out();
    ASSERT_TRUE(succeeded(out));
    EXPECT_THAT(out->recalled.cancelled, ElementsAre(sent.id));
    EXPECT_EQ(state_of(sent), State::cancelled);
    store_.remove("CUSTOMER#cust_001", "SENT#" + sent.id);
    ASSERT_TRUE(succeeded(office_.customers.opt_in("cust_001", recall_actor)));
  }
}

TEST_F(RecallsOfReminders, OfASpoiltRecordThatWaitsToBeHandedOver) {
  const SentReminder sent = approved();
  item::Item item = *store_.get("CUSTOMER#cust_001", "SENT#" + sent.id);
  item.set("reminder_type", 5);
  store_.put(item);
  const auto out = opt_out();
  ASSERT_TRUE(succeeded(out));
  EXPECT_THAT(out->recalled.cancelled, ElementsAre(sent.id));
  EXPECT_EQ(office_.handovers.run_once().value_or(-1), 0);
  EXPECT_THAT(mail_.payloads(), IsEmpty());
}

TEST_F(RecallsOfReminders, ReachAnEmailThatIsInTheOutboxAlthoughItIsToBeHandedOver) {
  const SentReminder sent = approved();
  const item::Item handover = *store_.get(Keys::handover(Keys::work_shard(sent.email_id)), sent.email_id);
  EXPECT_EQ(office_.handovers.run_once().value_or(-1), 1);
  store_.put(handover);  // as if the process had ended before it could remove it
  ASSERT_TRUE(succeeded(opt_out()));
  EXPECT_EQ(state_of(sent), State::cancelled);
  EXPECT_TRUE(succeeded(office_.handovers.run_once()));
  expect_cancelled(sent, "the customer has opted out of reminders");
}

TEST_F(RecallsOfReminders, AreToldOfAChangedInvoice) {
  const SentReminder sent = handed_over();
  Invoice invoice = office_.customers.find_invoice("cust_001", "INV-001", "").value();
  invoice.due_date = "2027-01-01";
  const auto changed = office_.customers.put_invoice(invoice, recall_actor);
  ASSERT_TRUE(succeeded(changed));
  EXPECT_THAT(changed->recalled.cancelled, ElementsAre(sent.id));
  expect_cancelled(sent, "no invoice of the customer is overdue any more");
  EXPECT_THAT(audited("reminder.cancelled"), ElementsAre("cancelled: no invoice of the customer is overdue any more"));
}

TEST_F(RecallsOfReminders, AreToldOfAnImport) {
  const SentReminder sent = handed_over();
  Imports imports(office_.customers);
  const auto report = imports.run(ImportKind::invoices, ImportFormat::csv,
                                  "customer_id,invoice_id,amount,currency,due_date\n"
                                  "cust_001,INV-001,1500.00,USD,2027-01-01\n",
                                  recall_actor);
  ASSERT_TRUE(succeeded(report));
  EXPECT_THAT(report->recalled.cancelled, ElementsAre("cust_001/" + sent.id));
  const SentReminder next = [&] {
    EXPECT_TRUE(succeeded(imports.run(ImportKind::invoices, ImportFormat::csv,
                                      "customer_id,invoice_id,amount,currency,due_date\n"
                                      "cust_001,INV-001,1500.00,USD,2025-12-01\n",
                                      recall_actor)));
    return handed_over();
  }();
  const auto out = imports.run(ImportKind::customers, ImportFormat::csv,
                               "customer_id,customer_name,customer_email,opted_out\n"
                               "cust_001,John Doe,john@example.com,true\n",
                               recall_actor);
  ASSERT_TRUE(succeeded(out));
  EXPECT_THAT(out->recalled.cancelled, ElementsAre("cust_001/" + next.id));
}

// What the workers of the outbox ask before each attempt.
TEST_F(RecallsOfReminders, AreNotNeededToKeepAReminderFromGoingOut) {
  const SentReminder sent = handed_over();
  const auto why_not = [&] { return office_.deliveries.why_not_send(mail_.find(sent.email_id, "").value().value()); };
  EXPECT_EQ(why_not(), std::nullopt);
  opt_out_alone();
  EXPECT_EQ(why_not(), "the customer has opted out of reminders");
  ASSERT_TRUE(succeeded(office_.customers.opt_in("cust_001", recall_actor)));
  EXPECT_EQ(why_not(), std::nullopt);
  ASSERT_TRUE(succeeded(Customers(office_.records).pay("cust_001", "INV-001", {}, recall_actor)));
  EXPECT_EQ(why_not(), "no invoice of the customer is overdue");
  outbox::Email other;
  other.id = "00000000-0000-8000-8000-000000000000";
  EXPECT_EQ(office_.deliveries.why_not_send(other), std::nullopt) << "no reminder";
}

TEST_F(RecallsOfReminders, AreNotNeededWhereItIsNotKnownWhetherTheCustomerIsStopped) {
  const SentReminder sent = handed_over();
  const auto why_not = [&] {
    return office_.deliveries.why_not_send(mail_.find(sent.email_id, "").value().value()).value_or("");
  };
  item::Item profile = *store_.get("CUSTOMER#cust_001", "PROFILE");
  const item::Item good = profile;
  profile.set("opt_out", "perhaps");
  store_.put(profile);
  EXPECT_THAT(why_not(), HasSubstr("it is not known now whether the customer may get it: the record"));
  store_.put(good);
  EXPECT_EQ(why_not(), "");
  store_.put({{"PK", Keys::email(sent.email_id)}, {"SK", watch_sort}, {"customer_id", 5}});
  EXPECT_THAT(why_not(), HasSubstr("it is not known now whether the customer may get it: the record"));
}

// Another program may remove what leads from the e-mail to the customer. The e-mail's tags do so, too.
TEST_F(RecallsOfReminders, AreNotNeededWhereTheWatchWasRemoved) {
  const SentReminder sent = handed_over();
  const auto why_not = [&] { return office_.deliveries.why_not_send(mail_.find(sent.email_id, "").value().value()); };
  store_.remove(Keys::email(sent.email_id), std::string(watch_sort));
  EXPECT_EQ(why_not(), std::nullopt);
  opt_out_alone();
  EXPECT_EQ(why_not(), "the customer has opted out of reminders");
  std::string other;  // of characters of two bytes
  while (other.size() + 2 <= longest_record_id) other += "ä";
  for (const std::string& id : {std::string(longest_record_id - 1, 'c') + "d", other}) {
    SentReminder longest = sent;
    longest.customer_id = id;
    const auto payload = make_payload(longest, "billing@example.com", "");
    ASSERT_TRUE(payload) << payload.error().message;
    EXPECT_EQ(customer_in_tags(payload->tags), id);
  }
}

// Its ids may have other characters than ours.
TEST_F(RecallsOfReminders, ReachWhomeverAnotherProgramKnowsByAnyId) {
  for (const std::string id : {"customer 7", "auth0|7", "a#b", "Änne:1"}) {
    const auto sent = office_.approve(put_draft(store_, id, "first"));
    ASSERT_TRUE(succeeded(sent)) << id;
    const auto out = office_.customers.opt_out(id, "asked", recall_actor);
    ASSERT_TRUE(succeeded(out)) << id;
    EXPECT_THAT(out->recalled.cancelled, ElementsAre(sent->id)) << id;
    EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, id, "first"))), "stopped") << id;
    ASSERT_TRUE(succeeded(office_.customers.opt_in(id, recall_actor))) << id;
    ASSERT_TRUE(succeeded(Erasure(office_.records, mail_).erase(id, false, recall_actor))) << id;
    EXPECT_FALSE(store_.get("CUSTOMER#" + id, "PROFILE")) << id;
  }
  const auto refused = office_.approve(put_draft(store_, "a/b", "first"));
  EXPECT_EQ(outcome_of(refused), "invalid") << "it could not be stopped";
  ASSERT_THAT(refused.error().faults, SizeIs(1));
  EXPECT_EQ(refused.error().faults[0].field, "customer_id");
}

TEST_F(RecallsOfReminders, ReachACustomerWhoIsKnownOnlyByRecordsOfAnotherProgram) {
  const auto sent = office_.approve(put_draft(store_, "cust_002", "first"));
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(office_.handovers.run_once().value_or(-1), 1);
  const auto out = office_.customers.opt_out("cust_002", "asked", recall_actor);
  ASSERT_TRUE(succeeded(out));
  EXPECT_THAT(out->recalled.cancelled, ElementsAre(sent->id));
  EXPECT_EQ(state_of(*sent), State::cancelled);
  EXPECT_EQ(out->reminders_sent, 0) << "it was sent before the record was made, and is not in its count";
  EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_002", "first", test_start + 1h))), "stopped");
}

TEST_F(RecallsOfReminders, AreOfCustomersWhoseRecordAnotherProgramHasRemoved) {
  const SentReminder sent = handed_over();
  opt_out_alone();
  store_.remove("CUSTOMER#cust_001", "PROFILE");
  outbox::Email email;
  email.id = sent.email_id;
  EXPECT_EQ(office_.deliveries.why_not_send(email), "the customer has opted out of reminders");
  EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_001", "first", store_.time().now()))), "stopped");
  office_.deliveries.note(sent.email_id);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
  EXPECT_EQ(state_of(sent), State::cancelled);
}

TEST_F(RecallsOfReminders, AreNotOfWhatAnotherProgramPutsBetweenInvoices) {
  const SentReminder sent = handed_over();
  for (const std::string sort : {"UNPAID#!junk", "UNPAID#", "UNPAID#2025-01-01", "UNPAID#2025-13-01#INV-7"})
    store_.put({{"PK", "CUSTOMER#cust_001"}, {"SK", sort}});
  const auto why_not = [&] { return office_.deliveries.why_not_send(mail_.find(sent.email_id, "").value().value()); };
  EXPECT_EQ(why_not(), std::nullopt);
  ASSERT_TRUE(succeeded(Customers(office_.records).pay("cust_001", "INV-001", {}, recall_actor)));
  EXPECT_EQ(why_not(), "no invoice of the customer is overdue");
}

// It was cancelled by one who could not see that the outbox had it.
TEST_F(RecallsOfReminders, AreFinalForTheEmailToo) {
  const SentReminder sent = handed_over();
  item::Item item = *store_.get("CUSTOMER#cust_001", "SENT#" + sent.id);
  item.set("delivery_status", "cancelled");
  item.set("status", "failed");
  store_.put(item);
  EXPECT_EQ(office_.deliveries.why_not_send(mail_.find(sent.email_id, "").value().value()),
            "the reminder was cancelled");
  office_.deliveries.note(sent.email_id);
  EXPECT_TRUE(succeeded(office_.deliveries.run_once()));
  EXPECT_EQ(state_of(sent), State::cancelled);
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::cancelled);
}

TEST_F(RecallsOfReminders, FromAnOutboxInTheSameStoreKnowOfAttemptsBefore) {
  ReminderOffice office(store_);
  const auto sent = office.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  // A worker has begun, and was lost.
  outbox::Email email = office.emails().at(0);
  const outbox::Policy policy;
  const auto move = [&](outbox::Event event) {
    auto change = outbox::decide(email, std::move(event), policy, store_.time().now());
    ASSERT_TRUE(change);
    std::vector<outbox::Change> changes;
    changes.push_back(*std::move(change));
    const auto moved = office.ledger.move(std::move(changes));
    ASSERT_EQ(moved.at(0).status, outbox::MoveStatus::done) << moved.at(0).error;
    email = moved.at(0).email;
  };
  if (email.state == State::accepted) move(outbox::event::MessageBuilt{"Subject: x\r\n\r\n"});
  move(outbox::event::Claimed{"a process that ends"});
  store_.time().advance(1min);
  move(outbox::event::LeaseEnded{});
  EXPECT_EQ(email.state, State::ready);
  const auto out = office.customers.opt_out("cust_001", "asked", recall_actor);
  ASSERT_TRUE(succeeded(out));
  EXPECT_THAT(out->recalled.perhaps_sent, ElementsAre(sent->id));
  EXPECT_EQ(office.emails().at(0).state, State::cancelled);
  EXPECT_EQ(record(*sent).delivery, DeliveryStatus::unknown);
  EXPECT_THAT(last(), SizeIs(1));
}

TEST_F(RecallsOfReminders, FromAnOutboxInTheSameStoreCancelTheEmail) {
  ReminderOffice office(store_);
  const auto sent = office.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  const auto out = office.customers.opt_out("cust_001", "asked", recall_actor);
  ASSERT_TRUE(succeeded(out));
  EXPECT_THAT(out->recalled.cancelled, ElementsAre(sent->id));
  ASSERT_THAT(office.emails(), SizeIs(1));
  EXPECT_EQ(office.emails().front().state, State::cancelled);
  expect_cancelled(*sent, "the customer has opted out of reminders");
}

}  // namespace
}  // namespace postino::reminders
