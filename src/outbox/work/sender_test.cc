#include "outbox/work/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "outbox/ledger/memory_ledger_testing.h"
#include "outbox/ledger/memory_suppressions_testing.h"
#include "outbox/work/worker_testing.h"

namespace postino::outbox {
namespace {

using smtp::Severity;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Does what the test says, and remembers what it was given.
class ScriptedTransport final : public Transport {
 public:
  using Script = std::function<smtp::SendResult(const Delivery&, const smtp::Session::BeforeEnd&)>;

  smtp::SendResult deliver(const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) override {
    envelopes.push_back(delivery.envelope);
    messages.emplace_back(delivery.message);
    return script(delivery, before_end);
  }

  Script script = [](const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) {
    EXPECT_TRUE(before_end());
    return delivered(delivery.email);
  };
  std::vector<smtp::Envelope> envelopes;
  std::vector<std::string> messages;
};

class SenderTest : public testing::Test {
 protected:
  SenderTest() { policy_.unknown_outcome = UnknownOutcomePolicy::hold; }

  Sender sender(const std::string& envelope_sender = "", FreshMessages* fresh = nullptr) {
    return {ledger_, suppressions_, transport_, policy_, clock_, envelope_sender, fresh, &shutdown_deadline_};
  }
  // In the hands of a sender, with its lease.
  Email claimed(
      const std::string& id = "1", const std::function<void(Email&)>& change = [](Email&) {}) {
    Change claimed = processing(id, policy_);
    change(claimed.after);
    Email email = ledger_.put(std::move(claimed));
    leases_.hold(email);
    return email;
  }
  static void to_ann_and_bob(Email& email) {
    email.tenant = "shop";
    email.recipients = {{"Ann@example.com", RecipientState::pending, ""},
                        {"bob@example.com", RecipientState::pending, ""}};
  }
  // As long as memory has no limit.
  Event work(const Email& email, const Sender& sender) {
    MessageRoom room;
    return sender.work(email, leases_, room).value();
  }
  Event work(const Email& email) { return work(email, sender()); }
  // The state that the attempt leads to.
  State state_after(const Email& email, const Event& event) {
    const auto change = decide(email, event, policy_, clock_.now());
    EXPECT_TRUE(change) << change.error().message;
    return change ? change->after.state : State::cancelled;
  }
  // The test fails when it is another event.
  template <class Expected>
  static Expected as(const Event& event) {
    const auto* expected = std::get_if<Expected>(&event);
    EXPECT_NE(expected, nullptr) << "it is event number " << event.index();
    return expected != nullptr ? *expected : Expected();
  }

  Policy policy_;
  base::ManualClock clock_{test_start};
  MemoryLedger ledger_{policy_, clock_};
  Leases leases_{ledger_, policy_, clock_};
  MemorySuppressions suppressions_;
  ScriptedTransport transport_;
  net::ShutdownDeadline shutdown_deadline_;
};

TEST_F(SenderTest, TriesNothingWhileItMustNotBeSent) {
  const Email email = claimed();
  std::optional<std::string> why = "the customer has opted out";
  const Sender asking(ledger_, suppressions_, transport_, policy_, clock_, "", nullptr, &shutdown_deadline_,
                      [&](const Email& asked) {
                        EXPECT_EQ(asked.id, email.id);
                        return why;
                      });
  const auto postponed = as<event::SendingPostponed>(work(email, asking));
  EXPECT_EQ(postponed.reason, "the customer has opted out");
  EXPECT_EQ(postponed.due, clock_.now() + seconds(60));
  EXPECT_EQ(state_after(email, postponed), State::ready);
  EXPECT_THAT(transport_.messages, IsEmpty());
  Email often = email;
  often.reached[index_of(State::processing)] = email.attempts + 3;
  EXPECT_EQ(as<event::SendingPostponed>(work(often, asking)).due, clock_.now() + seconds(8 * 60));
  often.reached[index_of(State::processing)] = 10'000;
  EXPECT_EQ(as<event::SendingPostponed>(work(often, asking)).due, clock_.now() + seconds(64 * 60));
  why.reset();
  as<event::SendingAttempted>(work(email, asking));
  EXPECT_THAT(transport_.messages, SizeIs(1));
}

TEST_F(SenderTest, SendsTheMessageToEachPendingRecipientOnce) {
  const Email email = claimed("1", [](Email& each) {
    each.recipients = {{"ann@example.com", RecipientState::delivered, ""},
                       {"bob@example.com", RecipientState::pending, ""},
                       {"cyd@example.com", RecipientState::refused, ""},
                       {"bob@example.com", RecipientState::pending, ""},
                       {"dan@example.com", RecipientState::pending, ""}};
  });
  const auto attempted = as<event::SendingAttempted>(work(email));
  EXPECT_EQ(attempted.result.reply.text, "250 2.0.0 ok");
  EXPECT_THAT(attempted.suppressed, IsEmpty());
  ASSERT_THAT(transport_.envelopes, SizeIs(1));
  EXPECT_THAT(transport_.envelopes[0].recipients, ElementsAre("bob@example.com", "dan@example.com"));
  EXPECT_EQ(transport_.envelopes[0].sender, "ann@example.com");
  EXPECT_EQ(transport_.envelopes[0].envelope_id, "1");
  EXPECT_THAT(transport_.messages, ElementsAre(test_message));
}

// The process ends.
TEST_F(SenderTest, ASessionThatTheShutdownDeadlineBreaksOffWasNoAttempt) {
  smtp::SendResult broken;
  broken.session_failed = true;
  broken.reply.text = "timed out";
  transport_.script = [&](const Delivery&, const smtp::Session::BeforeEnd&) { return broken; };
  const Email email = claimed();
  EXPECT_EQ(as<event::SendingAttempted>(work(email)).result.reply.text, "timed out") << "there is no shutdown_deadline";
  shutdown_deadline_.begin_at(std::chrono::steady_clock::now() + std::chrono::hours(1));
  as<event::SendingAttempted>(work(email));
  shutdown_deadline_.begin_at(std::chrono::steady_clock::now());
  as<event::GivenBack>(work(email));
  EXPECT_EQ(state_after(email, work(email)), State::ready);
  broken.outcome_unknown = true;
  as<event::SendingAttempted>(work(email));
  broken = {};
  broken.severity = smtp::Severity::permanent;
  as<event::SendingAttempted>(work(email));
}

TEST_F(SenderTest, BouncesGoToTheConfiguredAddress) {
  work(claimed(), sender("bounces@example.com"));
  ASSERT_THAT(transport_.envelopes, SizeIs(1));
  EXPECT_EQ(transport_.envelopes[0].sender, "bounces@example.com");
}

TEST_F(SenderTest, AFreshMessageIsNotReadFromTheSpool) {
  FreshMessages fresh;
  fresh.put("1", {"Subject: fresh\r\n\r\n"});
  const Email email = claimed();
  work(email, sender("", &fresh));
  EXPECT_EQ(ledger_.spool().reads(), 0);
  work(email, sender("", &fresh));
  EXPECT_THAT(transport_.messages, ElementsAre("Subject: fresh\r\n\r\n", test_message)) << "it is taken once";
}

TEST_F(SenderTest, RoomIsTakenBeforeTheMessageIsRead) {
  const auto budget = std::make_shared<base::MemoryBudget>(2 << 20);
  MessageMemory memory(budget);
  const std::string message = "Subject: large\r\n\r\n" + std::string(1 << 20, 'x') + "\r\n";
  const Email email = ledger_.put(happens(happens(accepted("1", policy_), event::MessageBuilt{message}, policy_),
                                          event::Claimed{"worker"}, policy_));
  leases_.hold(email);
  MessageRoom others(&memory);
  ASSERT_TRUE(others.take(3 << 19));
  MessageRoom room(&memory);
  EXPECT_FALSE(sender().work(email, leases_, room)) << "nothing has happened";
  EXPECT_TRUE(room.is_waiting());
  EXPECT_THAT(transport_.envelopes, IsEmpty());

  as<event::SendingAttempted>(work(claimed("2")));  // the destination takes one at a time
  EXPECT_THAT(transport_.messages, ElementsAre(test_message)) << "others go on";
  others = {};
  transport_.script = [&](const Delivery& delivery, const smtp::Session::BeforeEnd&) {
    EXPECT_EQ(budget->taken(), message.size());
    return delivered(delivery.email);
  };
  EXPECT_TRUE(sender().work(email, leases_, room));
  EXPECT_THAT(transport_.messages, ElementsAre(test_message, message));
}

TEST_F(SenderTest, EachKindOfReplyHasItsOutcome) {
  const auto outcome_of = [&](Severity severity, const smtp::Reply& reply) {
    transport_.script = [=](const Delivery& delivery, const smtp::Session::BeforeEnd&) {
      return result_for(delivery.email, severity, reply);
    };
    const Email email = claimed();
    const Event event = work(email);
    EXPECT_EQ(as<event::SendingAttempted>(event).result.reply.text, reply.text);
    return state_after(email, event);
  };
  EXPECT_EQ(outcome_of(Severity::success, {250, "2.0.0", "250 2.0.0 ok"}), State::sent);
  EXPECT_EQ(outcome_of(Severity::temporary, {450, "4.2.0", "450 4.2.0 busy"}), State::ready);
  EXPECT_EQ(outcome_of(Severity::temporary, {0, "", "connection reset"}), State::ready);
  EXPECT_EQ(outcome_of(Severity::permanent, {550, "5.7.1", "550 5.7.1 spam"}), State::failed);
}

TEST_F(SenderTest, WhenTheConnectionIsLostAfterTheEndTheOutcomeIsUnknown) {
  transport_.script = [](const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) {
    EXPECT_TRUE(before_end());
    smtp::SendResult result = result_for(delivery.email, Severity::temporary, {0, "", "connection reset"});
    result.outcome_unknown = true;
    return result;
  };
  const Email email = claimed();
  const Event event = work(email);
  EXPECT_TRUE(as<event::SendingAttempted>(event).result.outcome_unknown);
  EXPECT_EQ(state_after(email, event), State::held);
}

TEST_F(SenderTest, ThatTheMessageMayBeSentIsWrittenBeforeItsEnd) {
  bool was_unknown_before = true;
  bool was_unknown_at_the_end = false;
  transport_.script = [&](const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) {
    was_unknown_before = ledger_.email("1").outcome_unknown;
    EXPECT_TRUE(before_end());
    was_unknown_at_the_end = ledger_.email("1").outcome_unknown;
    return delivered(delivery.email);
  };
  work(claimed());
  EXPECT_FALSE(was_unknown_before);
  EXPECT_TRUE(was_unknown_at_the_end);
  EXPECT_THAT(ledger_.amendments(), SizeIs(1));
}

TEST_F(SenderTest, WhatIsOnRecordSinceTheClaimIsNotWrittenAgain) {
  policy_.unknown_outcome = UnknownOutcomePolicy::resend;
  const Email email = claimed();
  ASSERT_TRUE(email.outcome_unknown);
  work(email);
  EXPECT_THAT(transport_.envelopes, SizeIs(1));
  EXPECT_THAT(ledger_.amendments(), IsEmpty());
}

// What the end of the message is told, when it comes to that.
class SenderBeforeTheEndTest : public SenderTest {
 protected:
  base::Result<void> ask_before_end(const Email& email, const std::function<void()>& meanwhile) {
    base::Result<void> answer;
    transport_.script = [&](const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) {
      meanwhile();
      answer = before_end();
      return delivered(delivery.email);
    };
    work(email);
    return answer;
  }
};

TEST_F(SenderBeforeTheEndTest, ALeaseThatIsOverForbidsIt) {
  const Email email = claimed();
  const auto answer = ask_before_end(email, [&] { clock_.advance(policy_.lease); });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), (base::Error{base::ErrorCode::conflict, "the lease of the e-mail has expired"}));
  EXPECT_THAT(ledger_.amendments(), IsEmpty());
}

TEST_F(SenderBeforeTheEndTest, ALeaseThatIsOverForbidsItEvenWhenNothingNeedsWriting) {
  policy_.unknown_outcome = UnknownOutcomePolicy::resend;
  const Email email = claimed();
  EXPECT_FALSE(ask_before_end(email, [&] { leases_.drop(email); }));
}

TEST_F(SenderBeforeTheEndTest, AnEmailThatAnotherWorkerHasForbidsIt) {
  const Email email = claimed();
  const auto answer = ask_before_end(email, [&] { ledger_.take_over("1"); });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::ErrorCode::conflict);
}

TEST_F(SenderBeforeTheEndTest, ALedgerThatCannotBeWrittenForbidsIt) {
  const Email email = claimed();
  const auto answer = ask_before_end(email, [&] { ledger_.fail_amendments(1); });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::ErrorCode::io);
}

TEST_F(SenderTest, AMessageThatIsDamagedIsLost) {
  const Email email = claimed("1", to_ann_and_bob);
  EXPECT_TRUE(suppressions_.add("shop", {"ann@example.com", "bounced", test_start}));
  ledger_.spool().spoil(email.message_path, {base::ErrorCode::corrupt, "no message"});
  const Event event = work(email);
  const auto lost = as<event::MessageLost>(event);
  EXPECT_EQ(lost.reason, "no message");
  EXPECT_FALSE(lost.suppressed.empty());
  EXPECT_EQ(state_after(email, event), State::failed);
  EXPECT_THAT(transport_.envelopes, IsEmpty());
}

// Another server may have written it into another spool.
TEST_F(SenderTest, AMessageThatIsNotInTheSpoolIsAwaited) {
  MissingContents missing(clock_);
  const Sender looking(ledger_, suppressions_, transport_, policy_, clock_, "", nullptr, &shutdown_deadline_, {},
                       &missing);
  const Email email = claimed();
  ledger_.spool().spoil(email.message_path, {base::ErrorCode::not_found, "no message"});
  const Event event = work(email, looking);
  EXPECT_EQ(as<event::SendingAttempted>(event).result.reply.text, "no message");
  EXPECT_EQ(state_after(email, event), State::ready);
  EXPECT_THAT(missing.problem().value_or(""), testing::StartsWith("1 e-mail waits for contents"));
  const Email other = claimed("2");
  static_cast<void>(work(other, looking));
  EXPECT_THAT(missing.problem().value_or(""), testing::HasSubstr("(no message)")) << "of the first one";
  missing.found("1");
  EXPECT_FALSE(missing.problem());
}

TEST_F(SenderTest, WhatMissesContentsIsForgottenInTime) {
  MissingContents missing(clock_);
  missing.miss("1", "gone");
  clock_.advance(MissingContents::remembered);
  EXPECT_TRUE(missing.problem());
  missing.miss("2", "gone");
  clock_.advance(seconds(1));
  EXPECT_THAT(missing.problem().value_or(""), testing::HasSubstr("such as 2 ")) << "1 is another server's by now";
}

// Another program has damaged the record: neither is anything else sent, nor is it tried again and again.
TEST_F(SenderTest, AMessageThatCannotBeTheirsIsLost) {
  const std::string id = "0d9f1c1e-6a5b-4a4e-9a35-0f6a3a0c7b11";
  Email email = claimed(id);
  const Email other = claimed("8888c4a9-0c65-8959-b622-f0ff3604135e");
  for (const std::string& path : {std::string(), other.message_path, email.payload_path}) {
    email.message_path = path;
    const Event event = work(email);
    EXPECT_THAT(as<event::MessageLost>(event).reason, testing::StartsWith("the record of the e-mail names"));
    EXPECT_EQ(state_after(email, event), State::failed);
  }
  email.message_path = "2026";
  ledger_.spool().spoil(email.message_path, {base::ErrorCode::invalid, "2026 is not a regular file"});
  const Event event = work(email);
  EXPECT_THAT(as<event::MessageLost>(event).reason, testing::HasSubstr("2026 is not a regular file"));
  EXPECT_EQ(state_after(email, event), State::failed);
  EXPECT_THAT(transport_.envelopes, IsEmpty());
}

TEST_F(SenderTest, AMessageThatCannotBeReadNowIsTriedAgain) {
  const Email email = claimed();
  ledger_.spool().spoil(email.message_path, {base::ErrorCode::io, "the disk is away"});
  const Event event = work(email);
  EXPECT_EQ(as<event::SendingAttempted>(event).result.reply.text, "the disk is away");
  EXPECT_EQ(state_after(email, event), State::ready);
  EXPECT_THAT(transport_.envelopes, IsEmpty());
}

TEST_F(SenderTest, SuppressedRecipientsAreNotTried) {
  EXPECT_TRUE(suppressions_.add("shop", {"ann@EXAMPLE.com", "bounced", test_start}));
  EXPECT_TRUE(suppressions_.add("another tenant", {"bob@example.com", "bounced", test_start}));
  const Email email = claimed("1", to_ann_and_bob);
  const auto attempted = as<event::SendingAttempted>(work(email));
  ASSERT_THAT(transport_.envelopes, SizeIs(1));
  EXPECT_THAT(transport_.envelopes[0].recipients, ElementsAre("bob@example.com"));
  ASSERT_THAT(attempted.suppressed, SizeIs(1));
  EXPECT_EQ(attempted.suppressed[0].reason, "bounced");
}

TEST_F(SenderTest, WhenAllRecipientsAreSuppressedNothingIsSent) {
  EXPECT_TRUE(suppressions_.add("", {"bob@example.com", "bounced", test_start}));
  const Email email = claimed();
  EXPECT_EQ(state_after(email, work(email)), State::failed);
  EXPECT_THAT(transport_.envelopes, IsEmpty());
  EXPECT_EQ(ledger_.spool().reads(), 0);
}

// Another program has removed them.
TEST_F(SenderTest, ARecordWithoutRecipientsIsToldAsSuch) {
  const auto without_recipients = [](Email& each) { each.recipients.clear(); };
  const Email email = claimed("1", without_recipients);
  const Event event = work(email);
  EXPECT_THAT(as<event::MessageLost>(event).reason, testing::StartsWith("the record of the e-mail has no recipients"));
  EXPECT_EQ(state_after(email, event), State::failed);
  const Email later = claimed("2", without_recipients);
  ledger_.spool().spoil(later.payload_path, {base::ErrorCode::io, "the disk is away"});
  EXPECT_EQ(as<event::SendingPostponed>(work(later)).reason, "the disk is away");
  EXPECT_THAT(transport_.envelopes, IsEmpty());
}

TEST_F(SenderTest, WithoutTheSuppressionListNothingIsTried) {
  suppressions_.fail();
  const Email email = claimed();
  const Event event = work(email);
  const auto postponed = as<event::SendingPostponed>(event);
  EXPECT_EQ(postponed.reason, "the list is out of order");
  EXPECT_EQ(postponed.due, test_start + seconds(5));
  EXPECT_EQ(state_after(email, event), State::ready);
  EXPECT_THAT(transport_.envelopes, IsEmpty());
}

TEST(SenderDestinations, AreTheDomainsThatAreStillToGetIt) {
  Email email;
  email.recipients = {{"ann@B.example", RecipientState::pending, ""},
                      {"bob@a.example", RecipientState::pending, ""},
                      {"cyd@b.example", RecipientState::pending, ""},
                      {"dan@c.example", RecipientState::delivered, ""},
                      {"eve@d.example", RecipientState::suppressed, ""}};
  EXPECT_THAT(domains_of(email), ElementsAre("a.example", "b.example"));
  EXPECT_THAT(domains_of(Email()), IsEmpty());
}

TEST(SenderDestinations, AskForAPauseEachForItself) {
  smtp::SendResult result;
  result.recipients = {
      {"ann@a.example", Severity::temporary, {450, "4.7.1", "450 4.7.1 too fast, try again in 60 seconds"}},
      {"bob@b.example", Severity::temporary, {450, "4.2.1", "450 4.2.1 mailbox busy, try again in 60 seconds"}},
      {"cyd@c.example", Severity::temporary, {450, "4.7.1", "450 4.7.1 too fast"}},
      {"dan@d.example", Severity::success, {250, "2.0.0", "250 2.0.0 ok"}}};
  EXPECT_THAT(pauses_asked_for(result),
              ElementsAre(std::pair<std::string, base::Milliseconds>("a.example", seconds(60))));
}

}  // namespace
}  // namespace postino::outbox
