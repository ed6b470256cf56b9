#include <gmock/gmock.h>

#include "mail/smtp_session_testing.h"

namespace postino::mail {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

using enum Severity;
using Severities = std::vector<Severity>;

TEST(SmtpBrokenConnection, DoesNotKnowTheOutcomeWithoutAReplyToTheEnd) {
  for (const std::string_view reply : {"", "garbage", "250-2.0.0 queued", "354 more"}) {
    TestSession session("", refuse_message(reply));
    const SendResult result = session.send();
    EXPECT_EQ(result.severity, temporary) << reply;
    EXPECT_TRUE(result.outcome_unknown) << reply;
    EXPECT_TRUE(result.session_failed) << reply;
    EXPECT_EQ(result.reply.code, 0) << reply;
    EXPECT_NE(result.reply.text, "");
    EXPECT_EQ(severities(result), Severities({temporary}));
    EXPECT_FALSE(session->usable());
    session.close();
  }
}

TEST(SmtpBrokenConnection, KnowsTheOutcomeWhenTheServerSaysThatItGoes) {
  TestSession session("", refuse_message("421 4.3.2 shutting down"));
  const SendResult result = session.send();
  EXPECT_EQ(result.severity, temporary);
  EXPECT_EQ(result.reply.code, 421);
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_FALSE(session->usable());
  session.close();
}

TEST(SmtpBrokenConnection, NothingIsDeliveredWhenTheConnectionBreaksBeforeTheEnd) {
  for (const int replies : {0, 1, 2}) {
    for (const std::string_view capabilities : {"PIPELINING", ""}) {
      TestSession session(capabilities, [=](SmtpPeer& peer) {
        for (int i = 0; i < replies; ++i) {
          peer.hear();
          peer.say("250 ok");
        }
        peer.hear();
        peer.end_with_reset();
      });
      const SendResult result = session.send();
      EXPECT_EQ(result.severity, temporary);
      EXPECT_TRUE(result.session_failed);
      EXPECT_FALSE(result.outcome_unknown);
      EXPECT_EQ(result.reply.code, 0);
      EXPECT_NE(result.reply.text, "");
      EXPECT_EQ(severities(result), Severities({temporary}));
      EXPECT_FALSE(session->usable());
      session.close();
    }
  }
}

TEST(SmtpBrokenConnection, StopsWhenTheServerSaysThatItGoes) {
  for (const std::string_view capabilities : {"PIPELINING", ""}) {
    TestSession session(capabilities, [=](SmtpPeer& peer) {
      for (const std::string_view reply : {"250 ok", "550 5.1.1 no", "421 4.3.2 shutting down"}) {
        peer.hear();
        peer.say(reply);
      }
      for (int i = 0; i < (capabilities.empty() ? 0 : 2); ++i) peer.hear();
      peer.expect_end();
    });
    const SendResult result = session.send(to_three);
    EXPECT_EQ(result.severity, temporary);
    EXPECT_EQ(result.reply.text, "421 4.3.2 shutting down");
    EXPECT_EQ(severities(result), Severities({permanent, temporary, temporary}));
    EXPECT_EQ(result.recipients[2].reply.code, 421);
    EXPECT_TRUE(result.session_failed);
    EXPECT_FALSE(session->usable());
    const SendResult again = session.send();
    EXPECT_EQ(again.severity, temporary) << "and nothing is sent";
    EXPECT_TRUE(again.session_failed);
    EXPECT_EQ(again.reply.code, 421);
    session.close();
  }
}

TEST(SmtpBrokenConnection, StopsWhenTheServerIsOutOfStep) {
  const std::vector<std::vector<std::string_view>> scripts = {{"354 go on"},
                                                              {"250 ok", "354 go on"},
                                                              {"250 ok", "250 ok", "250 ok"},
                                                              {"530 5.7.0 log in"},
                                                              {"503 hello first"}};
  for (const auto& replies : scripts) {
    TestSession session("", [&](SmtpPeer& peer) {
      for (const std::string_view reply : replies) {
        peer.hear();
        peer.say(reply);
      }
      peer.expect_end();
    });
    const SendResult result = session.send();
    EXPECT_EQ(result.severity, temporary);
    EXPECT_TRUE(result.session_failed);
    EXPECT_FALSE(result.outcome_unknown);
    EXPECT_FALSE(result.reply.positive());
    EXPECT_THAT(result.reply.text, HasSubstr(std::string(replies.back())));
    EXPECT_FALSE(session->usable());
    session.close();
  }
}

TEST(SmtpBrokenConnection, SeesThatTheServerHasClosed) {
  TestSession session("", [](SmtpPeer& peer) { peer.take_message(); });
  EXPECT_EQ(session.send().severity, success);
  const SendResult result = session.send();
  EXPECT_EQ(result.severity, temporary);
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_FALSE(session->usable());
  session.close();
}

TEST(SmtpBrokenConnection, IsNotUsableWhenTheServerHasSpokenUnasked) {
  TestSession session("", [](SmtpPeer& peer) {
    refuse_message("250 queued\n421 idle for too long")(peer);
    peer.expect_end();
  });
  EXPECT_EQ(session.send().severity, success);
  EXPECT_FALSE(session->usable());
  const SendResult result = session.send();
  EXPECT_EQ(result.severity, temporary);
  EXPECT_TRUE(result.session_failed);
  session.close();
}

// What comes before the silence has to be quick enough, even on a machine with other work.
void hurry(SmtpOptions& options) { options.command_timeout = milliseconds(2'000); }

TEST(SmtpBrokenConnection, DoesNotWaitForeverForRepliesToCommands) {
  for (const int replies : {0, 1}) {
    TestSession session(
        "",
        [=](SmtpPeer& peer) {
          for (int i = 0; i < replies; ++i) {
            peer.hear();
            peer.say("250 ok");
          }
          peer.hang();
        },
        hurry);
    const SendResult result = session.send();
    EXPECT_EQ(result.severity, temporary);
    EXPECT_THAT(result.reply.text, HasSubstr("timed out"));
    EXPECT_TRUE(result.session_failed);
    EXPECT_FALSE(result.outcome_unknown);
    EXPECT_FALSE(session->usable());
  }
}

TEST(SmtpBrokenConnection, DoesNotWaitForeverForTheReplyToData) {
  TestSession session(
      "",
      [](SmtpPeer& peer) {
        for (int i = 0; i < 2; ++i) {
          peer.hear();
          peer.say("250 ok");
        }
        peer.hang();
      },
      [](SmtpOptions& options) { options.data_timeout = milliseconds(1); });
  const SendResult result = session.send();
  EXPECT_THAT(result.reply.text, HasSubstr("timed out"));
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
}

TEST(SmtpBrokenConnection, DoesNotWaitForeverForTheReplyToTheMessage) {
  TestSession session(
      "",
      [](SmtpPeer& peer) {
        refuse_message("")(peer);
        peer.hang();
      },
      [](SmtpOptions& options) { options.end_timeout = milliseconds(1); });
  const SendResult result = session.send();
  EXPECT_THAT(result.reply.text, HasSubstr("timed out"));
  EXPECT_TRUE(result.session_failed);
  EXPECT_TRUE(result.outcome_unknown);
}

// More than the buffers of both sockets hold.
std::string huge_message() { return std::string(32 << 20, 'x'); }

// A server that takes the envelope and not the message, about which it says this.
SmtpScriptServer::Script stop_reading(std::string_view reply) {
  return [=](SmtpPeer& peer) {
    for (const std::string_view positive : {"250 ok", "250 ok", "354 go on"}) {
      peer.hear();
      peer.say(positive);
    }
    if (!reply.empty()) peer.say(reply);
    peer.hang();
  };
}

void write_quickly(SmtpOptions& options) {
  options.data_timeout = milliseconds(2'000);
  options.end_timeout = milliseconds(2'000);
}

TEST(SmtpBrokenConnection, KnowsThatAMessageWithoutItsEndIsNotDelivered) {
  TestSession session("", stop_reading(""), write_quickly);
  const SendResult result = session.send(to_ann, huge_message());
  EXPECT_EQ(result.severity, temporary);
  EXPECT_THAT(result.reply.text, HasSubstr("timed out"));
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_FALSE(session->usable());
}

TEST(SmtpBrokenConnection, HearsWhyTheServerDoesNotTakeTheRest) {
  TestSession session("", stop_reading("552 5.3.4 that is too much"), write_quickly);
  const SendResult result = session.send(to_ann, huge_message());
  EXPECT_EQ(result.severity, permanent);
  EXPECT_EQ(result.reply.text, "552 5.3.4 that is too much");
  EXPECT_FALSE(result.outcome_unknown || result.session_failed);
  EXPECT_FALSE(session->usable()) << "the rest of the message would be taken for commands";
}

TEST(SmtpBrokenConnection, DoesNotBelieveThatAMessageWithoutItsEndIsTaken) {
  TestSession session("", stop_reading("250 queued"), write_quickly);
  const SendResult result = session.send(to_ann, huge_message());
  EXPECT_EQ(result.severity, temporary);
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_FALSE(session->usable());
}

}  // namespace
}  // namespace postino::mail
