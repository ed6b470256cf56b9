// Reminders that were approved, and have not gone out, of customers who get none any more.
#include "reminder_office.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using outbox::State;
using ::testing::ElementsAre;
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
  Answer<Stopping<Customer>> opt_out() { return office_.customers.opt_out("cust_001", "asked", recall_actor); }
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

  RemindersStore store_;
  MemoryMailRoom mail_;
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
  EXPECT_THAT(out->recalled.being_sent, ElementsAre(sent.id)) << "it may go out";
  mail_.fails = false;
  const auto again = opt_out();
  ASSERT_TRUE(succeeded(again));
  EXPECT_THAT(again->recalled.cancelled, ElementsAre(sent.id)) << "who asks again tries again";
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
