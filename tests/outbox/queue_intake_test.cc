// E-mails that arrive by a queue, with the store's queues and a real ledger.
#include "outbox/queue_intake.h"

#include <gmock/gmock.h>

#include "base/many_threads_testing.h"
#include "messages/store_queue.h"
#include "net/logged_lines_testing.h"
#include "outbox_store.h"
#include "service_environment.h"

namespace postino::outbox {
namespace {

using broker::Messages;
using messages::CrashableBroker;
using messages::is_complete;
using messages::StoreQueue;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string payload(const std::string& subject, const std::string& id = "") {
  return R"({"from":"ann@example.com","to":"bob@example.com","body_text":"b","subject":")" + subject + "\"" +
         (id.empty() ? "" : R"(,"id":")" + id + "\"") + "}";
}

class QueueIntakeTest : public ::testing::Test {
 protected:
  QueueIntakeTest() { options_.wait = base::Milliseconds(0); }

  std::unique_ptr<QueueIntake> make_intake() {
    return std::make_unique<QueueIntake>(broker_, outbox_, *clock_, store_.random(), options_);
  }
  void put(const std::string& body, const std::string& id) {
    ASSERT_TRUE(is_complete(broker_.produce(
        "mail", Messages::of({{.id = id, .body = body, .format = broker::Format::json}}), {}, nullptr)));
  }
  std::vector<Email> emails(const std::string& tenant = "") {
    ListRequest request;
    request.tenant = tenant;
    const auto page = outbox_.list(request);
    EXPECT_TRUE(page);
    return page ? page->emails : std::vector<Email>();
  }
  std::uint64_t depth(const std::string& queue = "mail") {
    const auto depth = broker_.depth(queue);
    EXPECT_TRUE(depth);
    return depth ? depth->ready : 0;
  }
  // How many messages this became of.
  std::string metric(const QueueIntake& intake, const std::string& result) {
    std::string text;
    QueueIntake::append_metrics({&intake}, text);
    const std::string name = R"(connection="embedded",queue="mail",result=")" + result + "\"} ";
    const std::size_t begin = text.find(name) + name.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, clock_};
  const std::unique_ptr<StoreLedger> ledger_ = store_.make_ledger();
  WorkSignal signal_;
  MessageMemory memory_{std::make_shared<base::MemoryBudget>(1 << 20)};
  Outbox outbox_{*ledger_, store_.suppressions(), ledger_policy(), *clock_, store_.random(),
                 signal_,  {.memory = &memory_}};
  CrashableBroker broker_{std::make_unique<StoreQueue>(store_.engine(), *clock_, store_.random(), store_.retry(),
                                                       messages::StoreQueueOptions{})};
  QueueIntakeOptions options_{.connection = "embedded", .queue = "mail", .tenant = "acme"};
};

TEST_F(QueueIntakeTest, AcceptsPayloadsAndListsOfThem) {
  put(payload("one"), "m1");
  put(R"({"data":[)" + payload("two") + "," + payload("three") + "]}", "m2");
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(3));
  EXPECT_THAT(emails("acme"), SizeIs(3));
  EXPECT_THAT(emails("other"), IsEmpty());
  EXPECT_EQ(depth(), 0U);
  EXPECT_THAT(broker_.receive("mail", {})->get()->messages(), IsEmpty());
  EXPECT_EQ(metric(*intake, "accepted"), "2");
  std::string text;
  QueueIntake::append_metrics({intake.get()}, text);
  EXPECT_THAT(text, HasSubstr(R"(postino_outbox_queue_emails_total{connection="embedded",queue="mail"} 3)"));
}

TEST_F(QueueIntakeTest, AMessageThatComesAgainIsAcceptedOnce) {
  put(payload("one"), "m1");
  put(payload("one"), "m1");
  put(payload("one"), "m2");
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(2));
  EXPECT_EQ(metric(*intake, "accepted"), "2");
  EXPECT_EQ(metric(*intake, "repeated"), "1");
  clock_->advance(std::chrono::hours(24 * 6));
  put(payload("one"), "m1");
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(2)) << "six days later, too";
  EXPECT_EQ(depth(), 0U);
}

TEST_F(QueueIntakeTest, AMessageOfAnotherQueueWithTheSameIdIsAnotherMessage) {
  put(payload("one"), "m1");
  EXPECT_TRUE(make_intake()->run_once());
  options_.queue = "more";
  ASSERT_TRUE(is_complete(broker_.produce("more", Messages::of({{.id = "m1", .body = payload("one")}}), {}, nullptr)));
  EXPECT_TRUE(make_intake()->run_once());
  EXPECT_THAT(emails(), SizeIs(2));
}

TEST_F(QueueIntakeTest, DiesBetweenAcceptanceAndAcknowledgement) {
  put(payload("one"), "m1");
  broker_.crash();
  EXPECT_FALSE(make_intake()->run_once());
  EXPECT_THAT(emails(), SizeIs(1)) << "it is durable";
  broker_.restart();
  clock_->advance(seconds(60));
  EXPECT_EQ(depth(), 1U) << "it comes again";
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(1));
  EXPECT_EQ(metric(*intake, "repeated"), "1");
  EXPECT_EQ(depth(), 0U);
}

TEST_F(QueueIntakeTest, WhatIsNoEmailIsRejectedAndTheRestGoesOn) {
  put("{", "m1");
  put(R"({"from":"ann@example.com","to":"nobody","subject":"s","body_text":"b"})", "m2");
  put(R"({"data":[]})", "m3");
  put(R"({"data":[)" + payload("good") + R"(,{}]})", "m4");
  put("[]", "m5");
  put(R"({"data":[)" + payload("good") + R"(],"date":1})", "m6");
  put(payload("good"), "m7");
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(1));
  EXPECT_EQ(depth(), 0U);
  EXPECT_THAT(messages::ids_of(messages::take_all(broker_, "mail.dead")),
              ElementsAre("m1", "m2", "m3", "m4", "m5", "m6"));
  EXPECT_EQ(metric(*intake, "rejected"), "6");
}

TEST_F(QueueIntakeTest, AnotherMessageWithAKnownIdIsRejected) {
  put(payload("one"), "m1");
  put(payload("two"), "m1");
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(1));
  EXPECT_EQ(depth("mail.dead"), 1U);
  EXPECT_EQ(metric(*intake, "conflicting"), "1");
}

TEST_F(QueueIntakeTest, EmailsKnownByTheirOwnIdsAreNotAcceptedAgain) {
  const std::string id = email_id(1);
  put(payload("one", id), "m1");
  put(payload("one", id), "m2");
  put(payload("one", id), "");
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(1));
  EXPECT_EQ(metric(*intake, "accepted"), "1");
  EXPECT_EQ(metric(*intake, "repeated"), "2");
}

TEST_F(QueueIntakeTest, OtherContentsUnderTheIdOfAnEmailAreSetAside) {
  const std::string id = email_id(1);
  put(payload("one", id), "m1");
  put(payload("two", id), "m2");
  put(payload("three", id), "");
  put(R"({"data":[)" + payload("new") + "," + payload("four", id) + "]}", "m4");
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(2)) << "the first, and one that has no id and came along with another";
  EXPECT_EQ(depth(), 0U);
  EXPECT_THAT(messages::ids_of(messages::take_all(broker_, "mail.dead")), ElementsAre("m2", "", "m4"));
  EXPECT_EQ(metric(*intake, "accepted"), "1");
  EXPECT_EQ(metric(*intake, "repeated"), "0");
  EXPECT_EQ(metric(*intake, "conflicting"), "3");
}

TEST_F(QueueIntakeTest, TheyAreSetAsideAlsoIfTheirMessageHadBeenJudgedBefore) {
  const std::string id = email_id(1);
  put(payload("one", id), "m1");
  EXPECT_TRUE(make_intake()->run_once());
  put(payload("two", id), "m2");
  broker_.crash();
  EXPECT_FALSE(make_intake()->run_once());
  broker_.restart();
  clock_->advance(seconds(60));
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_EQ(metric(*intake, "conflicting"), "1");
  EXPECT_EQ(metric(*intake, "repeated"), "0");
  EXPECT_EQ(depth("mail.dead"), 1U);
}

TEST_F(QueueIntakeTest, AnEmailOfAnotherTenantIsNotTakenForARepeat) {
  const std::string id = email_id(1);
  put(payload("one", id), "m1");
  EXPECT_TRUE(make_intake()->run_once());
  options_.tenant = "other";
  put(payload("one", id), "m2");
  const auto intake = make_intake();
  EXPECT_TRUE(intake->run_once());
  EXPECT_EQ(metric(*intake, "conflicting"), "1");
  EXPECT_EQ(depth("mail.dead"), 1U);
}

TEST_F(QueueIntakeTest, MessagesWithMoreValuesThanTheRestApiTakesAreNotParsed) {
  put(std::string(json::most_values + 1, '['), "m1");
  const auto intake = make_intake();
  testing::internal::CaptureStderr();
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("it has more than 250000 values"));
  EXPECT_EQ(metric(*intake, "rejected"), "1");
  EXPECT_EQ(depth("mail.dead"), 1U);
}

TEST_F(QueueIntakeTest, MessagesThatAreRejectedForTheSameReasonAreToldOnceAMinute) {
  for (int i = 0; i < 5; ++i) put("no e-mail", "m" + std::to_string(i));
  const auto intake = make_intake();
  const net::LoggedLines lines;
  EXPECT_TRUE(intake->run_once());
  EXPECT_EQ(metric(*intake, "rejected"), "5");
  EXPECT_EQ(lines.count("a message was rejected"), 1);
  clock_->advance(net::RepeatedTrouble::pause);
  put("no e-mail", "m6");
  EXPECT_TRUE(intake->run_once());
  EXPECT_EQ(lines.count("others=4"), 1);
}

TEST_F(QueueIntakeTest, MessagesWithoutAnIdAreAccepted) {
  put(payload("one"), "");
  put(payload("one"), "");
  EXPECT_TRUE(make_intake()->run_once());
  EXPECT_THAT(emails(), SizeIs(2));
  EXPECT_EQ(depth(), 0U);
}

TEST_F(QueueIntakeTest, InTroubleMessagesStayInTheQueueInTheirOrder) {
  put(payload("one"), "m1");
  put(payload("two"), "m2");
  put(payload("three"), "");
  store::UpdateTableRequest unprotected;
  unprotected.table_name = store_.tables().emails;
  unprotected.deletion_protection = false;
  ASSERT_TRUE(store_.engine().update_table(unprotected));
  ASSERT_TRUE(store_.engine().delete_table(store_.tables().emails));
  const auto intake = make_intake();
  EXPECT_FALSE(intake->run_once());
  EXPECT_FALSE(intake->run_once());
  EXPECT_EQ(metric(*intake, "released"), "6");
  EXPECT_EQ(metric(*intake, "rejected"), "0");
  EXPECT_EQ(depth(), 3U);
  ASSERT_TRUE(prepare_tables(store_.engine(), store_.tables()));
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(3));
  EXPECT_EQ(depth(), 0U);
}

TEST_F(QueueIntakeTest, LargeMessagesThatFindNoRoomInMemoryStayInTheQueue) {
  put(payload("large").insert(1, R"("body_html":")" + std::string(200'000, 'x') + R"(",)"), "m1");
  MessageRoom sending(&memory_);
  sending.take_anyway(1 << 20);
  const auto intake = make_intake();
  EXPECT_FALSE(intake->run_once());
  EXPECT_EQ(metric(*intake, "released"), "1");
  EXPECT_EQ(depth(), 1U);
  sending = {};
  EXPECT_TRUE(intake->run_once());
  EXPECT_THAT(emails(), SizeIs(1));
}

TEST_F(QueueIntakeTest, ABrokerThatFailsIsLeftAloneForAWhile) {
  options_.queue = std::string(300, 'x');
  EXPECT_FALSE(make_intake()->run_once());
}

TEST(ConcurrentQueueIntake, TakesEverythingAndStopsWhenItIsTold) {
  constexpr int count = 60;
  const auto clock = std::make_shared<base::SystemClock>();
  OutboxStore store(SpoolChoice::store, clock);
  const auto ledger = store.make_ledger();
  WorkSignal signal;
  Outbox outbox(*ledger, store.suppressions(), ledger_policy(), *clock, store.random(), signal, {});
  StoreQueue queue(store.engine(), *clock, store.random(), store.retry(), {});
  QueueIntake intake(queue, outbox, *clock, store.random(),
                     {.connection = "embedded", .queue = "mail", .workers = 3, .batch = 7});
  intake.start();
  ASSERT_TRUE(is_complete(queue.produce(
      "mail", {count, [](std::size_t i) { return broker::Message{.id = std::to_string(i), .body = payload("s")}; }}, {},
      nullptr)));
  const auto accepted = [&] { return (*outbox.counts(""))[static_cast<std::size_t>(State::accepted)]; };
  EXPECT_TRUE(base::eventually([&] { return accepted() >= count; }));
  intake.stop();
  EXPECT_EQ(accepted(), count);
  EXPECT_EQ(queue.depth("mail")->ready, 0U);
  // What comes after the end stays.
  ASSERT_TRUE(is_complete(queue.produce("mail", messages::numbered(1), {}, nullptr)));
  EXPECT_EQ(queue.depth("mail")->ready, 1U);
}

}  // namespace
}  // namespace postino::outbox
