#include "outbox/transport/smtp_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/many_threads_testing.h"
#include "smtp/script_testing.h"

namespace postino::outbox {
namespace {

using smtp::Severity;
using std::chrono::hours;
using std::chrono::milliseconds;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string message = "Subject: hello\r\n\r\nhello\r\n";

// A relay that takes every message, unless the test says otherwise, and remembers what its clients did.
class Relay {
 public:
  // What to do instead in a session that has said hello; false: go on as usual.
  using Mood = std::function<bool(smtp::ScriptPeer&)>;
  explicit Relay(Mood mood = nullptr, std::string extensions = "")
      : mood_(std::move(mood)), extensions_(std::move(extensions)) {}

  smtp::Options options() const {
    smtp::Options options;
    options.host = "127.0.0.1";
    options.port = server_.port();
    options.tls = smtp::TlsPolicy::off;
    options.local_name = "client.example";
    return options;
  }

  // Sessions so far.
  int greeted() const { return greeted_; }
  // Of each session its messages and its goodbye. Waits for the end of so many; the test fails when there are more.
  std::vector<std::string> sessions(int count) {
    server_.finish(count);
    return sessions_;
  }

  // Takes one message and answers so.
  static void take_message(smtp::ScriptPeer& peer, std::string_view reply) {
    for (std::string command; command != "DATA";) {
      command = peer.hear();
      peer.say(command == "DATA" ? "354 go on" : "250 2.0.0 ok");
    }
    peer.hear_message();
    if (!reply.empty()) peer.say(reply);
  }

 private:
  void serve(smtp::ScriptPeer& peer) {
    sessions_.emplace_back();
    ++greeted_;
    peer.welcome(extensions_);
    if (mood_ && mood_(peer)) return;
    for (std::string command = peer.hear(); !command.ends_with("(end)"); command = peer.hear()) {
      if (command == "QUIT") {
        sessions_.back() += "goodbye";
        return peer.say("221 2.0.0 bye");
      }
      peer.say(command == "DATA" ? "354 go on" : "250 2.0.0 ok");
      if (command != "DATA") continue;
      if (peer.hear_message().ends_with("(end)")) return;
      sessions_.back() += "message ";
      peer.say("250 2.0.0 queued");
    }
  }

  const Mood mood_;
  const std::string extensions_;
  std::vector<std::string> sessions_;
  std::atomic<int> greeted_ = 0;
  smtp::ScriptServer server_{[this](smtp::ScriptPeer& peer) { serve(peer); }};
};

// Refuses the first session at its first message, in words that mean all messages.
bool refuse_first_session(smtp::ScriptPeer& peer) {
  if (peer.number() > 1) return false;
  peer.hear();
  peer.say("421 4.3.2 not now");
  return true;
}

// Fails the test when it gets a connection.
bool want_none(smtp::ScriptPeer& /*peer*/) {
  ADD_FAILURE() << "this relay was not to be asked";
  return true;
}

class SmtpTransportTest : public testing::Test {
 protected:
  void open(std::vector<smtp::Options> relays, SmtpTransportOptions options = {}) {
    options.relays = std::move(relays);
    auto created = SmtpTransport::create(std::move(options));
    ASSERT_TRUE(created) << created.error().message;
    transport_ = *std::move(created);
  }
  smtp::SendResult deliver(const smtp::Session::BeforeEnd& before_end = nullptr) {
    return transport_->deliver({email_, {"from@example.com", {"ann@example.com", "bob@example.com"}, ""}, message},
                               before_end);
  }
  // Says goodbye in the sessions that are left.
  void close() { transport_.reset(); }

  const Email email_;
  std::unique_ptr<SmtpTransport> transport_;
};

std::vector<Severity> severities_of(const smtp::SendResult& result) {
  std::vector<Severity> severities;
  for (const smtp::RecipientResult& recipient : result.recipients) severities.push_back(recipient.severity);
  return severities;
}

const smtp::Envelope to_joerg_too = {"from@example.com", {"ann@example.com", "j\u00f6rg@example.com"}, ""};

TEST_F(SmtpTransportTest, TheNextRelayTakesWhatOneCannotTakeForWantOfAnExtension) {
  Relay without, with(nullptr, "8BITMIME\nSMTPUTF8");
  open({without.options(), with.options()});
  const smtp::SendResult result = transport_->deliver({email_, to_joerg_too, message}, nullptr);
  EXPECT_THAT(severities_of(result), ElementsAre(Severity::success, Severity::success));
  EXPECT_THAT(transport_->problems(), testing::IsEmpty()) << "nothing is wrong with the first one";
  close();
  EXPECT_THAT(without.sessions(1), ElementsAre("goodbye"));
  EXPECT_THAT(with.sessions(1), ElementsAre("message goodbye"));
}

TEST_F(SmtpTransportTest, TheNextRelayTakesWhatIsTooLargeForOne) {
  Relay small(nullptr, "SIZE 10"), large(nullptr, "SIZE 1000");
  open({small.options(), large.options()});
  EXPECT_EQ(deliver().severity, Severity::success);
  close();
  EXPECT_THAT(small.sessions(1), ElementsAre("goodbye"));
}

TEST_F(SmtpTransportTest, WhatNoRelayCanTakeForAllGoesToTheOthers) {
  Relay first, second;
  open({first.options(), second.options()});
  const smtp::SendResult result = transport_->deliver({email_, to_joerg_too, message}, nullptr);
  EXPECT_THAT(severities_of(result), ElementsAre(Severity::success, Severity::permanent));
  EXPECT_EQ(result.recipients[1].reply.text,
            "not sent: the address is not ASCII, and the mail server does not offer SMTPUTF8");
  close();
  EXPECT_THAT(first.sessions(1), ElementsAre("message goodbye"));
  EXPECT_THAT(second.sessions(1), ElementsAre("goodbye"));
}

TEST_F(SmtpTransportTest, WhatTheRelayThatIsDownMayTakeIsTriedAgain) {
  Relay without, down(refuse_first_session, "8BITMIME\nSMTPUTF8");
  open({without.options(), down.options()});
  const smtp::SendResult result = transport_->deliver({email_, to_joerg_too, message}, nullptr);
  EXPECT_THAT(severities_of(result), ElementsAre(Severity::temporary, Severity::temporary));
  close();
}

TEST_F(SmtpTransportTest, MessagesShareASession) {
  Relay relay;
  open({relay.options()});
  for (int i = 0; i < 3; ++i) {
    const smtp::SendResult result = deliver();
    EXPECT_EQ(result.reply.text, "250 2.0.0 queued");
    EXPECT_THAT(severities_of(result), ElementsAre(Severity::success, Severity::success));
  }
  close();
  EXPECT_THAT(relay.sessions(1), ElementsAre("message message message goodbye"));
}

TEST_F(SmtpTransportTest, ASessionTakesNoMoreMessagesThanItMay) {
  Relay relay;
  open({relay.options()}, {.messages_per_session = 2});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(deliver().severity, Severity::success);
  close();
  EXPECT_THAT(relay.sessions(2), ElementsAre("message message goodbye", "message goodbye"));
}

TEST_F(SmtpTransportTest, IdleSessionsAreClosedAfterAWhile) {
  Relay relay;
  open({relay.options()}, {.idle_time = milliseconds(0)});
  EXPECT_EQ(deliver().severity, Severity::success);
  transport_->close_idle_sessions();
  EXPECT_EQ(deliver().severity, Severity::success);
  close();
  EXPECT_THAT(relay.sessions(2), Each("message goodbye"));
}

TEST_F(SmtpTransportTest, IdleSessionsAreKeptUntilThen) {
  Relay relay;
  open({relay.options()}, {.idle_time = hours(1)});
  EXPECT_EQ(deliver().severity, Severity::success);
  transport_->close_idle_sessions();
  EXPECT_EQ(deliver().severity, Severity::success);
  close();
  EXPECT_THAT(relay.sessions(1), ElementsAre("message message goodbye"));
}

TEST_F(SmtpTransportTest, AKeptSessionThatHasEndedSaysNothingAboutTheRelay) {
  Relay relay([](smtp::ScriptPeer& peer) {
    if (peer.number() > 1) return false;
    Relay::take_message(peer, "250 2.0.0 queued");
    peer.hear();  // the next message begins, and the connection ends
    return true;
  });
  Relay other(want_none);
  open({relay.options(), other.options()});
  EXPECT_EQ(deliver().severity, Severity::success);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(deliver().reply.text, "250 2.0.0 queued");
  close();
  EXPECT_THAT(relay.sessions(2), ElementsAre("", "message message goodbye"));
  other.sessions(0);
}

TEST_F(SmtpTransportTest, AKeptSessionThatIsClosedAtTheNextMessageSaysNothingAboutTheRelay) {
  Relay relay([](smtp::ScriptPeer& peer) {
    if (peer.number() > 1) return false;
    Relay::take_message(peer, "250 2.0.0 queued");
    peer.hear();
    peer.say("421 4.4.2 idle for too long");
    return true;
  });
  Relay other(want_none);
  open({relay.options(), other.options()}, {.relay_pause = hours(1)});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(deliver().reply.text, "250 2.0.0 queued");
  close();
  EXPECT_THAT(relay.sessions(2), ElementsAre("", "message message goodbye"));
  other.sessions(0);
}

TEST_F(SmtpTransportTest, AFreshSessionThatIsClosedAsWellIsTheRelaysFault) {
  Relay relay([](smtp::ScriptPeer& peer) {
    if (peer.number() == 1) Relay::take_message(peer, "250 2.0.0 queued");
    peer.hear();
    peer.say("421 4.3.2 going down");
    return true;
  });
  Relay other;
  open({relay.options(), other.options()}, {.relay_pause = hours(1)});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(deliver().reply.text, "250 2.0.0 queued");
  close();
  relay.sessions(2);
  EXPECT_THAT(other.sessions(1), ElementsAre("message message goodbye"));
}

TEST_F(SmtpTransportTest, AWholeMessageThatIsRefusedWithTheSessionIsNotSentAgainToTheRelay) {
  Relay relay([](smtp::ScriptPeer& peer) {
    Relay::take_message(peer, "250 2.0.0 queued");
    Relay::take_message(peer, "421 4.3.2 going down");
    return true;
  });
  Relay other;
  open({relay.options(), other.options()}, {.relay_pause = hours(1)});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(deliver().reply.text, "250 2.0.0 queued");
  close();
  relay.sessions(1);
  EXPECT_THAT(other.sessions(1), ElementsAre("message goodbye"));
}

TEST_F(SmtpTransportTest, ASessionThatTheServerHasClosedIsNotUsed) {
  Relay relay([](smtp::ScriptPeer& peer) {
    Relay::take_message(peer, "250 2.0.0 queued");
    return true;
  });
  open({relay.options()});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(deliver().reply.text, "250 2.0.0 queued");
  relay.sessions(2);
}

TEST_F(SmtpTransportTest, WhatMayHaveArrivedIsNotBegunAgain) {
  Relay relay([](smtp::ScriptPeer& peer) {
    Relay::take_message(peer, "250 2.0.0 queued");
    Relay::take_message(peer, "");
    return true;
  });
  Relay other(want_none);
  open({relay.options(), other.options()});
  EXPECT_FALSE(deliver().outcome_unknown);
  const smtp::SendResult result = deliver();
  EXPECT_TRUE(result.outcome_unknown);
  EXPECT_EQ(result.severity, Severity::temporary);
  relay.sessions(1);
  other.sessions(0);
}

TEST_F(SmtpTransportTest, ARefusedMessageIsNotOfferedToAnotherRelay) {
  int number = 0;
  Relay relay([&](smtp::ScriptPeer& peer) {
    for (const std::string_view reply : {"550 5.7.1 spam", "451 4.7.1 greylisted", "250 2.0.0 queued"}) {
      Relay::take_message(peer, reply);
      ++number;
    }
    return true;
  });
  Relay other(want_none);
  open({relay.options(), other.options()});
  const smtp::SendResult spam = deliver();
  EXPECT_EQ(spam.reply.code, 550);
  EXPECT_THAT(severities_of(spam), ElementsAre(Severity::permanent, Severity::permanent));
  const smtp::SendResult greylisted = deliver();
  EXPECT_EQ(greylisted.reply.code, 451);
  EXPECT_EQ(greylisted.severity, Severity::temporary);
  EXPECT_FALSE(greylisted.session_failed);
  EXPECT_EQ(deliver().severity, Severity::success) << "over the same session";
  close();
  relay.sessions(1);
  EXPECT_EQ(number, 3);
  other.sessions(0);
}

TEST_F(SmtpTransportTest, ARefusedRecipientDoesNotStopTheOther) {
  Relay relay([](smtp::ScriptPeer& peer) {
    for (const std::string_view reply : {"250 ok", "550 5.1.1 unknown", "250 ok", "354 go on"}) {
      peer.hear();
      peer.say(reply);
    }
    peer.hear_message();
    peer.say("250 2.0.0 queued");
    return true;
  });
  open({relay.options()});
  const smtp::SendResult result = deliver();
  EXPECT_EQ(result.severity, Severity::success);
  EXPECT_THAT(severities_of(result), ElementsAre(Severity::permanent, Severity::success));
}

TEST_F(SmtpTransportTest, TheNextRelayIsAskedWhenOneTakesNoMessages) {
  Relay first(refuse_first_session);
  Relay second;
  open({first.options(), second.options()}, {.relay_pause = hours(1)});
  EXPECT_EQ(deliver().reply.text, "250 2.0.0 queued");
  EXPECT_EQ(deliver().reply.text, "250 2.0.0 queued");
  close();
  EXPECT_THAT(second.sessions(1), ElementsAre("message message goodbye")) << "the first one has a pause";
  EXPECT_THAT(first.sessions(1), ElementsAre(""));
}

TEST_F(SmtpTransportTest, AfterItsPauseARelayIsTheFirstAgain) {
  Relay first(refuse_first_session);
  Relay second;
  open({first.options(), second.options()}, {.relay_pause = milliseconds(0)});
  EXPECT_EQ(deliver().severity, Severity::success);
  EXPECT_EQ(deliver().severity, Severity::success);
  close();
  EXPECT_THAT(second.sessions(1), ElementsAre("message goodbye"));
  EXPECT_THAT(first.sessions(2), ElementsAre("", "message goodbye"));
}

TEST_F(SmtpTransportTest, TheHealthOfARelayIsWhatTheLastAttemptFound) {
  Relay first(refuse_first_session);
  Relay second;
  open({first.options(), second.options()}, {.relay_pause = milliseconds(0)});
  const std::string name = "127.0.0.1:" + std::to_string(first.options().port);
  const auto metrics = [&] {
    std::string text;
    transport_->append_metrics(text);
    return text;
  };
  EXPECT_THAT(metrics(), HasSubstr("postino_smtp_relay_up{relay=\"" + name + "\"} 1\n"));
  EXPECT_EQ(deliver().severity, Severity::success);
  EXPECT_THAT(transport_->problems(),
              ElementsAre("the mail server " + name + " could not be used at the last attempt: 421 4.3.2 not now"));
  EXPECT_THAT(metrics(), HasSubstr("postino_smtp_relay_up{relay=\"" + name + "\"} 0\n"));
  EXPECT_EQ(deliver().severity, Severity::success);
  EXPECT_THAT(transport_->problems(), testing::IsEmpty());
  EXPECT_THAT(metrics(), HasSubstr("postino_smtp_relay_up{relay=\"" + name + "\"} 1\n"));
  close();
  first.sessions(2);
  second.sessions(1);
}

TEST_F(SmtpTransportTest, ARelayThatDoesNotGreetHasFailedAndTheNextOneIsAsked) {
  smtp::ScriptServer silent([](smtp::ScriptPeer& peer) { peer.hang(); });
  Relay good;
  smtp::Options first = good.options();
  first.port = silent.port();
  open({first, good.options()}, {.relay_pause = hours(1), .greeting_patience = milliseconds(20)});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(deliver().reply.text, "250 2.0.0 queued");
  close();
  EXPECT_THAT(good.sessions(1), ElementsAre("message message message goodbye"));
}

// The first relay greets the connections from `silent_from` on when the test says so, and those before it with a 421.
class SilentRelayTransportTest : public SmtpTransportTest {
 protected:
  void open_with_silence_from(int number, SmtpTransportOptions options) {
    silent_from_ = number;
    smtp::Options first = good_.options();
    first.port = silent_.port();
    options.greeting_patience = hours(1);
    open({first, good_.options()}, std::move(options));
  }
  ~SilentRelayTransportTest() override {
    told_.set_value();
    if (waiting_.joinable()) waiting_.join();
  }
  // A caller has come to the first relay, and waits there.
  void let_one_wait() {
    waiting_ = std::thread([this] { EXPECT_EQ(deliver().severity, Severity::success); });
    arrived_.get_future().wait();
  }

  std::promise<void> told_;
  std::promise<void> arrived_;
  int silent_from_ = 0;
  std::thread waiting_;
  Relay good_;
  smtp::ScriptServer silent_{[this](smtp::ScriptPeer& peer) {
    if (peer.number() == silent_from_) {
      arrived_.set_value();
      told_.get_future().wait();
    }
    peer.say("421 4.3.2 not now");
  }};
};

TEST_F(SilentRelayTransportTest, ARelayThatFailedIsProbedByOneAtATimeAndOthersGoOn) {
  open_with_silence_from(2, {.relay_pause = milliseconds(0)});
  EXPECT_EQ(deliver().severity, Severity::success) << "the first relay has failed by now";
  let_one_wait();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(deliver().severity, Severity::success) << "by the second";
}

TEST_F(SilentRelayTransportTest, ARelayThatIsSilentFromTheBeginningKeepsOneCaller) {
  open_with_silence_from(1, {.relay_pause = hours(1), .news_patience = milliseconds(0)});
  let_one_wait();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(deliver().severity, Severity::success) << "by the second";
}

TEST_F(SmtpTransportTest, ARelayThatHasAPauseIsTriedLast) {
  Relay only(refuse_first_session);
  open({only.options()}, {.relay_pause = hours(1)});
  const smtp::SendResult refused = deliver();
  EXPECT_TRUE(refused.session_failed);
  EXPECT_EQ(refused.reply.text, "421 4.3.2 not now");
  EXPECT_THAT(severities_of(refused), ElementsAre(Severity::temporary, Severity::temporary));
  EXPECT_EQ(deliver().severity, Severity::success) << "there is no other";
  close();
  only.sessions(2);
}

TEST_F(SmtpTransportTest, WhenNoSessionCanBeOpenedAllRecipientsHearOfIt) {
  smtp::ScriptServer server([](smtp::ScriptPeer& peer) { peer.say("554 5.7.1 no mail from you"); });
  smtp::Options relay;
  relay.host = "127.0.0.1";
  relay.port = server.port();
  relay.tls = smtp::TlsPolicy::off;
  open({relay});
  const smtp::SendResult result = deliver();
  EXPECT_TRUE(result.session_failed);
  EXPECT_EQ(result.severity, Severity::temporary) << "it is not about the message";
  ASSERT_THAT(result.recipients, SizeIs(2));
  EXPECT_EQ(result.recipients[1].address, "bob@example.com");
  EXPECT_EQ(result.recipients[1].severity, Severity::temporary);
  EXPECT_EQ(result.recipients[1].reply.text, "554 5.7.1 no mail from you");
}

TEST_F(SmtpTransportTest, WhatMayNotBeSentEndsTheSessionAndIsNotOfferedElsewhere) {
  Relay relay;
  Relay other(want_none);
  open({relay.options(), other.options()});
  const smtp::SendResult result =
      deliver([]() -> base::Result<void> { return base::fail(base::ErrorCode::conflict, "the lease is over"); });
  EXPECT_TRUE(result.not_begun);
  EXPECT_THAT(result.reply.text, HasSubstr("the lease is over"));
  int asked = 0;
  const smtp::SendResult next = deliver([&]() -> base::Result<void> {
    ++asked;
    return {};
  });
  EXPECT_EQ(next.severity, Severity::success);
  EXPECT_EQ(asked, 1);
  close();
  EXPECT_THAT(relay.sessions(2), ElementsAre("", "message goodbye")) << "the first one was cut off";
  other.sessions(0);
}

TEST_F(SmtpTransportTest, AuthoritiesThatCannotBeReadAreAnError) {
  smtp::Options relay;
  relay.host = "127.0.0.1";
  relay.tls = smtp::TlsPolicy::required;
  relay.certificate_file = "/nonexistent/authorities.pem";
  EXPECT_FALSE(SmtpTransport::create({.relays = {relay}}));
}

// The relay serves one session after the other: one that the transport forgot would keep the others waiting.
TEST_F(SmtpTransportTest, ConcurrentDeliveriesUseSessionsInTurn) {
  constexpr int threads = 4;
  const int rounds = base::volume(50);
  Relay relay;
  open({relay.options()}, {.messages_per_session = 3, .idle_time = milliseconds(0)});
  std::atomic<int> delivered = 0;
  base::run_threads(threads, [&](int) {
    for (int i = 0; i < rounds; ++i) {
      if (deliver().severity == Severity::success) ++delivered;
      transport_->close_idle_sessions();
    }
  });
  EXPECT_EQ(delivered, threads * rounds);
  close();
  int messages = 0;
  for (const std::string& session : relay.sessions(relay.greeted()))
    messages += static_cast<int>(std::ranges::count(session, 'm'));
  EXPECT_EQ(messages, threads * rounds);
}

}  // namespace
}  // namespace postino::outbox
