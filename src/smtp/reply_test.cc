#include "smtp/reply.h"

#include <gmock/gmock.h>

#include "smtp/auth.h"
#include "smtp/body.h"
#include "smtp/capabilities.h"
#include "smtp/command.h"

namespace postino::smtp {

static void PrintTo(const Classification& value, std::ostream* out) {
  constexpr std::string_view severities[] = {"success", "temporary", "permanent"};
  constexpr std::string_view scopes[] = {"recipient", "message", "session"};
  *out << severities[static_cast<int>(value.severity)] << " for the " << scopes[static_cast<int>(value.scope)];
}

static bool operator==(const Classification& a, const Classification& b) {
  return a.severity == b.severity && a.scope == b.scope;
}

namespace {

using enum Stage;
using enum Severity;

constexpr Classification session_later{temporary, Scope::session};
constexpr Classification message_later{temporary, Scope::message};
constexpr Classification recipient_later{temporary, Scope::recipient};
constexpr Classification message_never{permanent, Scope::message};
constexpr Classification recipient_never{permanent, Scope::recipient};

Classification classify(int code, Stage stage, const std::string& enhanced = "") {
  return smtp::classify(Reply{code, enhanced, ""}, stage);
}

TEST(SmtpReply, WhatSucceedsDependsOnTheCommand) {
  for (const Stage stage : {connect, hello, start_tls, authenticate, mail_from, recipient, end_of_data}) {
    EXPECT_EQ(classify(250, stage).severity, success);
    EXPECT_EQ(classify(220, stage).severity, success);
    EXPECT_EQ(classify(354, stage), session_later) << "out of step";
  }
  EXPECT_EQ(classify(251, recipient).severity, success);
  EXPECT_EQ(classify(354, data).severity, success);
  EXPECT_EQ(classify(250, data), session_later) << "out of step";
}

TEST(SmtpReply, NothingMattersAtQuit) {
  for (const int code : {0, 221, 421, 500, 554}) EXPECT_EQ(classify(code, quit).severity, success);
}

TEST(SmtpReply, EveryReplyOf4xxIsTemporary) {
  for (const int code : {400, 421, 432, 441, 450, 451, 452, 454, 455, 471, 499}) {
    for (const Stage stage : {connect, hello, start_tls, authenticate, mail_from, recipient, data, end_of_data})
      EXPECT_EQ(classify(code, stage).severity, temporary) << code;
  }
  EXPECT_EQ(classify(450, recipient, "4.2.0"), recipient_later);
  EXPECT_EQ(classify(451, recipient, "4.7.1"), recipient_later) << "greylisting";
  EXPECT_EQ(classify(451, mail_from), message_later);
  EXPECT_EQ(classify(451, data), message_later);
  EXPECT_EQ(classify(452, end_of_data), message_later);
  EXPECT_EQ(classify(450, hello), session_later);
}

TEST(SmtpReply, ABrokenConnectionIsTemporaryForTheSession) {
  for (const Stage stage : {connect, hello, start_tls, authenticate, mail_from, recipient, data, end_of_data}) {
    EXPECT_EQ(classify(0, stage), session_later);
    EXPECT_EQ(classify(421, stage, "4.3.2"), session_later);
    EXPECT_EQ(classify(199, stage), session_later) << "no code at all";
    EXPECT_EQ(classify(600, stage), session_later) << "no code at all";
  }
}

TEST(SmtpReply, RepliesOf5xxArePermanentForWhatTheyAreAbout) {
  for (const int code : {500, 501, 504, 550, 551, 553, 554, 555, 556}) {
    EXPECT_EQ(classify(code, mail_from), message_never) << code;
    EXPECT_EQ(classify(code, recipient), recipient_never) << code;
    EXPECT_EQ(classify(code, data), message_never) << code;
    EXPECT_EQ(classify(code, end_of_data), message_never) << code;
  }
  EXPECT_EQ(classify(550, recipient, "5.1.1"), recipient_never);
  EXPECT_EQ(classify(550, recipient, "5.7.1"), recipient_never) << "policy";
  EXPECT_EQ(classify(554, end_of_data, "5.7.1"), message_never) << "spam";
  EXPECT_EQ(classify(552, mail_from, "5.3.4"), message_never) << "too large";
  EXPECT_EQ(classify(552, mail_from), message_never);
  EXPECT_EQ(classify(552, end_of_data), message_never);
  EXPECT_EQ(classify(521, end_of_data), message_never);
}

TEST(SmtpReply, BeforeTheFirstMessageNothingIsPermanent) {
  for (const Stage stage : {connect, hello, start_tls, authenticate}) {
    for (const int code : {500, 502, 504, 521, 530, 534, 535, 538, 550, 554})
      EXPECT_EQ(classify(code, stage), session_later) << code;
  }
}

TEST(SmtpReply, OurOwnFaultIsNotTheMessages) {
  for (const Stage stage : {mail_from, recipient, data, end_of_data}) {
    for (const int code : {530, 534, 535, 538}) EXPECT_EQ(classify(code, stage), session_later) << code;
    for (const std::string status : {"5.7.8", "5.7.9", "5.7.10", "5.7.11", "5.7.13"})
      EXPECT_EQ(classify(550, stage, status), session_later) << status;
    EXPECT_EQ(classify(502, stage), session_later);
    EXPECT_EQ(classify(503, stage, "5.5.1"), session_later);
  }
}

TEST(SmtpReply, AServerThatTakesNoMailConcernsTheSession) {
  EXPECT_EQ(classify(521, mail_from), session_later);
  EXPECT_EQ(classify(554, mail_from, "5.3.2"), session_later);
  EXPECT_EQ(classify(450, recipient, "4.3.2"), session_later);
  EXPECT_EQ(classify(452, mail_from, "4.3.1"), session_later);
}

TEST(SmtpReply, TooManyRecipientsGetTheirTurnLater) {
  EXPECT_EQ(classify(452, recipient, "4.5.3"), recipient_later);
  EXPECT_EQ(classify(552, recipient), recipient_later);
  EXPECT_EQ(classify(552, recipient, "5.5.3"), recipient_later);
  EXPECT_EQ(classify(550, recipient, "5.5.3"), recipient_later);
  EXPECT_EQ(classify(552, recipient, "5.2.2"), recipient_never) << "a full mailbox";
  EXPECT_EQ(classify(452, recipient, "4.2.2"), recipient_later) << "a full mailbox, for now";
}

TEST(SmtpReply, TheCodeWinsOverAStatusThatContradictsIt) {
  EXPECT_EQ(classify(450, recipient, "5.1.1"), recipient_later);
  EXPECT_EQ(classify(550, recipient, "4.3.2"), recipient_never);
  EXPECT_EQ(classify(450, mail_from, "5.7.8"), message_later);
  EXPECT_EQ(classify(250, recipient, "5.1.1").severity, success);
  EXPECT_EQ(classify(552, recipient, "4.2.2"), recipient_later) << "as if there were none";
}

TEST(SmtpReply, KnowsWhichAddressesAreBad) {
  for (const std::string_view status : {"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"})
    EXPECT_TRUE(means_bad_address(status)) << status;
  for (const std::string_view status :
       {"", "5.0.0", "5.1.0", "5.1.7", "5.1.8", "5.2.0", "5.2.2", "5.2.3", "5.7.1", "4.1.1", "5.1.11", "5.1.1 "})
    EXPECT_FALSE(means_bad_address(status)) << status;
}

TEST(SmtpCapabilities, AreWhatTheLinesSay) {
  const Capabilities all = parse_capabilities({"PIPELINING.example", "PIPELINING", "size 1000", "8BITMIME", "SMTPUTF8",
                                               "DSN", "STARTTLS", "AUTH login CRAM-MD5 PLAIN", "HELP"});
  EXPECT_TRUE(all.pipelining && all.eight_bit_mime && all.utf8 && all.dsn && all.start_tls && all.size);
  EXPECT_TRUE(all.auth_plain && all.auth_login);
  EXPECT_EQ(all.size_limit, 1000U);

  const Capabilities none = parse_capabilities({"PIPELINING", "XPIPELINING", "AUTHENTIC PLAIN", "AUTH GSSAPI"});
  EXPECT_FALSE(none.pipelining || none.eight_bit_mime || none.utf8 || none.dsn || none.start_tls || none.size);
  EXPECT_FALSE(none.auth_plain || none.auth_login);
}

TEST(SmtpCapabilities, AreReadFromOddLinesToo) {
  EXPECT_TRUE(parse_capabilities({"", "SIZE"}).size);
  EXPECT_EQ(parse_capabilities({"", "SIZE"}).size_limit, 0U);
  EXPECT_EQ(parse_capabilities({"", "SIZE 99999999999999999999999"}).size_limit, 0U) << "no limit that we could reach";
  EXPECT_TRUE(parse_capabilities({"", "AUTH=PLAIN LOGIN"}).auth_plain);
  EXPECT_TRUE(parse_capabilities({"", "AUTH=PLAIN LOGIN"}).auth_login);
  EXPECT_TRUE(parse_capabilities({"", "  AUTH   LOGIN  "}).auth_login);
}

TEST(SmtpCommand, KeepsAddressesBetweenTheirBrackets) {
  for (const std::string_view good : {"", "ann@example.com", "postmaster", "\"ann b\"@example.com",
                                      "\"a>\\\"<b\"@example.com", "j\u00f6rg@example.com", "ann@[IPv6:::1]"})
    EXPECT_TRUE(fits_in_path(good)) << good;
  using namespace std::string_view_literals;
  for (const std::string_view bad :
       {"ann@example.com\r\nDATA"sv, "ann\n@example.com"sv, "ann\r@example.com"sv, "a\0b@example.com"sv,
        "ann@example.com> NOTIFY=NEVER"sv, "<ann@example.com"sv, "ann b@example.com"sv, "\"ann@example.com"sv,
        "\"ann\r\n\"@example.com"sv, "\"ann\\\r\n\"@example.com"sv, "\"ann\\"sv, "ann\x7F@example.com"sv})
    EXPECT_FALSE(fits_in_path(bad)) << bad;
  EXPECT_TRUE(fits_in_path(std::string(320, 'a')));
  EXPECT_FALSE(fits_in_path(std::string(321, 'a')));
}

std::string mail_command(const MailParameters& parameters, const Capabilities& server) {
  std::string out;
  append_mail_command(out, "ann@example.com", parameters, server);
  return out;
}

TEST(SmtpCommand, TellsOnlyWhatTheServerUnderstands) {
  const MailParameters parameters{.size = 1234, .eight_bit = true, .utf8 = true, .envelope_id = "id"};
  EXPECT_EQ(mail_command(parameters, {}), "MAIL FROM:<ann@example.com>\r\n");
  EXPECT_EQ(mail_command(parameters, {.eight_bit_mime = true, .utf8 = true, .dsn = true, .size = true}),
            "MAIL FROM:<ann@example.com> SIZE=1234 BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=id\r\n");
  EXPECT_EQ(mail_command({.size = 1}, {.eight_bit_mime = true, .utf8 = true, .dsn = true, .size = true}),
            "MAIL FROM:<ann@example.com> SIZE=1 RET=HDRS\r\n");
}

TEST(SmtpCommand, EncodesTheEnvelopeId) {
  const Capabilities dsn{.dsn = true};
  EXPECT_EQ(mail_command({.envelope_id = "a+b=c d\r\n\u00e9"}, dsn),
            "MAIL FROM:<ann@example.com> RET=HDRS ENVID=a+2Bb+3Dc+20d+0D+0A+C3+A9\r\n");
  EXPECT_EQ(mail_command({.envelope_id = std::string(101, 'a')}, dsn), "MAIL FROM:<ann@example.com> RET=HDRS\r\n")
      << "RFC 3461 allows 100 characters";
}

TEST(SmtpCommand, TellsTheOriginalRecipient) {
  const auto command = [](std::string_view address, const Capabilities& server) {
    std::string out;
    append_recipient_command(out, address, server);
    return out;
  };
  EXPECT_EQ(command("ann+x@example.com", {}), "RCPT TO:<ann+x@example.com>\r\n");
  EXPECT_EQ(command("ann+x@example.com", {.dsn = true}),
            "RCPT TO:<ann+x@example.com> ORCPT=rfc822;ann+2Bx@example.com\r\n");
  EXPECT_EQ(command("j\u00f6rg@example.com", {.dsn = true}), "RCPT TO:<j\u00f6rg@example.com>\r\n");
}

TEST(SmtpAuth, SendsNoPasswordInTheClearToOtherMachines) {
  EXPECT_TRUE(may_send_password(true, {"192.0.2.1", 25}));
  EXPECT_TRUE(may_send_password(false, {"127.0.0.1", 25}));
  EXPECT_TRUE(may_send_password(false, {"127.8.9.1", 25}));
  EXPECT_TRUE(may_send_password(false, {"::1", 25}));
  EXPECT_FALSE(may_send_password(false, {"192.0.2.1", 25}));
  EXPECT_FALSE(may_send_password(false, {"10.0.0.1", 25}));
  EXPECT_FALSE(may_send_password(false, {"2001:db8::1", 25}));
  EXPECT_FALSE(may_send_password(false, {"localhost.example", 25}));
}

std::string transferred(std::string_view message) {
  std::string room;
  std::string all;
  Body body(message, room);
  while (!body.finished()) all += body.next();
  return all;
}

TEST(SmtpBody, DoublesDotsThatBeginALine) {
  EXPECT_EQ(transferred("a\r\n"), "a\r\n.\r\n");
  EXPECT_EQ(transferred(".\r\n"), "..\r\n.\r\n");
  EXPECT_EQ(transferred(".a\r\n.b\r\n"), "..a\r\n..b\r\n.\r\n");
  EXPECT_EQ(transferred("a.\r\n..\r\nb.c\r\n...d\r\n"), "a.\r\n...\r\nb.c\r\n....d\r\n.\r\n");
  EXPECT_EQ(transferred("a\r\n.\r\n"), "a\r\n..\r\n.\r\n");
  EXPECT_EQ(transferred("a\r\n\r\n.\r\n\r\nb\r\n"), "a\r\n\r\n..\r\n\r\nb\r\n.\r\n");
}

TEST(SmtpBody, EndsTheLastLine) {
  EXPECT_EQ(transferred(""), ".\r\n");
  EXPECT_EQ(transferred("a"), "a\r\n.\r\n");
  EXPECT_EQ(transferred("."), "..\r\n.\r\n");
  EXPECT_EQ(transferred("a\r\n."), "a\r\n..\r\n.\r\n");
  EXPECT_EQ(transferred_size(""), 0U);
  EXPECT_EQ(transferred_size("a"), 3U);
  EXPECT_EQ(transferred_size("a\r\n"), 3U);
}

// Blocks must not make a difference, wherever they end: before a dot, behind it, within a line end.
TEST(SmtpBody, IsTheSameWhereverABlockEnds) {
  for (std::size_t offset = 0; offset < 8; ++offset) {
    for (const std::string_view tail : {"\r\n.b\r\n", "\r\n.", "", "\r\n", "\r\n..\r\n.\r\nx"}) {
      const std::string head = ".a\r\n" + std::string(2 * Body::block_size - offset, 'x');
      const std::string doubled_head = "." + head;
      std::string doubled_tail(tail);
      for (std::size_t at = 0; (at = doubled_tail.find("\r\n.", at)) != std::string::npos; at += 4)
        doubled_tail.insert(at + 2, ".");
      const std::string_view end = tail.ends_with("\r\n") ? ".\r\n" : "\r\n.\r\n";
      ASSERT_EQ(transferred(head + std::string(tail)), doubled_head + doubled_tail + std::string(end));
    }
  }
}

TEST(SmtpBody, DoesNotCopyBlocksWithoutDots) {
  const std::string message(3 * Body::block_size, 'x');
  std::string room;
  Body body(message, room);
  EXPECT_EQ(body.next().data(), message.data());
  EXPECT_EQ(body.next().data(), message.data() + Body::block_size);
  EXPECT_FALSE(body.finished());
  EXPECT_EQ(body.next(), std::string(Body::block_size, 'x') + "\r\n.\r\n") << "one write for the rest and the end";
  EXPECT_TRUE(body.finished());
}

TEST(SmtpBody, SeesLineEndsThatServersDisagreeOn) {
  for (const std::string_view good : {"", "a", "\r\n", "a\r\n", "\r\n\r\n", "a\r\n\r\nb"})
    EXPECT_TRUE(has_proper_line_ends(good)) << good;
  for (const std::string_view bad : {"\n", "\r", "a\n.\n", "a\n", "a\r", "a\r\r\n", "a\r\n\n", "a\rb\r\n", "a\r\n\r",
                                     "a\n\r", "a\r\n.\rMAIL FROM:<x>\r\n"})
    EXPECT_FALSE(has_proper_line_ends(bad)) << bad;
}

TEST(SmtpBody, SeesBytesBeyondAscii) {
  std::string text(40, '\x7F');
  EXPECT_FALSE(has_eight_bit_bytes(text));
  EXPECT_FALSE(has_eight_bit_bytes(""));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = '\x80';
    EXPECT_TRUE(has_eight_bit_bytes(other)) << i;
  }
}

}  // namespace
}  // namespace postino::smtp
