// Reminders of several processes on one store.
#include "item/attribute_text.h"
#include "reminder_office.h"
#include "reminders/erasure.h"
#include "store/shared_store_testing.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using outbox::State;
using ::testing::SizeIs;

const Actor shared_actor{.tenant = "", .name = "system", .key = {}, .from = {}};

// An outbox in memory that is looked into at the same time by two processes.
class SharedReminders : public ::testing::Test {
 protected:
  SharedReminders() {
    Customer customer;
    customer.id = "cust_001";
    customer.name = "John Doe";
    customer.email = "john@example.com";
    EXPECT_TRUE(succeeded(first_.customers.put(customer, shared_actor)));
  }

  SentReminder approved() {
    auto sent = first_.approve(put_draft(store_, "cust_001", "first", store_.time().now()));
    EXPECT_TRUE(succeeded(sent));
    EXPECT_TRUE(succeeded(first_.handovers.run_once()));
    return sent.value_or(SentReminder());
  }
  Customer customer() { return first_.customers.find("cust_001", "").value_or(Customer()); }
  int audited(const std::string& action) {
    int count = 0;
    for (const item::Item& item : store_.scan("EmailTrackingTable-audit"))
      if (item::attribute_text(item, "action") == action) ++count;
    return count;
  }

  RemindersStore store_;
  store::SharedStore shared_{store_.engine()};
  MemoryReminderMailer mail_;
  ReminderOffice first_{store_, shared_, &mail_};
  ReminderOffice second_{store_, shared_, &mail_};
};

TEST_F(SharedReminders, AnAnswerThatWasLostCountsNothingTwice) {
  shared_.lose_answers(1);
  EXPECT_TRUE(succeeded(first_.customers.complain("cust_001", "spam", shared_actor)));
  EXPECT_EQ(customer().complaints, 1);
  EXPECT_EQ(audited("customer.complained"), 1);
}

// A process that was restarted with a larger number notes it, and one that runs on takes it up.
TEST_F(SharedReminders, ARunningProcessLearnsOfMoreShards) {
  const store::Retry retry = store_.retry();
  ReminderStore running(shared_, {}, Rules::usual(), store_.time(), store_.random(), retry);
  ASSERT_TRUE(running.prepare());
  EXPECT_THAT(running.keys("").all_of_status("sent"), SizeIs(1));
  ReminderStore restarted(shared_, {.shards = 8}, Rules::usual(), store_.time(), store_.random(), retry);
  ASSERT_TRUE(restarted.prepare());
  running.look_at_shards();
  EXPECT_EQ(running.keys("").all_of_status("sent"), restarted.keys("").all_of_status("sent"));
  EXPECT_EQ(running.keys("").status("sent", "x"), "STATUS#sent") << "it writes where it is told to";
}

TEST_F(SharedReminders, TheNumberOfShardsIsAskedForNowAndThen) {
  ReminderStore running(shared_, {}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  ASSERT_TRUE(running.prepare());
  running.look_at_shards();
  ReminderStore restarted(shared_, {.shards = 8}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  ASSERT_TRUE(restarted.prepare());
  running.look_at_shards();
  EXPECT_THAT(running.keys("").all_of_status("sent"), SizeIs(1)) << "it has looked a moment ago";
  store_.time().advance(3s);
  running.look_at_shards();
  EXPECT_THAT(running.keys("").all_of_status("sent"), SizeIs(9));
}

// The other process is in between: after this one has read the record, before it writes it.
class MeetingStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::transact_write_items;
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override {
    if (auto met = std::exchange(meeting, nullptr)) met();
    return inner().transact_write_items(request);
  }
  std::function<void()> meeting;
};

class SharedBounces : public SharedReminders {
 protected:
  // Both processes see what became of it.
  void look(const SentReminder& sent) {
    MeetingStore meeting(shared_);
    ReminderOffice third(store_, meeting, &mail_);
    meeting.meeting = [&] {
      second_.deliveries.note(sent.email_id);
      EXPECT_EQ(second_.deliveries.run_once().value_or(-1), 1);
    };
    third.deliveries.note(sent.email_id);
    EXPECT_EQ(third.deliveries.run_once().value_or(-1), 0) << "the other has written it down";
    EXPECT_EQ(meeting.meeting, nullptr);
  }
};

TEST_F(SharedBounces, AreCountedOnceOfAnEmailThatCameBack) {
  const SentReminder sent = approved();
  mail_.change(sent.email_id, [&](outbox::Email& email) {
    email.state = State::sent;
    email.settled_at = store_.time().now();
    email.bounces.push_back({"john@example.com", "5.1.1", "no such user", true, {}});
  });
  look(sent);
  EXPECT_EQ(customer().hard_bounces, 1);
  EXPECT_EQ(customer().last_bounce, "5.1.1 no such user");
  EXPECT_EQ(audited("customer.bounced"), 1);
}

TEST_F(SharedBounces, AreCountedOnceOfAnEmailThatWasRefused) {
  const SentReminder sent = approved();
  EXPECT_EQ(customer().reminders_sent, 1);
  mail_.change(sent.email_id, [&](outbox::Email& email) {
    email.state = State::failed;
    email.settled_at = store_.time().now();
    email.recipients.at(0).state = outbox::RecipientState::refused;
    email.recipients.at(0).reply = "550 5.1.1 no such user";
  });
  look(sent);
  EXPECT_EQ(customer().hard_bounces, 1);
  EXPECT_EQ(customer().reminders_sent, 0);
  EXPECT_EQ(audited("customer.bounced"), 1);
}

// Nothing of it is left undone, and nothing is done twice, wherever a process ends.
TEST_F(SharedBounces, AreInOneCommitWithTheRecordOfTheReminder) {
  const SentReminder sent = approved();
  mail_.change(sent.email_id, [&](outbox::Email& email) {
    email.state = State::sent;
    email.bounces.push_back({"john@example.com", "5.1.1", "no such user", true, {}});
  });
  shared_.lose_answers(1);
  first_.deliveries.note(sent.email_id);
  EXPECT_EQ(first_.deliveries.run_once().value_or(-1), 1);
  EXPECT_EQ(shared_.answers_to_lose(), 0);
  EXPECT_EQ(customer().hard_bounces, 1);
}

TEST_F(SharedReminders, WhatAnotherProcessLeftIsHandedOver) {
  // This process has an outbox in the store, the other has not, and ends.
  ReminderOffice own(store_, shared_);
  EXPECT_EQ(own.handovers.run_once().value_or(-1), 0);
  const auto sent = first_.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(own.handovers.run_once().value_or(-1), 0) << "it has looked a moment ago";
  store_.time().advance(30s);
  EXPECT_EQ(own.handovers.run_once().value_or(-1), 1);
  EXPECT_THAT(own.emails(), SizeIs(1));
}

// Of an erasure that another process has finished, when the customer is there again.
TEST_F(SharedReminders, AnIndexThatLagsHasNobodyErasedAgain) {
  const SentReminder sent = approved();
  mail_.change(sent.email_id, [](outbox::Email& email) { email.state = State::processing; });
  Erasure first(first_.records, mail_), second(second_.records, mail_);
  EXPECT_FALSE(first.erase("cust_001", true, shared_actor)) << "an e-mail is being sent";
  mail_.change(sent.email_id, [](outbox::Email& email) { email.state = State::sent; });
  store_.time().advance(1min);
  EXPECT_EQ(first.run_once().value_or(-1), 1);
  Customer customer;
  customer.id = "cust_001";
  customer.name = "John Doe";
  customer.email = "john@example.com";
  EXPECT_TRUE(succeeded(first_.customers.put(customer, shared_actor)));
  shared_.let_indexes_lag();
  EXPECT_EQ(second.run_once().value_or(-1), 0);
  EXPECT_EQ(this->customer().name, "John Doe");
}

// A watch that the index still shows as due was looked at already: the record decides.
TEST_F(SharedReminders, AnIndexThatLagsHasNothingWrittenTwice) {
  const SentReminder sent = approved();
  mail_.change(sent.email_id, [&](outbox::Email& email) {
    email.state = State::sent;
    email.settled_at = store_.time().now();
  });
  store_.time().advance(10s);
  EXPECT_EQ(first_.deliveries.run_once().value_or(-1), 1);
  shared_.let_indexes_lag();
  EXPECT_EQ(second_.deliveries.run_once().value_or(-1), 0);
  EXPECT_EQ(customer().reminders_sent, 1);
  const auto found = first_.history.find("cust_001", sent.id, "");
  ASSERT_TRUE(succeeded(found));
  EXPECT_EQ(found->delivery, DeliveryStatus::sent);
}

}  // namespace
}  // namespace postino::reminders
