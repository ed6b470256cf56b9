#include "smtp/client.h"

#include <gmock/gmock.h>

#include <atomic>

#include "base/many_threads_testing.h"
#include "smtp/session_testing.h"

namespace postino::smtp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using enum Severity;
using Severities = std::vector<Severity>;

TEST(SmtpClient, SendsTheEnvelopeAtOnceToServersThatTakeIt) {
  TestSession session("PIPELINING", [](ScriptPeer& peer) {
    for (int i = 0; i < 2; ++i) {
      peer.expect("MAIL FROM:<from@example.com>");
      peer.expect("RCPT TO:<ann@example.com>");
      peer.expect("RCPT TO:<bob@example.com>");
      peer.expect("RCPT TO:<cyd@example.com>");
      peer.expect_alone("DATA");
      peer.say("250 ok\n250 ok\n250 ok\n250 ok\n354 go on");
      EXPECT_EQ(peer.hear_message(), hello + ".\r\n");
      peer.say("250 2.0.0 queued");
    }
    peer.expect_end();
  });
  for (int i = 0; i < 2; ++i) {
    const SendResult result = session.send(to_three);
    EXPECT_EQ(result.severity, success);
    EXPECT_EQ(result.reply.text, "250 2.0.0 queued");
    EXPECT_EQ(result.reply.enhanced, "2.0.0");
    EXPECT_EQ(severities(result), Severities({success, success, success}));
    EXPECT_EQ(result.recipients[1].address, "bob@example.com");
    EXPECT_EQ(result.recipients[1].reply.text, "250 2.0.0 queued");
    EXPECT_FALSE(result.outcome_unknown || result.session_failed || result.not_begun);
    EXPECT_TRUE(session->usable());
  }
  session.close();
}

TEST(SmtpClient, SendsOneCommandAfterTheOtherToOthers) {
  TestSession session("", [](ScriptPeer& peer) {
    for (const std::string_view command : {"MAIL FROM:<from@example.com>", "RCPT TO:<ann@example.com>",
                                           "RCPT TO:<bob@example.com>", "RCPT TO:<cyd@example.com>"}) {
      peer.expect_alone(command);
      peer.say("250 ok");
    }
    peer.expect_alone("DATA");
    peer.say("354 go on");
    EXPECT_EQ(peer.hear_message(), hello + ".\r\n");
    peer.say("250 2.0.0 queued");
    peer.expect_end();
  });
  EXPECT_EQ(severities(session.send(to_three)), Severities({success, success, success}));
  session.close();
}

TEST(SmtpClient, SendsAnEmptySender) {
  TestSession session("", [](ScriptPeer& peer) {
    peer.expect("MAIL FROM:<>");
    peer.say("250 ok");
    peer.take_message();
  });
  EXPECT_EQ(session.send({"", {"ann@example.com"}, ""}).severity, success);
  session.close();
}

TEST(SmtpClient, DoublesDots) {
  const std::pair<std::string, std::string> cases[] = {
      {".begins\r\n", "..begins\r\n.\r\n"},
      {"a\r\n.\r\nb\r\n", "a\r\n..\r\nb\r\n.\r\n"},
      {"a\r\n.", "a\r\n..\r\n.\r\n"},
      {"no end", "no end\r\n.\r\n"},
      {"", ".\r\n"},
  };
  for (const auto& [message, sent] : cases) {
    TestSession session("PIPELINING", [&](ScriptPeer& peer) { EXPECT_EQ(peer.take_message(), sent); });
    EXPECT_EQ(session.send(to_ann, message).severity, success);
    session.close();
  }
}

TEST(SmtpClient, SendsLargeMessages) {
  std::string message;
  while (message.size() < 5'000'000)
    message += "a line of a long message, number " + std::to_string(message.size()) + "\r\n";
  TestSession session("PIPELINING", [&](ScriptPeer& peer) { EXPECT_TRUE(peer.take_message() == message + ".\r\n"); });
  EXPECT_EQ(session.send(to_ann, message).severity, success);
  session.close();
}

TEST(SmtpClient, TellsTheServerWhatItCanUse) {
  TestSession session("SIZE 100000\n8BITMIME\nSMTPUTF8\nDSN", [](ScriptPeer& peer) {
    peer.expect("MAIL FROM:<from@example.com> SIZE=25 RET=HDRS ENVID=a+2Bb");
    peer.say("250 ok");
    peer.expect("RCPT TO:<ann@example.com> ORCPT=rfc822;ann@example.com");
    peer.say("250 ok");
    peer.take_message();
    peer.expect("MAIL FROM:<from@example.com> SIZE=6 BODY=8BITMIME SMTPUTF8 RET=HDRS");
    peer.say("250 ok");
    peer.expect("RCPT TO:<j\u00f6rg@example.com>");
    peer.say("250 ok");
    peer.take_message();
    peer.expect("MAIL FROM:<j\u00f6rg@example.com> SIZE=25 SMTPUTF8 RET=HDRS");
    peer.say("250 ok");
    peer.take_message();
  });
  EXPECT_EQ(session.send({"from@example.com", {"ann@example.com"}, "a+b"}).severity, success);
  EXPECT_EQ(session.send({"from@example.com", {"j\u00f6rg@example.com"}, ""}, "\u00f6\r\n.\r").severity, permanent);
  EXPECT_EQ(session.send({"from@example.com", {"j\u00f6rg@example.com"}, ""}, "\u00f6\r\n\r\n").severity, success);
  EXPECT_EQ(session.send({"j\u00f6rg@example.com", {"ann@example.com"}, ""}).severity, success);
  session.close();
}

TEST(SmtpClient, AddressesInTheHeaderBeyondAsciiNeedSmtpUtf8) {
  const std::string message = "From: j\u00f6rg@example.com\r\n\r\nHello\r\n";
  TestSession session("8BITMIME\nSMTPUTF8", [](ScriptPeer& peer) {
    peer.expect("MAIL FROM:<from@example.com> BODY=8BITMIME SMTPUTF8");
    peer.say("250 ok");
    peer.take_message();
  });
  EXPECT_EQ(session.send({"from@example.com", {"ann@example.com"}, ""}, message).severity, success);
  session.close();
}

TEST(SmtpClient, ADomainBeyondAsciiIsToldInAscii) {
  TestSession session("", [](ScriptPeer& peer) {
    peer.expect("MAIL FROM:<from@xn--bcher-kva.example>");
    peer.say("250 ok");
    peer.expect("RCPT TO:<ann@xn--bcher-kva.example>");
    peer.say("250 ok");
    peer.take_message();
  });
  const SendResult result = session.send({"from@b\u00fccher.example", {"ann@b\u00fccher.example"}, ""});
  EXPECT_EQ(result.severity, success);
  EXPECT_EQ(result.recipients[0].address, "ann@b\u00fccher.example") << "as the caller knows it";
  session.close();
}

TEST(SmtpClient, DeliversToThoseWhoAreTaken) {
  for (const std::string_view capabilities : {"PIPELINING", ""}) {
    TestSession session(capabilities, [](ScriptPeer& peer) {
      for (const std::string_view reply :
           {"250 ok", "550 5.1.1 no such user", "450 4.2.1 busy", "250 ok", "354 go on"}) {
        peer.hear();
        peer.say(reply);
      }
      EXPECT_EQ(peer.hear_message(), hello + ".\r\n");
      peer.say("250 queued");
      peer.take_message();
      peer.expect_end();
    });
    const SendResult result = session.send(to_three);
    EXPECT_EQ(result.severity, success);
    EXPECT_EQ(result.reply.text, "250 queued");
    EXPECT_EQ(severities(result), Severities({permanent, temporary, success}));
    EXPECT_EQ(result.recipients[0].reply.text, "550 5.1.1 no such user");
    EXPECT_EQ(result.recipients[0].reply.enhanced, "5.1.1");
    EXPECT_EQ(result.recipients[1].reply.code, 450);
    EXPECT_EQ(result.recipients[2].reply.text, "250 queued");
    EXPECT_EQ(session.send().severity, success);
    session.close();
  }
}

TEST(SmtpClient, EndsAnEmptyMessageWhenTheServerWaitsForOneToNobody) {
  TestSession session("PIPELINING", [](ScriptPeer& peer) {
    for (int i = 0; i < 5; ++i) peer.hear();
    peer.say("250 ok\n550 5.1.1 no\n450 busy\n550 5.1.1 no\n354 go on");
    peer.expect_alone(".");
    peer.say("554 no recipients");
    peer.expect("MAIL FROM:<from@example.com>");
    peer.say("250 ok");
    peer.take_message();
    peer.expect_end();
  });
  bool asked = false;
  const SendResult result = session->send(to_three, hello, [&]() -> base::Result<void> {
    asked = true;
    return {};
  });
  EXPECT_FALSE(asked);
  EXPECT_EQ(severities(result), Severities({permanent, temporary, permanent}));
  EXPECT_EQ(result.severity, temporary);
  EXPECT_EQ(result.reply.text, "450 busy");
  EXPECT_FALSE(result.session_failed || result.outcome_unknown);
  EXPECT_EQ(session.send().severity, success);
  session.close();
}

TEST(SmtpClient, StartsAnewAfterRecipientsAreRefused) {
  for (const std::string_view capabilities : {"PIPELINING", ""}) {
    const bool pipelining = !capabilities.empty();
    TestSession session(capabilities, [=](ScriptPeer& peer) {
      peer.hear();
      peer.say("250 ok");
      peer.hear();
      peer.say("550 5.1.1 no");
      if (pipelining) {
        peer.expect("DATA");
        peer.say("554 5.5.1 no valid recipients");
      }
      peer.expect("RSET");
      peer.say("250 ok");
      peer.expect("MAIL FROM:<from@example.com>");
      peer.say("250 ok");
      peer.take_message();
      peer.expect("MAIL FROM:<from@example.com>");
    });
    const SendResult result = session.send();
    EXPECT_EQ(result.severity, permanent);
    EXPECT_EQ(result.reply.text, "550 5.1.1 no");
    EXPECT_TRUE(session->usable());
    EXPECT_EQ(session.send().severity, success);
    EXPECT_EQ(session.send().severity, temporary) << "the script is over";
    session.close();
  }
}

TEST(SmtpClient, DoesNotGoOnWithoutTheNewStart) {
  for (const std::string_view capabilities : {"PIPELINING", ""}) {
    TestSession session(capabilities, [=](ScriptPeer& peer) {
      peer.hear();
      peer.say("250 ok");
      peer.hear();
      peer.say("550 5.1.1 no");
      if (!capabilities.empty()) {
        peer.hear();
        peer.say("554 no valid recipients");
      }
      peer.expect("RSET");
      peer.say("500 5.5.2 what?");
      if (!capabilities.empty())
        for (int i = 0; i < 3; ++i) peer.hear();
      peer.expect_end();
    });
    EXPECT_EQ(session.send().severity, permanent);
    const SendResult result = session.send();
    EXPECT_EQ(result.severity, temporary) << "the message is not to blame";
    EXPECT_TRUE(result.session_failed);
    EXPECT_THAT(result.reply.text, HasSubstr("500 5.5.2 what?"));
    EXPECT_FALSE(session->usable());
    session.close();
  }
}

TEST(SmtpClient, ReportsARefusedSenderForAllRecipients) {
  for (const std::string_view capabilities : {"PIPELINING", ""}) {
    TestSession session(capabilities, [=](ScriptPeer& peer) {
      peer.expect("MAIL FROM:<from@example.com>");
      peer.say("550 5.1.8 who is that?");
      for (int i = 0; i < (capabilities.empty() ? 0 : 4); ++i) {
        peer.hear();
        peer.say("503 5.5.1 MAIL first");
      }
      peer.expect("MAIL FROM:<from@example.com>");
      peer.say("250 ok");
      peer.take_message();
      peer.expect_end();
    });
    const SendResult result = session.send(to_three);
    EXPECT_EQ(result.severity, permanent);
    EXPECT_EQ(severities(result), Severities({permanent, permanent, permanent}));
    EXPECT_EQ(result.recipients[2].reply.text, "550 5.1.8 who is that?");
    EXPECT_FALSE(result.session_failed);
    EXPECT_EQ(session.send().severity, success);
    session.close();
  }
}

TEST(SmtpClient, GoesAwayRatherThanSendAnEmptyMessageToSomebody) {
  TestSession session("PIPELINING", [](ScriptPeer& peer) {
    for (int i = 0; i < 3; ++i) peer.hear();
    peer.say("451 no\n250 ok\n354 go on");
    peer.expect_end();
  });
  const SendResult result = session.send();
  EXPECT_EQ(result.severity, temporary);
  EXPECT_EQ(result.reply.text, "451 no");
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_FALSE(session->usable());
  session.close();
}

TEST(SmtpClient, ReportsARefusedDataCommand) {
  for (const std::string_view capabilities : {"PIPELINING", ""}) {
    TestSession session(capabilities, [](ScriptPeer& peer) {
      for (const std::string_view reply : {"250 ok", "250 ok", "451 4.3.0 not now"}) {
        peer.hear();
        peer.say(reply);
      }
      peer.expect("RSET");
      peer.say("250 ok");
      peer.take_message();
      peer.expect_end();
    });
    const SendResult result = session.send();
    EXPECT_EQ(result.severity, temporary);
    EXPECT_EQ(result.reply.text, "451 4.3.0 not now");
    EXPECT_FALSE(result.session_failed || result.outcome_unknown);
    EXPECT_EQ(session.send().severity, success);
    session.close();
  }
}

TEST(SmtpClient, ReportsARefusedMessage) {
  TestSession session("", [](ScriptPeer& peer) {
    refuse_message("554 5.7.1 spam")(peer);
    refuse_message("452-4.3.0 later\n452 4.3.0 please")(peer);
    peer.take_message();
    peer.expect_end();
  });
  const SendResult never = session.send();
  EXPECT_EQ(never.severity, permanent);
  EXPECT_EQ(never.reply.text, "554 5.7.1 spam");
  EXPECT_EQ(severities(never), Severities({permanent}));
  const SendResult later = session.send();
  EXPECT_EQ(later.severity, temporary);
  EXPECT_EQ(later.reply.text, "452 4.3.0 later please");
  EXPECT_FALSE(later.session_failed || later.outcome_unknown);
  EXPECT_EQ(session.send().severity, success);
  session.close();
}

TEST(SmtpClient, DeliversToOthersWhenSomeNeedALogin) {
  TestSession session("PIPELINING", [](ScriptPeer& peer) {
    for (int i = 0; i < 5; ++i) peer.hear();
    peer.say("250 ok\n250 ok\n530 5.7.0 log in to send there\n250 ok\n354 go on");
    EXPECT_EQ(peer.hear_message(), hello + ".\r\n");
    peer.say("250 queued");
    peer.expect_end();
  });
  const SendResult result = session.send(to_three);
  EXPECT_EQ(severities(result), Severities({success, temporary, success}));
  EXPECT_EQ(result.severity, success);
  EXPECT_FALSE(result.session_failed);
  EXPECT_TRUE(session->usable());
  session.close();
}

TEST(SmtpClient, AsksBeforeTheMessageIsSent) {
  std::atomic<bool> ready = false;
  TestSession session("PIPELINING", [&](ScriptPeer& peer) {
    for (int i = 0; i < 3; ++i) peer.hear();
    ready = true;
    peer.say("250 ok\n250 ok\n354 go on");
    EXPECT_EQ(peer.hear_message(), hello + ".\r\n");
    peer.say("250 queued");
  });
  int asked = 0;
  const SendResult result = session->send(to_ann, hello, [&]() -> base::Result<void> {
    EXPECT_TRUE(ready);
    ++asked;
    return {};
  });
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(result.severity, success);
  session.close();
}

// A sender that was suspended in the middle of a message may have lost the right to end it.
TEST(SmtpClient, AsksRightBeforeTheEndOfALongMessage) {
  std::string message = "Subject: long\r\n\r\n";
  while (message.size() < 300'000) message += std::string(998, 'x') + "\r\n";
  std::atomic<int> lines = 0;
  TestSession session("PIPELINING", [&](ScriptPeer& peer) {
    for (int i = 0; i < 3; ++i) peer.hear();
    peer.say("250 ok\n250 ok\n354 go on");
    for (std::string line = peer.hear(); !line.ends_with("(end)"); line = peer.hear()) {
      EXPECT_NE(line, ".") << "the message must not be ended";
      ++lines;
    }
  });
  const SendResult result = session->send(to_ann, message, [&]() -> base::Result<void> {
    EXPECT_TRUE(base::eventually([&] { return lines > 200; })) << "most of the message is there before it asks";
    return base::fail(base::ErrorCode::conflict, "the lease of the e-mail is over");
  });
  EXPECT_TRUE(result.not_begun);
  EXPECT_FALSE(result.outcome_unknown);
  EXPECT_EQ(result.severity, temporary);
  session.close();
}

TEST(SmtpClient, DeliversNothingWhenTheMessageMustNotBeSent) {
  TestSession session("PIPELINING", [&](ScriptPeer& peer) {
    for (int i = 0; i < 5; ++i) peer.hear();
    peer.say("250 ok\n250 ok\n550 no\n250 ok\n354 go on");
    peer.expect_end();
  });
  const SendResult result = session->send(
      to_three, hello, []() { return base::Result<void>(base::fail(base::ErrorCode::conflict, "taken")); });
  EXPECT_TRUE(result.not_begun);
  EXPECT_FALSE(result.outcome_unknown || result.session_failed);
  EXPECT_EQ(result.severity, temporary);
  EXPECT_EQ(result.reply.text, "not sent: taken");
  EXPECT_EQ(severities(result), Severities({temporary, permanent, temporary}));
  EXPECT_FALSE(session->usable()) << "there is no way back from DATA";
  session.close();
}

TEST(SmtpClient, SendsNothingThatTheServerCannotTake) {
  const auto expect_refused = [](std::string_view capabilities, const Envelope& envelope, const std::string& message,
                                 const std::string& reason, bool is_server_unfit = false) {
    TestSession session(capabilities, [](ScriptPeer& peer) { peer.expect_end(); });
    const SendResult result = session.send(envelope, message);
    EXPECT_EQ(result.severity, permanent);
    EXPECT_EQ(severities(result), Severities({permanent}));
    EXPECT_EQ(result.reply.text, "not sent: " + reason);
    EXPECT_EQ(result.recipients[0].reply.text, result.reply.text);
    EXPECT_EQ(result.reply.code, 0) << "no server has said so";
    EXPECT_EQ(result.is_server_unfit, is_server_unfit);
    EXPECT_FALSE(result.session_failed || result.outcome_unknown || result.not_begun);
    EXPECT_TRUE(session->usable());
    session.close();
  };
  const auto from = [](const std::string& sender) { return Envelope{sender, {"ann@example.com"}, ""}; };
  const auto to = [](const std::string& recipient) { return Envelope{"from@example.com", {recipient}, ""}; };
  const std::string no_utf8 = ", and the mail server does not offer SMTPUTF8";
  expect_refused("SIZE 24", to_ann, hello, "the message is larger than the mail server's limit of 24 bytes", true);
  expect_refused("", to_ann, "\u00f6\r\n", "the message is not ASCII, and the mail server does not offer 8BITMIME",
                 true);
  expect_refused("8BITMIME", to("j\u00f6rg@example.com"), hello, "the address is not ASCII" + no_utf8);
  Envelope only_whole = to("j\u00f6rg@example.com");
  only_whole.only_whole = true;
  expect_refused("8BITMIME", only_whole, hello, "the address is not ASCII" + no_utf8, true);
  expect_refused("8BITMIME", from("j\u00f6rg@example.com"), hello, "the sender is not ASCII" + no_utf8, true);
  expect_refused("8BITMIME", to_ann, "To: j\u00f6rg@example.com\r\n\r\nHello\r\n",
                 "the message has an address that is not ASCII" + no_utf8, true);
  expect_refused("", to_ann, "a\n.\nMAIL FROM:<b@example.com>\r\n", "the message has a line end that is not CRLF");
  const std::string no_recipient = "the recipient is not an address", no_sender = "the sender is not an address";
  expect_refused("", to(""), hello, no_recipient);
  expect_refused("", to("ann@example.com>\r\nRCPT TO:<bob@example.com"), hello, no_recipient);
  expect_refused("", to("ann@example.com\n"), hello, no_recipient);
  expect_refused("", to("ann@example.com> NOTIFY=NEVER"), hello, no_recipient);
  expect_refused("", from("from@example.com>\r\nRCPT TO:<bob@example.com"), hello, no_sender);
  expect_refused("", from("from@example.com\r"), hello, no_sender);
}

TEST(SmtpClient, LeavesOutOnlyTheRecipientsThatTheServerCannotTake) {
  TestSession session("SIZE 25", [](ScriptPeer& peer) {
    peer.expect("MAIL FROM:<from@example.com> SIZE=25");
    peer.say("250 ok");
    peer.expect("RCPT TO:<bob@example.com>");
    peer.say("250 ok");
    peer.expect("DATA");
    peer.say("354 go on");
    peer.hear_message();
    peer.say("250 queued");
  });
  const SendResult result =
      session.send({"from@example.com", {"j\u00f6rg@example.com", "bob@example.com", "c\r\n"}, ""});
  EXPECT_EQ(result.severity, success);
  EXPECT_EQ(severities(result), Severities({permanent, success, permanent}));
  EXPECT_THAT(result.recipients[0].reply.text, StartsWith("not sent: the address is not ASCII"));
  EXPECT_FALSE(result.is_server_unfit);
  EXPECT_EQ(result.recipients[2].reply.enhanced, "5.1.3");
  session.close();
}

TEST(SmtpClient, SendsToManyRecipientsInPortions) {
  Envelope envelope{"from@example.com", {}, ""};
  for (int i = 0; i < 1000; ++i) envelope.recipients.push_back(std::to_string(i) + "@example.com");
  TestSession session("PIPELINING", [](ScriptPeer& peer) {
    std::string replies = "250 ok";
    peer.expect("MAIL FROM:<from@example.com>");
    for (int i = 0; i < 1000; ++i) {
      const std::string command = "RCPT TO:<" + std::to_string(i) + "@example.com>";
      replies += i % 10 == 0 ? "\n550 5.1.1 no" : "\n250 ok";
      if (i % 100 != 98) {
        peer.expect(command);
        continue;
      }
      peer.expect_alone(command);  // a hundred commands wait for their replies
      peer.say(replies.substr(replies.front() == '\n' ? 1 : 0));
      replies.clear();
    }
    peer.expect_alone("DATA");
    peer.say(replies.substr(1) + "\n354 go on");
    peer.hear_message();
    peer.say("250 queued");
  });
  const SendResult result = session.send(envelope);
  ASSERT_EQ(result.recipients.size(), 1000U);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(result.recipients[i].severity, i % 10 == 0 ? permanent : success);
  session.close();
}

}  // namespace
}  // namespace postino::smtp
