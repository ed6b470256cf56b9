// What becomes of reminders in the outbox, and comes back to their records.
#include "net/logged_lines_testing.h"
#include "reminder_office.h"
#include "reminders/erasure.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using outbox::State;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Actor system_actor{.tenant = "", .name = "system", .key = {}, .from = {}};

class DeliveriesOfReminders : public ::testing::Test {
 protected:
  DeliveriesOfReminders() {
    Customer customer;
    customer.id = "cust_001";
    customer.name = "John Doe";
    customer.email = "john@example.com";
    EXPECT_TRUE(succeeded(office_.customers.put(customer, system_actor)));
  }

  SentReminder approved(const std::string& type = "first") {
    auto sent = office_.approve(put_draft(store_, "cust_001", type, store_.time().now()));
    EXPECT_TRUE(succeeded(sent));
    if (sent) EXPECT_TRUE(succeeded(office_.handovers.run_once()));
    return sent ? *sent : SentReminder();
  }
  void become(const SentReminder& sent, State state, const std::string& reason = "") {
    mail_.change(sent.email_id, [&](outbox::Email& email) {
      email.state = state;
      email.reason = reason;
      if (outbox::is_outcome(state)) email.settled_at = store_.time().now();
    });
  }
  void bounce(const SentReminder& sent, const std::string& status) {
    mail_.change(sent.email_id, [&](outbox::Email& email) {
      email.bounces.push_back({"john@example.com", status, "no such user", status.starts_with('5'), {}});
    });
  }
  // Changes of one look.
  int look(const SentReminder& sent) {
    office_.deliveries.note(sent.email_id);
    const auto changed = office_.deliveries.run_once();
    EXPECT_TRUE(succeeded(changed));
    return changed.value_or(-1);
  }
  SentReminder record(const SentReminder& sent) {
    const auto found = office_.history.find("cust_001", sent.id, "");
    EXPECT_TRUE(succeeded(found));
    return found.value_or(SentReminder());
  }
  std::vector<LastSent> last() { return office_.records.guard(Keys(""), "cust_001")->last; }
  Customer customer() { return office_.customers.find("cust_001", "").value_or(Customer()); }
  std::int64_t counted(const std::string& name) {
    std::int64_t sum = 0;
    for (const item::Item& item : store_.scan("EmailTrackingTable"))
      if (item.find("PK")->as<std::string>().starts_with("SUMMARY#"))
        if (const auto* const value = item.find(name)) sum += value->as<item::Number>().to_int64().value_or(0);
    return sum;
  }

  RemindersStore store_;
  MemoryReminderMailer mail_;
  ReminderOffice office_{store_, &mail_};
};

TEST_F(DeliveriesOfReminders, SayThatItWasSent) {
  const SentReminder sent = approved();
  EXPECT_EQ(customer().reminders_sent, 1);
  EXPECT_EQ(look(sent), 0) << "it is still queued";
  become(sent, State::sent);
  EXPECT_EQ(look(sent), 1);
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::sent);
  EXPECT_EQ(record(sent).delivered_at, test_start);
  EXPECT_EQ(record(sent).message_id, sent.email_id + "@example.com");
  EXPECT_EQ(look(sent), 0) << "once";
  EXPECT_EQ(counted("sent"), 1);
  EXPECT_EQ(counted("sent:first"), 1);
  EXPECT_THAT(last(), SizeIs(1));
}

TEST_F(DeliveriesOfReminders, FreeTheGuardOfOneThatFailed) {
  const SentReminder first = approved();
  become(first, State::sent);
  look(first);
  store_.time().advance(8 * 24h);
  const SentReminder second = approved();
  EXPECT_THAT(last(), ElementsAre(LastSent{"first", test_start + 8 * 24h, second.id}));
  const std::string next = put_draft(store_, "cust_001", "first", store_.time().now());
  EXPECT_EQ(outcome_of(office_.approve(next)), "too_soon");

  become(second, State::failed, "550 5.7.1 not from you");
  EXPECT_EQ(look(second), 1);
  EXPECT_EQ(record(second).delivery, DeliveryStatus::failed);
  EXPECT_EQ(record(second).failure, "550 5.7.1 not from you");
  const auto item = store_.get("CUSTOMER#cust_001", "SENT#" + second.id);
  EXPECT_EQ(item->find("status")->as<std::string>(), "failed");
  EXPECT_EQ(item->find("GSI1PK")->as<std::string>(), "STATUS#failed");
  EXPECT_THAT(last(), ElementsAre(LastSent{"first", test_start, first.id})) << "the one before counts";
  EXPECT_EQ(customer().reminders_sent, 1);
  EXPECT_EQ(outcome_of(office_.approve(next)), "");
}

TEST_F(DeliveriesOfReminders, FreeTheGuardAlsoOfOneThatOthersHaveFollowed) {
  const SentReminder first = approved();
  store_.time().advance(8 * 24h);
  const SentReminder again = approved();
  store_.time().advance(8 * 24h);
  const SentReminder second = approved("second");
  become(again, State::failed, "given up");
  EXPECT_EQ(look(again), 1);
  EXPECT_THAT(last(), ::testing::UnorderedElementsAre(LastSent{"first", test_start, first.id},
                                                      LastSent{"second", test_start + 16 * 24h, second.id}));
}

TEST_F(DeliveriesOfReminders, CountAgainWhatWasRequeued) {
  const SentReminder sent = approved();
  become(sent, State::failed, "timeout");
  EXPECT_EQ(look(sent), 1);
  EXPECT_THAT(last(), IsEmpty());
  become(sent, State::ready);
  EXPECT_EQ(look(sent), 1);
  EXPECT_THAT(last(), ElementsAre(LastSent{"first", test_start, sent.id})) << "it will be sent";
  become(sent, State::sent);
  EXPECT_EQ(look(sent), 1);
  EXPECT_EQ(record(sent).failure, "");
  EXPECT_EQ(customer().reminders_sent, 1);
}

TEST_F(DeliveriesOfReminders, RefuseToQueueAgainWhatNoLongerCounts) {
  const SentReminder sent = approved();
  EXPECT_TRUE(succeeded(office_.deliveries.check_requeue(sent.email_id))) << "it is on its way";
  become(sent, State::failed, "timeout");
  const auto failed = office_.deliveries.check_requeue(sent.email_id);
  ASSERT_FALSE(failed) << "another may take its place";
  EXPECT_EQ(failed.error().kind, RefusalKind::wrong_state);
  EXPECT_THAT(failed.error().message, ::testing::HasSubstr("failed and no longer counts"));
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::failed) << "it was looked at before";
  EXPECT_TRUE(succeeded(office_.deliveries.check_requeue("an-email-of-another-kind")));
}

TEST_F(DeliveriesOfReminders, RefuseToQueueAgainWhatACustomerDoesNotWant) {
  const SentReminder sent = approved();
  become(sent, State::processing);
  ASSERT_TRUE(succeeded(office_.customers.opt_out("cust_001", "by phone", system_actor)));
  const auto stuck = office_.deliveries.check_requeue(sent.email_id);
  ASSERT_FALSE(stuck);
  EXPECT_EQ(stuck.error().kind, RefusalKind::stopped);
}

TEST_F(DeliveriesOfReminders, OfACancelledOneFreeTheGuard) {
  const SentReminder sent = approved();
  become(sent, State::cancelled, "by an operator");
  EXPECT_EQ(look(sent), 1);
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::cancelled);
  EXPECT_THAT(last(), IsEmpty());
}

TEST_F(DeliveriesOfReminders, StopACustomerWhoseAddressBounced) {
  const SentReminder sent = approved();
  become(sent, State::sent);
  look(sent);
  // Days later, when nothing is looked for any more: the report tells of it.
  store_.time().advance(20 * 24h);
  bounce(sent, "5.1.1");
  EXPECT_EQ(look(sent), 1);
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::bounced);
  EXPECT_EQ(record(sent).failure, "5.1.1 no such user");
  EXPECT_EQ(customer().hard_bounces, 1);
  EXPECT_EQ(look(sent), 0);
  EXPECT_EQ(customer().hard_bounces, 1) << "once";
  EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_001", "first", store_.time().now()))), "stopped");
  EXPECT_EQ(counted("bounced"), 1);
}

TEST_F(DeliveriesOfReminders, OfAFullMailboxStopNobody) {
  const SentReminder sent = approved();
  become(sent, State::sent);
  bounce(sent, "4.2.2");
  EXPECT_EQ(look(sent), 1);
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::bounced);
  EXPECT_EQ(customer().hard_bounces, 0);
  EXPECT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_001", "first"))), "");
}

TEST_F(DeliveriesOfReminders, OfAnAddressThatTheServerDoesNotKnowStopTheCustomer) {
  const SentReminder sent = approved();
  become(sent, State::failed, "550 5.1.1 no such user");
  mail_.change(sent.email_id, [](outbox::Email& email) {
    email.recipients.at(0).state = outbox::RecipientState::refused;
    email.recipients.at(0).reply = "550 5.1.1 no such user";
  });
  EXPECT_EQ(look(sent), 1);
  EXPECT_EQ(customer().hard_bounces, 1);
}

TEST_F(DeliveriesOfReminders, AreFoundByLookingToo) {
  const SentReminder sent = approved();
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 0) << "it is not due";
  become(sent, State::sent);
  store_.time().advance(10s);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
  bounce(sent, "5.1.1");
  store_.time().advance(10s);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
}

TEST_F(DeliveriesOfReminders, AreLookedForEverMoreRarelyAndThenNoMore) {
  const SentReminder sent = approved();
  become(sent, State::sent);
  look(sent);
  int looks = 0;
  for (base::TimePoint end = test_start + 6 * 24h; store_.time().now() < end; store_.time().advance(10s)) {
    const auto before = store_.get("EMAIL#" + sent.email_id, "WATCH");
    ASSERT_TRUE(succeeded(office_.deliveries.run_once()));
    if (store_.get("EMAIL#" + sent.email_id, "WATCH") != before) ++looks;
    if (looks > 3) store_.time().advance(30min);  // not every second of six days
  }
  EXPECT_GT(looks, 10);
  EXPECT_LT(looks, 60);
  EXPECT_FALSE(store_.get("EMAIL#" + sent.email_id, "WATCH")->contains("GSI1PK"));
}

// One that is held, or waits for an outbox that is away, may do so for months.
TEST_F(DeliveriesOfReminders, AreFollowedAsLongAsTheEmailWaits) {
  const auto sent = office_.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  const auto watch = [&] { return store_.get("EMAIL#" + sent->email_id, "WATCH").value_or(item::Item()); };
  const auto look_after = [&](base::Milliseconds time) {
    store_.time().advance(time);
    return office_.deliveries.run_once().value_or(-1);
  };
  for (const bool is_handed_over : {false, true}) {
    if (is_handed_over) {
      ASSERT_EQ(office_.handovers.run_once().value_or(-1), 1);
    }
    for (int month = 0; month < 3; ++month) {
      EXPECT_EQ(look_after(30 * 24h), 0);
      EXPECT_FALSE(watch().contains("ttl"));
    }
  }
  become(*sent, State::sent);
  EXPECT_EQ(look_after(7h), 1) << "without being told";
  EXPECT_EQ(record(*sent).delivery, DeliveryStatus::sent);
  const auto end = base::epoch_seconds(store_.time().now() + 45 * 24h);
  EXPECT_EQ(*watch().find("ttl"), item::AttributeValue(end)) << "a bounce may follow";
  EXPECT_EQ(look_after(4 * 24h), 0);
  EXPECT_EQ(*watch().find("ttl"), item::AttributeValue(end));
  bounce(*sent, "5.1.1");
  EXPECT_EQ(look_after(7h), 1);
  EXPECT_EQ(record(*sent).delivery, DeliveryStatus::bounced);
}

TEST_F(DeliveriesOfReminders, AreNotFollowedWhenTheOutboxHasNothingOfThemAnyMore) {
  const auto sent = office_.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  store_.remove(Keys::handover(Keys::work_shard(sent->email_id)), sent->email_id);
  EXPECT_EQ(look(*sent), 0);
  EXPECT_EQ(*store_.get("EMAIL#" + sent->email_id, "WATCH")->find("ttl"),
            item::AttributeValue(base::epoch_seconds(test_start + 45 * 24h)));
}

TEST_F(DeliveriesOfReminders, LeaveOtherEmailsAlone) {
  office_.deliveries.note("0192f3a1-0000-7000-8000-000000000000");
  office_.deliveries.note("0192f3a1-0000-8000-8000-000000000000");
  office_.deliveries.note("");
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 0);
}

TEST_F(DeliveriesOfReminders, WaitForAnOutboxThatIsAway) {
  const SentReminder sent = approved();
  become(sent, State::sent);
  mail_.fails = true;
  office_.deliveries.note(sent.email_id);
  EXPECT_FALSE(office_.deliveries.run_once());
  mail_.fails = false;
  store_.time().advance(1h);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
}

TEST_F(DeliveriesOfReminders, TellWhenTheOutboxIsAwayAndWhenItIsBack) {
  std::vector<SentReminder> sent;
  for (int i = 0; i < 3; ++i) {
    const auto approved = office_.approve(put_draft(store_, "other_" + std::to_string(i), "first"));
    ASSERT_TRUE(succeeded(approved));
    sent.push_back(*approved);
  }
  ASSERT_TRUE(succeeded(office_.handovers.run_once()));
  const net::LoggedLines lines;
  mail_.fails = true;
  for (int i = 0; i < 5; ++i) {
    for (const SentReminder& each : sent) office_.deliveries.note(each.email_id);
    EXPECT_FALSE(office_.deliveries.run_once());
  }
  mail_.fails = false;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(succeeded(office_.deliveries.run_once()));
  EXPECT_EQ(lines.count("reminders: "), 2) << lines.text();
  EXPECT_EQ(lines.count("outcomes of reminders cannot be recorded now"), 1);
  EXPECT_EQ(lines.count("outcomes of reminders are recorded again"), 1);
}

TEST_F(DeliveriesOfReminders, OfAnOutboxInTheSameStoreComeFromItsStates) {
  ReminderOffice office(store_);
  const auto sent = office.approve(put_draft(store_, "cust_002", "first"));
  ASSERT_TRUE(succeeded(sent));
  ASSERT_TRUE(office.outbox.cancel(sent->email_id, "", "not now"));
  office.deliveries.note(sent->email_id);
  EXPECT_EQ(office.deliveries.run_once().value_or(-1), 1);
  const auto found = office.history.find("cust_002", sent->id, "");
  ASSERT_TRUE(succeeded(found));
  EXPECT_EQ(found->delivery, DeliveryStatus::cancelled);
  EXPECT_EQ(found->failure, "not now");
}

class HandoversOfReminders : public DeliveriesOfReminders {};

TEST_F(HandoversOfReminders, WaitForAnOutboxThatIsAway) {
  const std::string id = put_draft(store_, "cust_001", "first");
  const auto sent = office_.approve(id);
  ASSERT_TRUE(succeeded(sent));
  mail_.fails = true;
  EXPECT_FALSE(office_.handovers.run_once());
  EXPECT_THAT(mail_.payloads(), IsEmpty());
  mail_.fails = false;
  EXPECT_EQ(office_.handovers.run_once().value_or(-1), 1);
  EXPECT_EQ(office_.handovers.run_once().value_or(-1), 0);
  ASSERT_THAT(mail_.payloads(), SizeIs(1));
  const outbox::Payload payload = mail_.payloads().at(0);
  EXPECT_EQ(payload.id, sent->email_id);
  EXPECT_EQ(payload.subject, "Payment Reminder from Innovate AI");
  EXPECT_EQ(payload.body_text, "Dear John...");
  EXPECT_EQ(payload.from.name, "Billing");
  EXPECT_EQ(payload.to.at(0).name, "John Doe");
  EXPECT_EQ(look(*sent), 0);
}

TEST_F(HandoversOfReminders, BringNothingOfAnErasedCustomer) {
  const auto sent = office_.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  const std::string waiting = Keys::handover(Keys::work_shard(sent->email_id));
  const item::Item handover = store_.get(waiting, sent->email_id).value();
  Erasure erasure(store_.records(), mail_);
  ASSERT_TRUE(succeeded(erasure.erase("cust_001", true, system_actor)));
  EXPECT_THAT(store_.sort_keys(waiting), IsEmpty());
  // Even when both records say that it waits, as those of an older backup do.
  store_.put(handover);
  item::Item erased = store_.get("CUSTOMER#cust_001", "SENT#" + sent->id).value();
  erased.set("delivery_status", "queued");
  store_.put(std::move(erased));
  EXPECT_TRUE(succeeded(office_.handovers.run_once()));
  EXPECT_THAT(mail_.payloads(), IsEmpty());
  EXPECT_THAT(store_.sort_keys(waiting), IsEmpty());
}

TEST_F(HandoversOfReminders, CallBackTheEmailOfACustomerWhoWasErasedAndMadeAgainMeanwhile) {
  Customer customer;
  customer.id = "cust_001";
  customer.name = "John Doe";
  customer.email = "john@example.com";
  const Actor actor{.tenant = "", .name = "ann", .key = {}, .from = {}};
  const auto sent = office_.approve(put_draft(store_, "cust_001", "first"));
  ASSERT_TRUE(succeeded(sent));
  mail_.before_accept = [&] {
    Erasure erasure(office_.records, mail_);
    EXPECT_TRUE(succeeded(erasure.erase("cust_001", true, actor)));
    EXPECT_TRUE(succeeded(office_.customers.put(customer, actor)));
  };
  EXPECT_TRUE(succeeded(office_.handovers.run_once()));
  EXPECT_EQ(mail_.find(sent->email_id, "").value()->state, State::cancelled);
}

TEST_F(HandoversOfReminders, KeepNoOthersBack) {
  store_.put({{"PK", "HANDOVER#0"}, {"SK", "0"}, {"customer_id", 1}});
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(outcome_of(office_.approve(put_draft(store_, "other_" + std::to_string(i), "first"))), "");
  EXPECT_EQ(office_.handovers.run_once(2).value_or(-1), 2);
  EXPECT_EQ(office_.handovers.run_once().value_or(-1), 3);
  EXPECT_THAT(mail_.payloads(), SizeIs(5));
}

TEST_F(HandoversOfReminders, GiveUpAfterAFewWhileTheOutboxIsAwayAndGoOnBehindThem) {
  constexpr int emails = 15, most_refused = 10;
  for (int i = 0; i < emails; ++i)
    ASSERT_EQ(outcome_of(office_.approve(put_draft(store_, "other_" + std::to_string(i), "first"))), "");
  int tried = 0;
  mail_.before_accept = [&] { ++tried; };
  mail_.fails = true;
  EXPECT_FALSE(office_.handovers.run_once());
  EXPECT_EQ(tried, most_refused);
  EXPECT_FALSE(office_.handovers.run_once());
  EXPECT_EQ(tried, emails) << "the others had their turn";
  mail_.fails = false;
  EXPECT_EQ(office_.handovers.run_once().value_or(-1), emails);
}

TEST_F(HandoversOfReminders, TellWhenTheOutboxIsAwayAndWhenItIsBack) {
  ASSERT_EQ(outcome_of(office_.approve(put_draft(store_, "other", "first"))), "");
  const net::LoggedLines lines;
  mail_.fails = true;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(office_.handovers.run_once());
  mail_.fails = false;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(succeeded(office_.handovers.run_once()));
  EXPECT_EQ(lines.count("approved reminders do not get into the outbox"), 1);
  EXPECT_EQ(lines.count("approved reminders get into the outbox again"), 1);
}

TEST_F(HandoversOfReminders, OfARecordThatCannotBeReadAreNotCalledAnOutage) {
  store_.put({{"PK", "HANDOVER#0"}, {"SK", "0"}, {"customer_id", 1}});
  const net::LoggedLines lines;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(office_.handovers.run_once());
  EXPECT_EQ(lines.count("an approved reminder is not in the outbox yet"), 1);
  EXPECT_EQ(lines.count("approved reminders do not get into the outbox"), 0);
}

TEST_F(HandoversOfReminders, AreLookedForUntilNothingIsLeftWhenCommitsAreShared) {
  ReminderOffice office(store_);
  const item::Item junk = {{"PK", "HANDOVER#0"}, {"SK", "0"}, {"customer_id", 1}};
  store_.put(junk);
  EXPECT_FALSE(office.handovers.run_once());
  store_.remove("HANDOVER#0", "0");
  // Of an outbox that shared no commits, before the server was configured again.
  ASSERT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_001", "first"))), "");
  EXPECT_EQ(office.handovers.run_once().value_or(-1), 1);
  EXPECT_THAT(office.emails(), SizeIs(1));
  store_.put(junk);
  EXPECT_EQ(office.handovers.run_once().value_or(-1), 0) << "it is not read any more";
}

TEST_F(HandoversOfReminders, DoNotTakeAForeignEmailForTheirOwn) {
  ReminderOffice office(store_);
  ASSERT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_001", "first"))), "");
  ASSERT_EQ(office_.handovers.run_once().value_or(-1), 1);
  outbox::Payload payload = mail_.payloads().at(0);
  ASSERT_TRUE(office.own_mail.accept(payload, "beta"));
  EXPECT_TRUE(office.own_mail.accept(payload, "beta")) << "the same again";
  for (const std::string tenant : {"acme", ""}) EXPECT_FALSE(office.own_mail.accept(payload, tenant)) << tenant;
  payload.tags = {"newsletter"};
  EXPECT_FALSE(office.own_mail.accept(payload, "beta")) << "another e-mail";
}

// As many as one run looks at.
TEST_F(DeliveriesOfReminders, DoNotWaitBehindWhatCannotBeRead) {
  constexpr int limit = 3;
  for (int i = 0; i < limit * work_shards; ++i) {
    item::Item junk = Keys::key(Keys::email("junk" + std::to_string(i)), std::string(watch_sort));
    junk.set("GSI1PK", Keys::watch(i % work_shards));
    junk.set("GSI1SK", "0");
    if (i % 2 == 0) junk.set("email_id", "another");
    store_.put(junk);
  }
  const SentReminder sent = approved();
  become(sent, State::sent);
  store_.time().advance(10s);
  for (int run = 0; run < 2; ++run) EXPECT_TRUE(succeeded(office_.deliveries.run_once(limit)));
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::sent);
  EXPECT_FALSE(store_.get(Keys::email("junk0"), std::string(watch_sort))->contains("GSI1PK")) << "it is out of the way";
}

TEST_F(DeliveriesOfReminders, LookLaterAtARecordThatCannotBeRead) {
  const SentReminder sent = approved();
  const item::Item whole = *store_.get("CUSTOMER#cust_001", "SENT#" + sent.id);
  item::Item damaged = whole;
  damaged.set("revision", "one");
  store_.put(damaged);
  become(sent, State::sent);
  store_.time().advance(10s);
  EXPECT_FALSE(office_.deliveries.run_once());
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 0) << "its next look is not due";
  store_.put(whole);
  store_.time().advance(1h);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
  EXPECT_EQ(record(sent).delivery, DeliveryStatus::sent);
}

}  // namespace
}  // namespace postino::reminders
