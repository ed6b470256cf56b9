#include "mail/delivery_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mail/report_values.h"

namespace postino::mail {
namespace {

using testing::HasSubstr;

std::string with_crlf(std::string_view text) {
  std::string result;
  for (const char letter : text) result += letter == '\n' ? "\r\n" : std::string(1, letter);
  return result;
}

// A report with the given status part and returned message part.
std::string report(std::string_view status, std::string_view returned = "",
                   std::string_view type = "multipart/report; report-type=delivery-status") {
  return with_crlf(std::string("From: MAILER-DAEMON@mx.example.org\nTo: bounces@example.com\n"
                               "Subject: Delivery Status Notification\nMIME-Version: 1.0\nContent-Type: ")
                       .append(type)
                       .append("; boundary=\"b1\"\n\n--b1\nContent-Type: text/plain\n\nSorry.\n\n"
                               "--b1\nContent-Type: message/delivery-status\n\n")
                       .append(status)
                       .append("\n--b1\n")
                       .append(returned)
                       .append("\n--b1--\n"));
}

DeliveryReport parsed_report(std::string_view message) {
  auto result = parse_delivery_report(message);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(DeliveryReport{});
}

std::string report_failure(std::string_view message) {
  const auto result = parse_delivery_report(message);
  if (result) return "accepted";
  EXPECT_EQ(result.error().code, base::ErrorCode::invalid);
  return result.error().message;
}

constexpr std::string_view one_recipient =
    "Reporting-MTA: dns; mx.example.org\n\n"
    "Final-Recipient: rfc822; ann@example.org\nAction: failed\nStatus: 5.1.1\n";

TEST(DeliveryReport, ReadsWhatPostfixWrites) {
  const std::string message = with_crlf(R"(Return-Path: <>
Date: Sun, 15 Nov 2026 09:31:00 +0000 (UTC)
From: MAILER-DAEMON@mx.example.org (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: bounces@example.com
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
 boundary="4XyZ.1794735060/mx.example.org"
Content-Transfer-Encoding: 8bit

This is a MIME-encapsulated message.

--4XyZ.1794735060/mx.example.org
Content-Description: Notification
Content-Type: text/plain; charset=utf-8

<ann@example.org>: host mail.example.org[192.0.2.7] said: 550 5.1.1 unknown

--4XyZ.1794735060/mx.example.org
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.org
Original-Envelope-Id: e-42
X-Postfix-Queue-ID: 4XyZ
Arrival-Date: Sun, 15 Nov 2026 09:30:59 +0000 (UTC)

Final-Recipient: rfc822; ann.new@example.org
Original-Recipient: rfc822;ann@example.org
Action: failed
Status: 5.1.1
Remote-MTA: dns; mail.example.org
Diagnostic-Code: smtp; 550 5.1.1 <ann@example.org>: Recipient address
    rejected: User unknown; in local table

Final-Recipient: rfc822; bob@example.org
Action: delayed
Status: 4.4.1
Diagnostic-Code: X-Postfix; connect to mail.example.org[192.0.2.7]:25:
    Connection timed out

--4XyZ.1794735060/mx.example.org
Content-Description: Undelivered Message Headers
Content-Type: text/rfc822-headers

Return-Path: <bounces@example.com>
From: Postino <postino@example.com>
Message-Id:
 <0123@example.com>
Subject: Your invoice

--4XyZ.1794735060/mx.example.org--
)");
  const DeliveryReport result = parsed_report(message);
  EXPECT_EQ(result.message_id, "0123@example.com");
  EXPECT_EQ(result.envelope_id, "e-42");
  ASSERT_EQ(result.recipients.size(), 2U);
  EXPECT_EQ(result.recipients[0].address, "ann@example.org") << "the one we sent to, not the one it became";
  EXPECT_EQ(result.recipients[0].action, "failed");
  EXPECT_EQ(result.recipients[0].status, "5.1.1");
  EXPECT_EQ(result.recipients[0].diagnostic,
            "550 5.1.1 <ann@example.org>: Recipient address rejected: User unknown; in local table");
  EXPECT_EQ(result.recipients[1].address, "bob@example.org");
  EXPECT_EQ(result.recipients[1].action, "delayed");
  EXPECT_EQ(result.recipients[1].status, "4.4.1");
  EXPECT_EQ(result.recipients[1].diagnostic, "connect to mail.example.org[192.0.2.7]:25: Connection timed out");
}

TEST(DeliveryReport, ReadsWhatEximWrites) {
  const std::string message = with_crlf(R"(X-Failed-Recipients: ann@example.org
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@relay.example>
To: bounces@example.com
Content-Type: multipart/report; report-type=delivery-status; boundary=1794735060-eximdsn-1804289383
MIME-Version: 1.0
Subject: Mail delivery failed: returning message to sender

--1794735060-eximdsn-1804289383
Content-type: text/plain; charset=us-ascii

This message was created automatically by mail delivery software.

--1794735060-eximdsn-1804289383
Content-type: message/delivery-status

Reporting-MTA: dns; relay.example

Action: failed
Final-Recipient: rfc822;ann@example.org
Status: 5.0.0
Remote-MTA: dns; mail.example.org
Diagnostic-Code: smtp; 550 No such user here

--1794735060-eximdsn-1804289383
Content-type: message/rfc822

Return-path: <bounces@example.com>
Received: from app.example.com by relay.example
From: Postino <postino@example.com>
Message-ID: <0123@example.com>
Content-Type: multipart/alternative; boundary="inner"

--inner
Content-Type: text/plain

Dear Ann
--inner--

--1794735060-eximdsn-1804289383--
)");
  const DeliveryReport result = parsed_report(message);
  EXPECT_EQ(result.message_id, "0123@example.com");
  EXPECT_EQ(result.envelope_id, "");
  ASSERT_EQ(result.recipients.size(), 1U);
  EXPECT_EQ(result.recipients[0].address, "ann@example.org");
  EXPECT_EQ(result.recipients[0].status, "5.0.0");
  EXPECT_EQ(result.recipients[0].diagnostic, "550 No such user here");
}

TEST(DeliveryReport, ReadsWhatExchangeWrites) {
  const std::string message = with_crlf(R"(From: <postmaster@contoso.example>
To: <bounces@example.com>
Subject: Undeliverable: Your invoice
Content-Type: multipart/report; report-type=delivery-status;
 boundary="7c2f_MSX"
MIME-Version: 1.0

--7c2f_MSX
Content-Type: multipart/alternative; differences=Content-Type;
 boundary="9a1e_MSX"

--9a1e_MSX
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

Your message couldn't be delivered.

--9a1e_MSX
Content-Type: text/html; charset="us-ascii"

<html><body>Your message couldn't be delivered.</body></html>

--9a1e_MSX--

--7c2f_MSX
Content-Type: message/delivery-status

Reporting-MTA: dns;EX01.contoso.example
Received-From-MTA: dns;relay.example
Arrival-Date: Sun, 15 Nov 2026 09:31:00 +0000

Original-Recipient: rfc822;ann+2Bbills@contoso.example
Final-Recipient: rfc822;ann@contoso.example
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup
X-Display-Name: Ann

--7c2f_MSX
Content-Type: message/rfc822

From: Postino <postino@example.com>
Subject: Your invoice
Message-ID: <0123@example.com>

--7c2f_MSX--
)");
  const DeliveryReport result = parsed_report(message);
  EXPECT_EQ(result.message_id, "0123@example.com");
  ASSERT_EQ(result.recipients.size(), 1U);
  EXPECT_EQ(result.recipients[0].address, "ann+bills@contoso.example") << "xtext";
  EXPECT_EQ(result.recipients[0].status, "5.1.10");
  EXPECT_EQ(result.recipients[0].diagnostic,
            "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup");
}

TEST(DeliveryReport, ReadsBareLineFeeds) {
  std::string message = report(one_recipient);
  std::erase(message, '\r');
  EXPECT_EQ(parsed_report(message).recipients.size(), 1U);
}

TEST(DeliveryReport, IsFoundInsideOfAWrapper) {
  const std::string inner = report(one_recipient);
  const std::string message = "From: x@example.org\r\nContent-Type: multipart/mixed; boundary=w\r\n\r\n--w\r\n" +
                              inner.substr(inner.find("Content-Type:")) +
                              "\r\n--w\r\nContent-Type: text/plain\r\n\r\nA footer.\r\n--w--\r\n";
  EXPECT_EQ(parsed_report(message).recipients.size(), 1U);
}

TEST(DeliveryReport, LooksForTheMessageIdInTheHeadersAlone) {
  EXPECT_EQ(parsed_report(
                report(one_recipient, "Content-Type: message/rfc822\n\nSubject: x\n\nMessage-ID: <no@example.com>\n"))
                .message_id,
            "");
}

TEST(DeliveryReport, DecodesItsParts) {
  std::string message = report(
      "UmVwb3J0aW5nLU1UQTogZG5zOyBhCgpGaW5hbC1SZWNpcGllbnQ6IHJmYzgyMjsgYW5uQGV4YW1wbGUub3Jn\n"
      "CkFjdGlvbjogZmFpbGVkClN0YXR1czogNS4xLjEK\n");
  const std::string_view type = "Content-Type: message/delivery-status\r\n";
  message.insert(message.find(type) + type.size(), "Content-Transfer-Encoding: base64\r\n");
  const DeliveryReport result = parsed_report(message);
  ASSERT_EQ(result.recipients.size(), 1U);
  EXPECT_EQ(result.recipients[0].address, "ann@example.org");
}

TEST(DeliveryReport, TakesWhatThereIs) {
  const DeliveryReport result =
      parsed_report(report("FINAL-RECIPIENT: RFC822; <ann@example.org>\nACTION: Failed (permanent)\n"
                           "Status: 5.7.1 (policy)\nRemote-MTA: dns; mx.example.org\n"));
  ASSERT_EQ(result.recipients.size(), 1U);
  EXPECT_EQ(result.recipients[0].address, "ann@example.org");
  EXPECT_EQ(result.recipients[0].action, "failed");
  EXPECT_EQ(result.recipients[0].status, "5.7.1");
  EXPECT_EQ(result.recipients[0].diagnostic, "5.7.1 (policy) from mx.example.org");
  EXPECT_EQ(result.message_id, "");
}

TEST(DeliveryReport, PassesOverWhatItCannotUse) {
  const DeliveryReport result = parsed_report(report(
      "Reporting-MTA: dns; a\n\n"
      "Final-Recipient: rfc822; not an address\nAction: failed\nStatus: 5.1.1\n\n"
      "Final-Recipient: rfc822; ann@example.org\nAction: exploded\nStatus: 5.1.1\n\n"
      "no field at all\n\n"
      "Original-Recipient: x400; /C=IT/\nFinal-Recipient: rfc822; bob@example.org\nAction: relayed\nStatus: x\n"));
  ASSERT_EQ(result.recipients.size(), 1U);
  EXPECT_EQ(result.recipients[0].address, "bob@example.org");
  EXPECT_EQ(result.recipients[0].action, "relayed");
  EXPECT_EQ(result.recipients[0].status, "");
}

TEST(DeliveryReport, RefusesWhatIsNoReport) {
  EXPECT_EQ(report_failure(""), "must be of the type multipart/report");
  EXPECT_EQ(report_failure("no message at all"), "must be of the type multipart/report");
  EXPECT_EQ(report_failure("From: a@b\r\nSubject: x\r\n\r\nhello\r\n"), "must be of the type multipart/report");
  EXPECT_EQ(report_failure("Content-Type: multipart/report\r\n\r\n"),
            "must have a part of the type message/delivery-status");
  EXPECT_EQ(report_failure(report(one_recipient, "", "multipart/report; report-type=feedback-report")),
            "must be a report of the type delivery-status");
  EXPECT_EQ(report_failure(report(one_recipient, "", "multipart/mixed")), "must be of the type multipart/report");
  EXPECT_EQ(report_failure(report("Reporting-MTA: dns; a\n")), "must report the status of at least one recipient");
  EXPECT_EQ(parsed_report(report(one_recipient, "", "Multipart/Report")).recipients.size(), 1U) << "by its parts";
}

TEST(DeliveryReport, HasALimitOfRecipients) {
  std::string status = "Reporting-MTA: dns; a\n";
  const auto add = [&](int number) {
    status += "\nFinal-Recipient: rfc822; p" + std::to_string(number) + "@example.org\nAction: failed\nStatus: 5.1.1\n";
  };
  for (int i = 0; i < 1000; ++i) add(i);
  EXPECT_EQ(parsed_report(report(status)).recipients.size(), 1000U);
  add(1000);
  EXPECT_EQ(report_failure(report(status)), "must be about at most 1,000 recipients");
}

TEST(DeliveryReport, TheWordsOfStrangersAreMadePrintable) {
  const DeliveryReport result = parsed_report(report(
      std::string(one_recipient) + "Diagnostic-Code: smtp; 550 a\x1B[31m\x01\xFF " + std::string(2000, 'x') + "\n",
      "Content-Type: text/rfc822-headers\n\nMessage-ID: <a\x01" + std::string(2000, 'y') + ">\n"));
  ASSERT_EQ(result.recipients.size(), 1U);
  EXPECT_THAT(result.recipients[0].diagnostic, testing::StartsWith("550 a [31m ? xxx"));
  EXPECT_EQ(result.recipients[0].diagnostic.size(), 512U);
  EXPECT_THAT(result.message_id, testing::StartsWith("a yyy"));
  EXPECT_EQ(result.message_id.size(), 512U);
}

TEST(DeliveryReport, SurvivesEveryCut) {
  const std::string message =
      report(one_recipient, "Content-Type: message/rfc822\n\nMessage-ID: <1@example.com>\n\nx\n");
  ASSERT_EQ(parsed_report(message).message_id, "1@example.com");
  for (std::size_t size = 0; size < message.size(); ++size) {
    const auto result = parse_delivery_report(std::string_view(message).substr(0, size));
    EXPECT_TRUE(!result || result->recipients.size() == 1);
  }
}

TEST(DeliveryReport, SurvivesDeepNesting) {
  std::string multiparts = "Content-Type: multipart/mixed; boundary=b0\r\n\r\n";
  std::string messages = multiparts;
  std::string reports = "Content-Type: multipart/report; boundary=b0\r\n\r\n";
  for (int i = 0; i < 20'000; ++i) {
    const std::string number = std::to_string(i);
    const std::string next = std::to_string(i + 1);
    multiparts += "--b" + number + "\r\nContent-Type: multipart/mixed; boundary=b" + next + "\r\n\r\n";
    reports += "--b" + number + "\r\nContent-Type: multipart/report; boundary=b" + next + "\r\n\r\n";
    messages += (i == 0 ? "--b0\r\n" : "") + std::string("Content-Type: message/rfc822\r\n\r\n");
  }
  EXPECT_EQ(report_failure(multiparts), "must be of the type multipart/report");
  EXPECT_EQ(report_failure(messages), "must be of the type multipart/report");
  EXPECT_EQ(report_failure(reports), "must have a part of the type message/delivery-status");
}

TEST(DeliveryReport, SurvivesLargeAndStrangeHeaders) {
  const auto repeated = [](std::string begin, std::string_view piece) {
    while (begin.size() < 2'000'000) begin += piece;
    return begin + "\r\n\r\n";
  };
  const std::string_view rule = "must be of the type multipart/report";
  EXPECT_EQ(report_failure(repeated("To: ", "a:")), rule);
  EXPECT_EQ(report_failure(repeated("To: ", "(")), rule);
  EXPECT_EQ(report_failure(repeated("To: ", "a@b,")), rule);
  EXPECT_EQ(report_failure(repeated("Subject: ", "=?utf-8?q?a?= ")), rule);
  EXPECT_EQ(report_failure(repeated("", "a:b\r\n")), rule);
  EXPECT_EQ(report_failure(repeated("A: b\r\n", " b\r\n")), rule);
  EXPECT_EQ(report_failure(repeated("Content-Type: multipart/report", "; a=b")), rule);
  EXPECT_EQ(report_failure(repeated("Content-Type: multipart/report; boundary=x", "\r\n\r\n--x")),
            "must have a part of the type message/delivery-status");
}

TEST(DeliveryReport, ADelimiterIsAWholeLine) {
  const DeliveryReport result =
      parsed_report(report("Reporting-MTA: dns; a\nX-Not: one\n--b1x: no\n --b1\n\n"
                           "Final-Recipient: rfc822; ann@example.org\nAction: failed\nStatus: 5.1.1\n"));
  EXPECT_EQ(result.recipients.size(), 1U);
}

TEST(DecodeXtext, DecodesWhatSomebodyEncoded) {
  EXPECT_EQ(decode_xtext("ann@example.org"), "ann@example.org");
  EXPECT_EQ(decode_xtext("ann+2Bbills+3Dx@example.org"), "ann+bills=x@example.org");
  EXPECT_EQ(decode_xtext("a+20b"), "a b");
  EXPECT_EQ(decode_xtext("+C3+A9"), "é");
}

TEST(DecodeXtext, LeavesOtherTextAsItIs) {
  for (const std::string_view text :
       {"ann+tag@example.org", "ann+41@example.org", "ann+2b@example.org", "ann+", "ann+2"})
    EXPECT_EQ(decode_xtext(text), text);
  const DeliveryReport result =
      parsed_report(report("Original-Recipient: rfc822;ann+2026@example.org\nAction: failed\nStatus: 5.1.1\n"));
  ASSERT_EQ(result.recipients.size(), 1U);
  EXPECT_EQ(result.recipients[0].address, "ann+2026@example.org") << "no address has a space there";
}

}  // namespace
}  // namespace postino::mail
