#include "broker/message_codec.h"

#include <gmock/gmock.h>

#include <map>
#include <proton/annotation_key.hpp>
#include <proton/binary.hpp>
#include <proton/map.hpp>
#include <proton/message.hpp>
#include <proton/message_id.hpp>
#include <proton/scalar.hpp>
#include <proton/symbol.hpp>
#include <proton/timestamp.hpp>
#include <proton/types.hpp>
#include <proton/uuid.hpp>

namespace postino::broker {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Message received(const proton::message& message) { return decode(message.encode()); }

Message sent_and_received(const Message& message, const Encoding& encoding = {}) {
  const auto bytes = encode(message, encoding);
  EXPECT_TRUE(bytes.has_value());
  return bytes ? decode(*bytes) : Message();
}

TEST(MessageCodec, WritesTheDelayAsBrokersWantIt) {
  Encoding encoding{.delay = Milliseconds(1'500), .now = base::from_epoch_milliseconds(1'000'000'000'000)};
  EXPECT_EQ(sent_and_received({.id = "1"}, encoding).headers.at("x-opt-delivery-delay"), Scalar(std::int64_t{1'500}));
  encoding.schedule_for_azure = true;
  const Message azure = sent_and_received({.id = "1"}, encoding);
  EXPECT_EQ(azure.headers.at("x-opt-scheduled-enqueue-time"), Scalar("2001-09-09T01:46:41.500Z"));
  EXPECT_FALSE(azure.headers.contains("x-opt-delivery-delay"));
}

TEST(MessageCodec, IgnoresWhatOnlyReceivedMessagesHave) {
  const Message message{.id = "1", .headers = {{"first-acquirer", false}, {"delivery-count", std::int64_t{7}}}};
  const Message out = sent_and_received(message);
  EXPECT_EQ(out.headers.at("delivery-count"), Scalar(std::int64_t{0}));
}

TEST(MessageCodec, TellsFormatsByTheContentType) {
  const auto format = [](const std::string& type, const std::string& body) {
    proton::message message;
    message.content_type(type);
    message.inferred(true);
    message.body(proton::binary(body));
    return received(message).format;
  };
  EXPECT_EQ(format("text/plain; charset=utf-8", "x"), Format::text);
  EXPECT_EQ(format("TEXT/HTML", "x"), Format::text);
  EXPECT_EQ(format("application/xml", "x"), Format::text);
  EXPECT_EQ(format("application/soap+xml ; x=y", "x"), Format::text);
  EXPECT_EQ(format("application/json", "{}"), Format::json);
  EXPECT_EQ(format("application/problem+json", "{}"), Format::json);
  EXPECT_EQ(format("application/octet-stream", "x"), Format::binary);
  EXPECT_EQ(format("", "x"), Format::binary);
  // What it says cannot be true.
  EXPECT_EQ(format("text/plain", "\xFF"), Format::binary);
  EXPECT_EQ(format("application/json", "\xC3"), Format::binary);
}

TEST(MessageCodec, ReadsBodiesOfOtherKinds) {
  proton::message message;
  message.body(std::string("a string"));
  EXPECT_EQ(received(message).body, "a string");
  EXPECT_EQ(received(message).format, Format::text);
  message.body(proton::binary("bytes"));
  EXPECT_EQ(received(message).body, "bytes");
  EXPECT_EQ(received(message).format, Format::binary);
  message.body(std::int32_t{-5});
  EXPECT_EQ(received(message).body, "-5");
  EXPECT_EQ(received(message).format, Format::json);
  const std::map<std::string, proton::value> map{{"list", std::vector<proton::value>{1, "two", 2.5, true}},
                                                 {"none", proton::value()},
                                                 {"time", proton::timestamp(0)},
                                                 {"big", std::uint64_t{18'446'744'073'709'551'615U}},
                                                 {"quote\"", "\n"}};
  message.body(map);
  EXPECT_EQ(received(message).body,
            R"({"big":"18446744073709551615","list":[1,"two",2.5,true],"none":null,"quote\"":"\n",)"
            R"("time":"1970-01-01T00:00:00.000Z"})");
  EXPECT_EQ(received(proton::message()).body, "");
}

TEST(MessageCodec, ReadsIdsOfAllKinds) {
  proton::message message;
  message.id(std::uint64_t{42});
  EXPECT_EQ(received(message).id, "42");
  message.id(proton::uuid::copy("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef"));
  EXPECT_EQ(received(message).id, "01234567-89ab-cdef-0123-456789abcdef");
  message.id(proton::binary("\xFF\x01"));
  EXPECT_EQ(received(message).id, "ff01");
  message.id(proton::binary("readable"));
  EXPECT_EQ(received(message).id, "readable");
}

TEST(MessageCodec, ReadsPropertiesOfAllKinds) {
  proton::message message;
  message.properties().put("byte", std::int8_t{-1});
  message.properties().put("unsigned", std::uint16_t{65'535});
  message.properties().put("float", 1.5F);
  message.properties().put("symbol", proton::symbol("sign"));
  message.properties().put("huge", std::uint64_t{18'446'744'073'709'551'615U});
  message.properties().put("time", proton::timestamp(1'000));
  message.message_annotations().put(proton::symbol("x-opt-list"), std::vector<int>{1, 2});
  const Message out = received(message);
  EXPECT_EQ(out.properties, (Scalars{{"byte", std::int64_t{-1}},
                                     {"unsigned", std::int64_t{65'535}},
                                     {"float", 1.5},
                                     {"symbol", "sign"},
                                     {"huge", "18446744073709551615"},
                                     {"time", "1970-01-01T00:00:01.000Z"}}));
  EXPECT_EQ(out.headers.at("x-opt-list"), Scalar("[1,2]"));
}

TEST(MessageCodec, TextThatIsNotUtf8IsHexadecimal) {
  proton::message message;
  message.id("\xFF\x01");
  message.correlation_id("\xFF\x02");
  message.reply_to("\xFF\x03");
  message.content_type("\xFF\x04");
  message.subject("\xFF\x05");
  message.properties().put("\xFF\x06", "\xFF\x07");
  message.message_annotations().put(proton::symbol("\xFF\x08"), proton::symbol("\xFF\x09"));
  message.body(std::vector<proton::value>{"\xFF\x0A"});
  const Message out = received(message);
  EXPECT_EQ(out.id, "ff01");
  EXPECT_EQ(out.correlation_id, "ff02");
  EXPECT_EQ(out.reply_to, "ff03");
  EXPECT_EQ(out.content_type, "ff04");
  EXPECT_EQ(out.headers.at("subject"), Scalar("ff05"));
  EXPECT_EQ(out.properties, (Scalars{{"ff06", "ff07"}}));
  EXPECT_EQ(out.headers.at("ff08"), Scalar("ff09"));
  EXPECT_EQ(out.body, R"(["ff0a"])");
}

TEST(MessageCodec, KeepsTheBytesOfWhatIsNoMessage) {
  using namespace std::string_literals;
  for (const std::string& bytes :
       {"hello"s, "\x00"s, "\x00\x53"s, "\x00\x53\x75"s, "\x00\x53\x75\xa0\xff"s, "\x00\x53\x70\xc0\x02\x05"s,
        "\x00\x53\x75\xb0\xff\xff\xff\xff\x00"s, "\x00\x53\x75\xa0\x01xhello"s, "\x00\x53\x77\x20"s}) {
    const Message message = decode(std::vector<char>(bytes.begin(), bytes.end()));
    EXPECT_THAT(message.fault, HasSubstr("not a message of AMQP 1.0")) << bytes;
    EXPECT_EQ(message.body, bytes);
    EXPECT_EQ(message.format, Format::binary);
  }
}

TEST(MessageCodec, NothingAtAllIsAMessageWithoutAnything) {
  const Message message = decode({});
  EXPECT_EQ(message.fault, "");
  EXPECT_EQ(message.body, "");
}

// Lists in lists: each level is three bytes.
std::vector<char> nested(std::size_t levels) {
  std::string value = "\x45";  // an empty list
  for (std::size_t i = 0; i < levels; ++i) {
    std::string outer = "\xd0";
    const auto append = [&](std::size_t number) {
      for (int shift = 24; shift >= 0; shift -= 8) outer += static_cast<char>(number >> shift & 0xFF);
    };
    append(value.size() + 4);
    append(1);
    value = outer + value;
  }
  const std::string section = std::string("\x00\x53\x77", 3) + value;
  return {section.begin(), section.end()};
}

TEST(MessageCodec, BearsValuesInValues) {
  EXPECT_EQ(decode(nested(3)).body, "[[[[]]]]");
  EXPECT_THAT(decode(nested(100)).body, HasSubstr("[[[null]]]"));
  // Whatever comes of it, it must come to an end.
  for (const std::size_t levels : {2'000, 10'000}) decode(nested(levels));
}

TEST(MessageCodec, SurvivesDamage) {
  Message message{.id = "id", .body = R"({"a":1})", .format = Format::json};
  message.headers = {{"subject", "s"}, {"x-opt-a", "b"}, {"group-id", "g"}};
  message.properties = {{"p", std::int64_t{1}}, {"q", "text"}, {"r", 1.5}};
  const auto whole = *encode(message, {});
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (const char change : {'\x00', '\x01', '\x45', '\x7F', '\x80', '\xC1', '\xD1', '\xFF'}) {
      std::vector<char> damaged = whole;
      damaged[place] = change;
      decode(damaged);
    }
    decode(std::vector<char>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(place)));
  }
}

}  // namespace
}  // namespace postino::broker
