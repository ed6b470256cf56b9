#include "outbox/email/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace postino::outbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr base::TimePoint read_time{base::Milliseconds(1'794'735'000'000)};  // 2026-11-15T09:30:00Z

struct Outcome {
  std::optional<Payload> payload;
  std::vector<std::string> faults;  // "field: rule"
};

Outcome read(const std::string& text, const std::string& path = "") {
  json::FieldErrors errors;
  json::Document document;
  Outcome outcome;
  EXPECT_TRUE(document.parse(text, errors)) << text;
  outcome.payload = read_payload(document.root(), path, read_time, errors);
  for (const json::FieldError& error : errors.list()) outcome.faults.push_back(error.field + ": " + error.rule);
  EXPECT_EQ(outcome.payload.has_value(), outcome.faults.empty());
  return outcome;
}

// A payload that is all right but for the members that are given: they come in addition to the necessary ones.
std::vector<std::string> faults_with(const std::string& members) {
  return read(R"({"from":"ann@example.com","to":"bob@example.com","subject":"s","body_text":"b",)" + members + "}")
      .faults;
}
std::vector<std::string> faults_of(const std::string& text) { return read(text).faults; }

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += (i == 0 ? "" : ",") + text;
  return result;
}

TEST(Payload, NeedsAFromSomebodyToASubjectAndABody) {
  EXPECT_THAT(faults_of("{}"), ElementsAre("from: is required", "to: is required", "subject: is required",
                                           "body_text: is required if there is no body_html"));
  EXPECT_THAT(faults_of("[]"), testing::Contains(": must be an object"));
  EXPECT_THAT(faults_with(R"("id":null)"), IsEmpty());
}

// As programs in Go and Java write what they do not have.
TEST(Payload, EmptyOptionalFieldsAreAsIfAbsent) {
  const Outcome outcome = read(R"({"id":"","from":"ann@example.com","reply_to":"","to":"bob@example.com","cc":"",
    "bcc":[],"subject":"","body_text":"b","body_html":"","attachments":[
      {"path":"a.txt","name":"","content_type":"","content_base64":""},
      {"path":"","name":"b.txt","content_type":"","content_base64":"AA=="},
      {"path":"","name":"c.txt","content_type":"","content_base64":""}],
    "custom_headers":{},"send_at":"","callback_url":"","tags":[],"unsubscribe":{"url":"","mailto":""}})");
  ASSERT_THAT(outcome.faults, IsEmpty());
  const Payload& payload = *outcome.payload;
  EXPECT_EQ(payload.id, "");
  EXPECT_EQ(payload.reply_to, std::nullopt);
  EXPECT_THAT(payload.cc, IsEmpty());
  EXPECT_EQ(payload.send_at, std::nullopt);
  EXPECT_EQ(payload.callback_url, "");
  EXPECT_EQ(payload.unsubscribe_url + payload.unsubscribe_mailto, "");
  EXPECT_THAT(payload.attachments, ElementsAre(PayloadAttachment{"a.txt", "a.txt", "", "", false},
                                               PayloadAttachment{"", "b.txt", "", "AA==", true},
                                               PayloadAttachment{"", "c.txt", "", "", true}));
  EXPECT_THAT(faults_with(R"("unsubscribe":{},"callback_url":null,"cc":null)"), IsEmpty());
  for (const char* name : {"attachments", "custom_headers", "tags", "unsubscribe"})
    EXPECT_THAT(faults_with("\"" + std::string(name) + R"(":"")"), testing::IsEmpty()) << name;
  EXPECT_THAT(faults_with(R"("tags":"a")"), testing::SizeIs(1));
  EXPECT_THAT(faults_with(R"("cc":[""])"), ElementsAre(testing::StartsWith("cc[0]: must ")))
      << "an element is no field";
  EXPECT_THAT(faults_of(R"({"from":"","to":"","subject":"s","body_text":"b"})"), testing::SizeIs(2))
      << "what is required is";
}

TEST(Payload, FieldsAreNamedByTheirPath) {
  EXPECT_THAT(read(R"({"from":1,"to":["bob@example.com","nobody"],"subject":"s","body_html":"b"})", "data[2]").faults,
              ElementsAre("data[2].from: must be a string", "data[2].to[1]: must have an @"));
}

TEST(Payload, ReadsEverything) {
  const Outcome outcome = read(R"({
    "id": "3F2504E0-4F89-41D3-9A0C-0305E82C3301",
    "from": "Ann <ann@example.com>", "reply_to": "desk@example.com",
    "to": ["bob@example.com", "\"Doe, Jo\" <jo@example.com>"], "cc": "cid@example.com", "bcc": ["dan@example.com"],
    "subject": "Grüße", "body_text": "text", "body_html": "<p>html</p>",
    "attachments": ["2026/a.pdf", {"path": "b.txt", "name": "c.txt", "content_type": "text/plain"},
                    {"name": "d.bin", "content_base64": "AAEC"}],
    "custom_headers": {"X-B": "2", "X-A": "1"},
    "send_at": "2026-11-16T00:00:00+01:00", "callback_url": "https://example.com/hook",
    "tags": ["one", "two"], "unsubscribe": {"url": "https://example.com/u?x=1", "mailto": "off@example.com"}})");
  ASSERT_THAT(outcome.faults, IsEmpty());
  const Payload& payload = *outcome.payload;
  EXPECT_EQ(payload.id, "3f2504e0-4f89-41d3-9a0c-0305e82c3301") << "one spelling";
  EXPECT_EQ(payload.from, (mail::Mailbox{"Ann", "ann@example.com"}));
  EXPECT_EQ(payload.reply_to, (mail::Mailbox{"", "desk@example.com"}));
  EXPECT_THAT(payload.to,
              ElementsAre(mail::Mailbox{"", "bob@example.com"}, mail::Mailbox{"Doe, Jo", "jo@example.com"}));
  EXPECT_THAT(payload.cc, ElementsAre(mail::Mailbox{"", "cid@example.com"}));
  EXPECT_THAT(payload.bcc, ElementsAre(mail::Mailbox{"", "dan@example.com"}));
  EXPECT_EQ(payload.subject, "Grüße");
  EXPECT_EQ(payload.body_text, "text");
  EXPECT_EQ(payload.body_html, "<p>html</p>");
  EXPECT_THAT(payload.attachments, ElementsAre(PayloadAttachment{"2026/a.pdf", "a.pdf", "", "", false},
                                               PayloadAttachment{"b.txt", "c.txt", "text/plain", "", false},
                                               PayloadAttachment{"", "d.bin", "", "AAEC", true}));
  EXPECT_THAT(payload.custom_headers, ElementsAre(std::pair("X-B", "2"), std::pair("X-A", "1")));
  EXPECT_EQ(payload.send_at, base::from_epoch_milliseconds(1'794'783'600'000));
  EXPECT_EQ(payload.callback_url, "https://example.com/hook");
  EXPECT_THAT(payload.tags, ElementsAre("one", "two"));
  EXPECT_EQ(payload.unsubscribe_url, "https://example.com/u?x=1");
  EXPECT_EQ(payload.unsubscribe_mailto, "off@example.com");
}

void expect_equal(const Payload& a, const Payload& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.from, b.from);
  EXPECT_EQ(a.reply_to, b.reply_to);
  EXPECT_EQ(a.to, b.to);
  EXPECT_EQ(a.cc, b.cc);
  EXPECT_EQ(a.bcc, b.bcc);
  EXPECT_EQ(a.subject, b.subject);
  EXPECT_EQ(a.body_text, b.body_text);
  EXPECT_EQ(a.body_html, b.body_html);
  EXPECT_EQ(a.attachments, b.attachments);
  EXPECT_EQ(a.custom_headers, b.custom_headers);
  EXPECT_EQ(a.send_at, b.send_at);
  EXPECT_EQ(a.callback_url, b.callback_url);
  EXPECT_EQ(a.tags, b.tags);
  EXPECT_EQ(a.unsubscribe_url, b.unsubscribe_url);
  EXPECT_EQ(a.unsubscribe_mailto, b.unsubscribe_mailto);
}

TEST(Payload, WhatIsWrittenIsReadBack) {
  for (
      const char* text :
      {R"({"from":"ann@example.com","to":"bob@example.com","subject":"","body_text":"b"})",
       R"({"from":"ann@example.com","to":"bob@example.com","subject":"s","body_html":"<p>\u20ac \"q\" \\ </p>"})",
       R"({"from":"\"A \\\"q\\\" \\\\ b\" <ann@example.com>","to":["Müller <m@example.com>"],"subject":"s \ud83d\ude00",
            "body_text":"line\r\n.\r\n","body_html":"h","reply_to":"\"x, y\" <r@example.com>",
            "attachments":["a/b.pdf",{"name":"n","content_base64":""},{"path":"p","content_type":"text/csv; charset=x"}],
            "custom_headers":{"X-One":"a\tb","x-one":"again"},"send_at":"0000-01-01T00:00:00.001Z","tags":["t"],
            "callback_url":"http://h:8080/p?q","unsubscribe":{"mailto":"u@example.com"}})"}) {
    const Outcome outcome = read(text);
    ASSERT_THAT(outcome.faults, IsEmpty()) << text;
    const auto again = parse_payload(to_json(*outcome.payload));
    ASSERT_TRUE(again) << again.error().message;
    expect_equal(*again, *outcome.payload);
    EXPECT_EQ(to_json(*again), to_json(*outcome.payload));
  }
}

TEST(Payload, OfTheSpoolMayBeFarAwayInTime) {
  EXPECT_TRUE(parse_payload(
      R"({"from":"a@example.com","to":"b@example.com","subject":"s","body_text":"b","send_at":"2199-01-01T00:00:00Z"})"));
  const auto broken = parse_payload(R"({"from":"a@example.com","subject":"s"})");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, base::ErrorCode::invalid);
  EXPECT_EQ(broken.error().message, "to is required; body_text is required if there is no body_html");
  const auto no_json = parse_payload("{");
  ASSERT_FALSE(no_json);
  EXPECT_EQ(no_json.error().message, "the payload must be JSON; it ends too early, in line 1, column 2");
}

TEST(Payload, IdsAreUuids) {
  for (const char* id : {" ", "1", "3f2504e0-4f89-41d3-9a0c-0305e82c330", "3f2504e0-4f89-41d3-9a0c-0305e82c330g",
                         "3f2504e04f8941d39a0c0305e82c33010000", "../../../../etc/passwd/4f89-41d3-9a0c"})
    EXPECT_THAT(faults_with(R"("id":")" + std::string(id) + "\""), ElementsAre("id: must be a UUID")) << id;
}

// The e-mails of reminders and tickets have such ids. A caller that knows what they are made from can compute them.
TEST(Payload, DerivedIdsAreNotForCallers) {
  const std::string derived = derived_uuid("payment reminder");
  EXPECT_TRUE(is_derived_uuid(derived));
  for (const std::string& id : {derived, base::upper_case(derived)})
    EXPECT_THAT(faults_with(R"("id":")" + id + "\""),
                ElementsAre("id: must not be a UUID of version 8: those are derived by the server"));
  EXPECT_FALSE(is_derived_uuid("3f2504e0-4f89-41d3-9a0c-0305e82c3301"));
  EXPECT_THAT(faults_with(R"("id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301")"), IsEmpty());
  EXPECT_TRUE(parse_payload(R"({"from":"a@example.com","to":"b@example.com","subject":"s","body_text":"b","id":")" +
                            derived + "\"}"))
      << "our own are read again";
}

TEST(Payload, AddressesAreChecked) {
  EXPECT_THAT(faults_with(R"("cc":7)"), ElementsAre("cc: must be an address or an array of addresses"));
  EXPECT_THAT(faults_with(R"("cc":[])"), IsEmpty());
  EXPECT_THAT(faults_of(R"({"from":"a@example.com","to":[],"subject":"s","body_text":"b"})"),
              ElementsAre("to: must have at least one address"));
  EXPECT_THAT(faults_with(R"("bcc":["a@example.com",7,null])"),
              ElementsAre("bcc[1]: must be a string", "bcc[2]: must be a string"));
  EXPECT_THAT(faults_with(R"("bcc":["a@example.com, b@example.com"])"), testing::SizeIs(1));
  EXPECT_THAT(faults_with(R"("reply_to":")" + std::string(1'001, 'a') + "\""),
              ElementsAre("reply_to: must not be longer than 1000 bytes"));
  EXPECT_THAT(faults_with(R"("cc":[")" + std::string(1'001, 'a') + "\"]"),
              ElementsAre("cc[0]: must not be longer than 1000 bytes"));
}

TEST(Payload, NothingEndsALineOfTheHead) {
  for (const char* end : {"\\r\\n", "\\n", "\\r", "\\u0000", "\\u0085", "\\u2028", "\\u2029"}) {
    const std::string injection = std::string("x") + end + "Bcc: eve@example.com";
    EXPECT_THAT(faults_with(R"("reply_to":")" + injection + R"( <a@example.com>")"), testing::SizeIs(1)) << end;
    EXPECT_THAT(faults_with(R"("cc":["a@example.com)" + injection + R"("])"), testing::SizeIs(1)) << end;
    EXPECT_THAT(faults_with(R"("custom_headers":{"X-A":")" + injection + R"("})"), testing::SizeIs(1)) << end;
    EXPECT_THAT(faults_with(R"("custom_headers":{")" + injection + R"(":"v"})"), testing::SizeIs(1)) << end;
    EXPECT_THAT(faults_with(R"("attachments":[{"name":")" + injection + R"(","content_base64":""}])"),
                testing::SizeIs(1))
        << end;
    EXPECT_THAT(
        faults_with(R"("attachments":[{"name":"n","content_base64":"","content_type":"text/)" + injection + R"("}])"),
        testing::SizeIs(1))
        << end;
    EXPECT_THAT(faults_with(R"("unsubscribe":{"url":"https://example.com/)" + injection + R"("})"), testing::SizeIs(1))
        << end;
    EXPECT_THAT(
        faults_of(R"({"from":"a@example.com","to":"b@example.com","body_text":"b","subject":")" + injection + "\"}"),
        ElementsAre("subject: must not contain line ends or other control characters"))
        << end;
  }
}

TEST(Payload, HeadersOfTheMessageItselfAreNotTheCallers) {
  for (const char* name : {"From", "to", "CC", "Bcc", "Subject", "Date", "Message-ID", "Content-Type", "DKIM-Signature",
                           "Received", "Return-Path", "Reply-To", "MIME-Version"}) {
    const auto faults = faults_with(R"("custom_headers":{")" + std::string(name) + R"(":"v"})");
    ASSERT_THAT(faults, testing::SizeIs(1)) << name;
    EXPECT_THAT(faults.front(), HasSubstr("custom_headers." + std::string(name) + ": must not be")) << name;
  }
  EXPECT_THAT(faults_with(R"("custom_headers":{"X-N":1})"), ElementsAre("custom_headers.X-N: must be a string"));
  EXPECT_THAT(faults_with(R"("custom_headers":[])"), ElementsAre("custom_headers: must be an object"));
  EXPECT_THAT(faults_with(R"("custom_headers":{"X-N":")" + std::string(8'001, 'v') + "\"}"),
              ElementsAre("custom_headers.X-N: must not be longer than 8000 bytes"));
}

TEST(Payload, BodiesMustHaveSomethingInThem) {
  const auto body = [](const std::string& members) {
    return faults_of(R"({"from":"a@example.com","to":"b@example.com","subject":"s",)" + members + "}");
  };
  EXPECT_THAT(body(R"("body_text":"")"), ElementsAre("body_text: is required if there is no body_html"));
  EXPECT_THAT(body(R"("body_text":"","body_html":"")"), ElementsAre("body_text: is required if there is no body_html"));
  EXPECT_THAT(body(R"("body_text":"","body_html":"h")"), IsEmpty());
  EXPECT_THAT(body(R"("body_html":"a\u0000b")"), ElementsAre("body_html: must not contain NUL characters"));
  EXPECT_THAT(body(R"("body_text":"a\u0000b","body_html":"h")"),
              ElementsAre("body_text: must not contain NUL characters"));
  EXPECT_THAT(body(R"("body_html":")" + std::string((10 << 20) + 1, 'h') + R"(","body_text":"t")"),
              ElementsAre("body_html: must not be longer than 10485760 bytes"));
}

TEST(Payload, AttachmentPathsStayBelowTheBase) {
  for (const char* path :
       {"", "/etc/passwd", "..", "../a", "a/..", "a/../../b", "a/../b", "dir/", "a\\u0000b", "a\\nb"}) {
    EXPECT_THAT(faults_with(R"("attachments":[")" + std::string(path) + "\"]"),
                ElementsAre("attachments[0]: must be a relative path without .. or control characters"))
        << path;
    if (*path == '\0') continue;
    EXPECT_THAT(faults_with(R"("attachments":[{"path":")" + std::string(path) + R"(","name":"n"}])"),
                ElementsAre("attachments[0].path: must be a relative path without .. or control characters"))
        << path;
  }
  const std::string too_long = std::string(4'096, 'd') + "/a";
  EXPECT_THAT(faults_with(R"("attachments":[")" + too_long + "\"]"),
              ElementsAre("attachments[0]: must not be longer than 4096 bytes"));
  EXPECT_THAT(faults_with(R"("attachments":[{"path":")" + too_long + "\"}]"),
              ElementsAre("attachments[0].path: must not be longer than 4096 bytes"));
  for (const char* path : {"a", "a/b.pdf", "..a/b..", "a/...", ".hidden"})
    EXPECT_THAT(faults_with(R"("attachments":[")" + std::string(path) + "\"]"), IsEmpty()) << path;
}

TEST(Payload, AttachmentsAreAFileOrTheContentItself) {
  EXPECT_THAT(faults_with(R"("attachments":[7])"), ElementsAre("attachments[0]: must be a path or an object"));
  EXPECT_THAT(faults_with(R"("attachments":{})"), ElementsAre("attachments: must be an array"));
  EXPECT_THAT(faults_with(R"("attachments":[{"name":"n"}])"),
              ElementsAre("attachments[0].path: or content_base64 must be given, but not both"));
  EXPECT_THAT(faults_with(R"("attachments":[{"name":"n","path":"p","content_base64":"AA=="}])"),
              ElementsAre("attachments[0].path: or content_base64 must be given, but not both"));
  EXPECT_THAT(faults_with(R"("attachments":[{"content_base64":"AA=="}])"),
              ElementsAre("attachments[0].name: is required"));
  EXPECT_THAT(faults_with(R"("attachments":[{"name":"n","content_base64":"A"}])"),
              ElementsAre("attachments[0].content_base64: must be base64"));
  EXPECT_THAT(faults_with(R"("attachments":[{"path":"p","disposition":"inline"}])"),
              ElementsAre("attachments[0].disposition: is an unknown field"));
  for (const char* name : {" \\n", "a/b", "a\\\\b", "..", "."})
    EXPECT_THAT(faults_with(R"("attachments":[{"path":"p","name":")" + std::string(name) + "\"}]"),
                ElementsAre("attachments[0].name: must have 1 to 255 bytes, and no slashes or control characters"))
        << name;
  EXPECT_THAT(faults_with(R"("attachments":["d/)" + std::string(256, 'n') + "\"]"), testing::SizeIs(1));
  EXPECT_THAT(faults_with(R"("attachments":[{"path":"d/)" + std::string(256, 'n') + R"(","name":"n"}])"), IsEmpty());
  for (const char* type : {"csv", "text/", "multipart/mixed", "text/csv; x"})
    EXPECT_THAT(faults_with(R"("attachments":[{"path":"p","content_type":")" + std::string(type) + "\"}]"),
                ElementsAre(testing::StartsWith("attachments[0].content_type: must ")))
        << type;
}

TEST(Payload, SendAtIsWithinAYear) {
  EXPECT_THAT(faults_with(R"("send_at":"2027-11-16T09:30:00Z")"), IsEmpty());
  EXPECT_THAT(faults_with(R"("send_at":"2027-11-16T09:30:00.001Z")"),
              ElementsAre("send_at: must not be more than a year in the future"));
  EXPECT_THAT(faults_with(R"("send_at":"2020-01-01T00:00:00Z")"), IsEmpty()) << "means now";
  EXPECT_THAT(faults_with(R"("send_at":"tomorrow")"), testing::SizeIs(1));
}

TEST(Payload, UrlsAreChecked) {
  for (const char* url : {" ", "ftp://example.com", "example.com", "https://u:p@example.com/", "https:///x"})
    EXPECT_THAT(faults_with(R"("callback_url":")" + std::string(url) + "\""),
                ElementsAre(testing::StartsWith("callback_url: must ")))
        << url;
  EXPECT_THAT(faults_with(R"("unsubscribe":{"url":"http://example.com/"})"),
              ElementsAre("unsubscribe.url: must begin with https"));
  EXPECT_THAT(faults_with(R"("unsubscribe":{"mailto":"nobody"})"), ElementsAre("unsubscribe.mailto: must have an @"));
  EXPECT_THAT(faults_with(R"("unsubscribe":"https://example.com/")"),
              testing::Contains("unsubscribe: must be an object"));
  EXPECT_THAT(faults_with(R"("unsubscribe":{"url":"https://example.com/)" + std::string(900, 'u') + "\"}"),
              testing::SizeIs(1));
  EXPECT_THAT(faults_with(R"("unsubscribe":{"url":"https://example.com/>,<mailto:eve@example.com"})"),
              testing::SizeIs(1));
  const Outcome shouted = read(
      R"({"from":"a@example.com","to":"b@example.com","subject":"s","body_text":"b","unsubscribe":{"url":"HTTPS://Example.com/U"}})");
  ASSERT_THAT(shouted.faults, IsEmpty());
  EXPECT_EQ(shouted.payload->unsubscribe_url, "https://example.com/U");
}

TEST(Payload, TagsAreShort) {
  EXPECT_THAT(faults_with(R"("tags":["ok","",")" + std::string(65, 't') + R"(",7,"a\nb"])"),
              ElementsAre("tags[1]: must be a string of 1 to 64 bytes without control characters",
                          "tags[2]: must be a string of 1 to 64 bytes without control characters",
                          "tags[3]: must be a string of 1 to 64 bytes without control characters",
                          "tags[4]: must be a string of 1 to 64 bytes without control characters"));
}

TEST(Payload, NumbersOfThingsAreLimited) {
  const std::string address = R"("b@example.com")";
  EXPECT_THAT(faults_with("\"cc\":[" + repeated(address, 99) + "]"), IsEmpty());
  EXPECT_THAT(faults_with("\"cc\":[" + repeated(address, 100) + "]"),
              ElementsAre("to: must not have more than 100 recipients together with cc and bcc"));
  EXPECT_THAT(faults_with("\"cc\":[" + repeated(address, 101) + "]"),
              ElementsAre("cc: must not have more than 100 elements"));
  EXPECT_THAT(faults_with("\"attachments\":[" + repeated("\"a\"", 51) + "]"),
              ElementsAre("attachments: must not have more than 50 elements"));
  EXPECT_THAT(faults_with("\"tags\":[" + repeated("\"a\"", 21) + "]"),
              ElementsAre("tags: must not have more than 20 elements"));
  EXPECT_THAT(faults_with("\"custom_headers\":{" + repeated(R"("X-A":"v")", 51) + "}"),
              ElementsAre("custom_headers: must not have more than 50 members"));
}

TEST(Payload, AMisspeltFieldIsNotPassedOver) {
  EXPECT_THAT(faults_with(R"("Subject":"x","sendAt":"2026-11-16T00:00:00Z")"),
              ElementsAre("Subject: is an unknown field", "sendAt: is an unknown field"));
}

}  // namespace
}  // namespace postino::outbox
