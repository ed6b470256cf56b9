#include <gmock/gmock.h>

#include <functional>

#include "base/many_threads_testing.h"
#include "smtp/session_testing.h"

namespace postino::smtp {
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
      TestSession session(capabilities, [=](ScriptPeer& peer) {
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
    TestSession session(capabilities, [=](ScriptPeer& peer) {
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
    TestSession session("", [&](ScriptPeer& peer) {
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
  TestSession session("", [](ScriptPeer& peer) { peer.take_message(); });
  EXPECT_EQ(session.send().severity, success);
  const SendResult result = session.send();
  EXPECT_EQ(result.severity, temporary);
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_FALSE(session->usable());
  session.close();
}

TEST(SmtpBrokenConnection, IsNotUsableWhenTheServerHasSpokenUnasked) {
  TestSession session("", [](ScriptPeer& peer) {
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

TEST(SmtpBrokenConnection, DoesNotWaitForeverForRepliesToCommands) {
  for (const int replies : {0, 1}) {
    EXPECT_TRUE(base::with_enough_time([=](milliseconds limit) {
      const ScriptServer server([=](ScriptPeer& peer) {
        peer.say("220 relay.example ESMTP");
        for (int i = 0; i < 1 + replies; ++i) {
          peer.hear();
          peer.say("250 ok");
        }
        peer.hang();
      });
      Options options = options_of_session(server.port());
      options.command_timeout = limit;
      const auto session = Session::open(options, nullptr);
      if (!session) return false;
      const SendResult result = (*session)->send(to_ann, hello, nullptr);
      EXPECT_EQ(result.severity, temporary);
      EXPECT_THAT(result.reply.text, HasSubstr("timed out"));
      EXPECT_TRUE(result.session_failed);
      EXPECT_FALSE(result.outcome_unknown);
      EXPECT_FALSE((*session)->usable());
      return true;
    }));
  }
}

TEST(SmtpBrokenConnection, DoesNotWaitForeverForTheReplyToData) {
  TestSession session(
      "",
      [](ScriptPeer& peer) {
        for (int i = 0; i < 2; ++i) {
          peer.hear();
          peer.say("250 ok");
        }
        peer.hang();
      },
      [](Options& options) { options.data_timeout = milliseconds(1); });
  const SendResult result = session.send();
  EXPECT_THAT(result.reply.text, HasSubstr("timed out"));
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
}

TEST(SmtpBrokenConnection, DoesNotWaitForeverForTheReplyToTheMessage) {
  TestSession session(
      "",
      [](ScriptPeer& peer) {
        refuse_message("")(peer);
        peer.hang();
      },
      [](Options& options) { options.end_timeout = milliseconds(1); });
  const SendResult result = session.send();
  EXPECT_THAT(result.reply.text, HasSubstr("timed out"));
  EXPECT_TRUE(result.session_failed);
  EXPECT_TRUE(result.outcome_unknown);
}

// More than the buffers of both sockets hold.
std::string huge_message() { return std::string(32 << 20, 'x'); }

// A server that takes the envelope and not the message, about which it says this.
ScriptServer::Script stop_reading(std::string_view reply) {
  return [=](ScriptPeer& peer) {
    for (const std::string_view positive : {"250 ok", "250 ok", "354 go on"}) {
      peer.hear();
      peer.say(positive);
    }
    if (!reply.empty()) peer.say(reply);
    peer.hang();
  };
}

std::function<void(Options&)> write_within(milliseconds limit) {
  return [=](Options& options) { options.data_timeout = options.end_timeout = limit; };
}

TEST(SmtpBrokenConnection, KnowsThatAMessageWithoutItsEndIsNotDelivered) {
  TestSession session("", stop_reading(""), write_within(milliseconds(200)));
  const SendResult result = session.send(to_ann, huge_message());
  EXPECT_EQ(result.severity, temporary);
  EXPECT_THAT(result.reply.text, HasSubstr("timed out"));
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_FALSE(session->usable());
}

TEST(SmtpBrokenConnection, HearsWhyTheServerDoesNotTakeTheRest) {
  EXPECT_TRUE(base::with_enough_time([](milliseconds limit) {
    TestSession session("", stop_reading("552 5.3.4 that is too much"), write_within(limit));
    const SendResult result = session.send(to_ann, huge_message());
    if (result.reply.code == 0) return false;
    EXPECT_EQ(result.severity, permanent);
    EXPECT_EQ(result.reply.text, "552 5.3.4 that is too much");
    EXPECT_FALSE(result.outcome_unknown || result.session_failed);
    EXPECT_FALSE(session->usable()) << "the rest of the message would be taken for commands";
    return true;
  }));
}

TEST(SmtpBrokenConnection, DoesNotBelieveThatAMessageWithoutItsEndIsTaken) {
  TestSession session("", stop_reading("250 queued"), write_within(milliseconds(200)));
  const SendResult result = session.send(to_ann, huge_message());
  EXPECT_EQ(result.severity, temporary);
  EXPECT_TRUE(result.session_failed);
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_FALSE(session->usable());
}

}  // namespace
}  // namespace postino::smtp
