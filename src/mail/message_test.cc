#include "mail/message.h"

#include <gmime/gmime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "mail/content_type.h"
#include "mail/encoding/transfer_encoding.h"
#include "mail/gmime.h"
#include "mail/html_images.h"

namespace postino::mail {
namespace {

using std::string_view_literals::operator""sv;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string png("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16);
constexpr std::string_view png_base64 = "iVBORw0KGgoAAAANSUhEUg==";

Message sample() {
  Message message;
  message.from = {"Postino", "postino@example.com"};
  message.to = {{"Ann Example", "ann@example.org"}};
  message.subject = "Your invoice";
  message.text = "Dear Ann,\nplease pay.\n";
  message.message_id = "0123@example.com";
  message.date = base::from_epoch_milliseconds(1'794'735'000'250);
  return message;
}

std::string built(const Message& message) {
  const auto result = build_message(message);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or("");
}

std::string message_failure(const Message& message) {
  const auto result = build_message(message);
  if (result) return "accepted";
  EXPECT_EQ(result.error().code, base::ErrorCode::invalid);
  return result.error().message;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find("\r\n"); end != std::string_view::npos; end = text.find("\r\n")) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 2);
  }
  EXPECT_EQ(text, "") << "the last line has no end";
  return lines;
}

// The value of a header as it stands in the message, unfolded; "absent" when there is none, "twice" when more.
std::string raw_header(const std::string& message, const std::string& name) {
  std::string found = "absent";
  bool inside = false;
  for (const std::string& line : lines_of(message.substr(0, message.find("\r\n\r\n") + 2))) {
    const bool continued = line.starts_with(' ');
    if (continued && inside) found += line;
    if (!continued) inside = line.starts_with(name + ":");
    if (!continued && inside) found = found == "absent" ? line.substr(std::min(line.size(), name.size() + 2)) : "twice";
  }
  return found;
}

// A message as GMime's parser reads it. The builder does not use GMime, so they can disagree.
class ReadMessage {
 public:
  explicit ReadMessage(const std::string& bytes) {
    start_gmime();
    const Owned<GMimeStream> stream(g_mime_stream_mem_new_with_buffer(bytes.data(), bytes.size()));
    const Owned<GMimeParser> parser(g_mime_parser_new_with_stream(stream.get()));
    message_.reset(g_mime_parser_construct_message(parser.get(), nullptr));
  }

  std::string header(const char* name) { return g_mime_object_get_header(GMIME_OBJECT(message_.get()), name); }
  // "name|address" of every one.
  std::vector<std::string> people(GMimeAddressType type) {
    std::vector<std::string> result;
    InternetAddressList* list = g_mime_message_get_addresses(message_.get(), type);
    for (int i = 0; i < internet_address_list_length(list); ++i) {
      InternetAddress* one = internet_address_list_get_address(list, i);
      const char* name = internet_address_get_name(one);
      result.push_back(std::string(name == nullptr ? "" : name) + "|" +
                       internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(one)));
    }
    return result;
  }
  // The tree of types, for example "multipart/mixed(text/plain application/pdf)".
  std::string shape() { return shape(root()); }
  // By the way to it: {0, 1} is the second child of the first one.
  GMimeObject* part(std::initializer_list<int> way) {
    GMimeObject* at = root();
    for (const int child : way) at = g_mime_multipart_get_part(GMIME_MULTIPART(at), child);
    return at;
  }
  std::string content(std::initializer_list<int> way) {
    const Owned<GMimeStream> stream(g_mime_stream_mem_new());
    g_mime_data_wrapper_write_to_stream(g_mime_part_get_content(GMIME_PART(part(way))), stream.get());
    const GByteArray* bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream.get()));
    return std::string(reinterpret_cast<const char*>(bytes->data), bytes->len);
  }
  std::string file_name(std::initializer_list<int> way) { return g_mime_part_get_filename(GMIME_PART(part(way))); }
  std::string disposition(std::initializer_list<int> way) {
    return g_mime_content_disposition_get_disposition(g_mime_object_get_content_disposition(part(way)));
  }
  std::string parameter(std::initializer_list<int> way, const char* name) {
    const char* value = g_mime_object_get_content_type_parameter(part(way), name);
    return value == nullptr ? "absent" : value;
  }

 private:
  GMimeObject* root() { return g_mime_message_get_mime_part(message_.get()); }
  static std::string shape(GMimeObject* part) {
    GMimeContentType* type = g_mime_object_get_content_type(part);
    std::string result =
        std::string(g_mime_content_type_get_media_type(type)) + "/" + g_mime_content_type_get_media_subtype(type);
    if (!GMIME_IS_MULTIPART(part)) return result;
    std::string separator = "(";
    for (int i = 0; i < g_mime_multipart_get_count(GMIME_MULTIPART(part)); ++i, separator = " ")
      result += separator + shape(g_mime_multipart_get_part(GMIME_MULTIPART(part), i));
    return result + ")";
  }

  Owned<GMimeMessage> message_;
};

// What must hold for every message whatever is in it.
void expect_sound(const std::string& message) {
  for (const std::string& line : lines_of(message)) {
    EXPECT_LE(line.size(), 998U);
    EXPECT_TRUE(is_ascii(line)) << line;
    EXPECT_EQ(line.find_first_of("\r\n\0"sv), std::string::npos) << line;
  }
}

TEST(BuildMessage, APlainTextIsOnePart) {
  EXPECT_EQ(built(sample()),
            "Date: Sun, 15 Nov 2026 09:30:00 +0000\r\n"
            "From: Postino <postino@example.com>\r\n"
            "To: Ann Example <ann@example.org>\r\n"
            "Message-ID: <0123@example.com>\r\n"
            "Subject: Your invoice\r\n"
            "MIME-Version: 1.0\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Transfer-Encoding: quoted-printable\r\n"
            "\r\n"
            "Dear Ann,\r\n"
            "please pay.\r\n");
}

TEST(BuildMessage, TextAndHtmlAreAlternatives) {
  Message message = sample();
  message.html = "<p>Grüße = 1</p>";
  ReadMessage read(built(message));
  EXPECT_EQ(read.shape(), "multipart/alternative(text/plain text/html)");
  EXPECT_EQ(read.content({0}), "Dear Ann,\r\nplease pay.\r\n");
  EXPECT_EQ(read.content({1}), "<p>Grüße = 1</p>");
  EXPECT_EQ(read.parameter({1}, "charset"), "utf-8");

  message.text.clear();
  EXPECT_EQ(ReadMessage(built(message)).shape(), "text/html");
}

TEST(BuildMessage, AttachmentsStandBesideTheContent) {
  Message message = sample();
  std::string all_bytes;
  for (int i = 0; i < 1000; ++i) all_bytes.push_back(static_cast<char>(i));
  message.attachments = {{"data.bin", "", all_bytes}, {"empty.txt", "", ""}};
  ReadMessage read(built(message));
  EXPECT_EQ(read.shape(), "multipart/mixed(text/plain application/octet-stream text/plain)");
  EXPECT_EQ(read.content({1}), all_bytes);
  EXPECT_EQ(read.content({2}), "");
  EXPECT_EQ(read.file_name({1}), "data.bin");
  EXPECT_EQ(read.disposition({1}), "attachment");

  message.html = "<p>x</p>";
  EXPECT_EQ(ReadMessage(built(message)).shape(),
            "multipart/mixed(multipart/alternative(text/plain text/html) application/octet-stream text/plain)");
}

TEST(BuildMessage, ImagesOfTheHtmlAreRelatedToIt) {
  Message message = sample();
  message.html = "<img src=\"data:image/png;base64," + std::string(png_base64) + "\">";
  message.attachments = {{"a.pdf", "", "%PDF-1.7"}};
  ReadMessage read(built(message));
  EXPECT_EQ(
      read.shape(),
      "multipart/mixed(multipart/alternative(text/plain multipart/related(text/html image/png)) application/pdf)");
  EXPECT_EQ(read.content({0, 1, 1}), png);
  const std::string id = g_mime_object_get_content_id(read.part({0, 1, 1}));
  EXPECT_EQ(read.content({0, 1, 0}), "<img src=\"cid:" + id + "\">");
  EXPECT_EQ(read.disposition({0, 1, 1}), "inline");
  EXPECT_EQ(read.parameter({0, 1}, "type"), "text/html");

  message.text.clear();
  message.attachments.clear();
  EXPECT_EQ(ReadMessage(built(message)).shape(), "multipart/related(text/html image/png)");
}

TEST(BuildMessage, EqualMessagesGiveEqualBytes) {
  Message message = sample();
  message.html = "<img src='data:image/png;base64," + std::string(png_base64) + "'>";
  message.attachments = {{"a.pdf", "", "%PDF-1.7"}};
  EXPECT_EQ(built(message), built(message));
  Message other = message;
  other.message_id = "0124@example.com";
  EXPECT_NE(ReadMessage(built(message)).parameter({}, "boundary"), ReadMessage(built(other)).parameter({}, "boundary"));
}

TEST(BuildMessage, ABoundaryInTheTextIsNoBoundary) {
  Message message = sample();
  message.html = "<p>x</p>";
  const std::string boundary = ReadMessage(built(message)).parameter({}, "boundary");
  message.text = "--" + boundary + "--\n";
  message.attachments = {};
  ReadMessage read(built(message));
  EXPECT_EQ(read.shape(), "multipart/alternative(text/plain text/html)");
  EXPECT_EQ(read.content({0}), "--" + boundary + "--\r\n");
}

TEST(BuildMessage, WritesPeopleSoThatTheyAreReadTheSame) {
  Message message = sample();
  message.from = {"Zoë \"Z\" Müller, Sales", "zoe@bücher.example"};
  message.to.clear();
  for (int i = 0; i < 40; ++i)
    message.to.push_back({"Person Number " + std::to_string(i), "p" + std::to_string(i) + "@example.org"});
  message.cc = {{"", "plain@example.org"},
                {"O'Brien, Pat (Sales) <x>", "pat@example.org"},
                {"back\\slash \"quote\"", "b@example.org"},
                {"=?utf-8?q?spoof?=", "s@example.org"},
                {"日本語の名前がとても長いのでいくつかの単語に分けなければならない", "\"a b\"@example.org"}};
  const std::string bytes = built(message);
  expect_sound(bytes);
  ReadMessage read(bytes);
  EXPECT_THAT(read.people(GMIME_ADDRESS_TYPE_FROM), ElementsAre("Zoë \"Z\" Müller, Sales|zoe@bücher.example"));
  EXPECT_THAT(raw_header(bytes, "From"), HasSubstr(" <zoe@xn--bcher-kva.example>"));
  const auto to = read.people(GMIME_ADDRESS_TYPE_TO);
  ASSERT_EQ(to.size(), 40U);
  EXPECT_EQ(to[39], "Person Number 39|p39@example.org");
  EXPECT_THAT(read.people(GMIME_ADDRESS_TYPE_CC),
              ElementsAre("|plain@example.org", "O'Brien, Pat (Sales) <x>|pat@example.org",
                          "back\\slash \"quote\"|b@example.org", "=?utf-8?q?spoof?=|s@example.org",
                          "日本語の名前がとても長いのでいくつかの単語に分けなければならない|\"a b\"@example.org"));
}

TEST(BuildMessage, ReplyToIsLeftOutWhenItIsTheSender) {
  Message message = sample();
  message.reply_to = message.from;
  EXPECT_EQ(raw_header(built(message), "Reply-To"), "absent");
  message.reply_to = Mailbox{"Desk", "desk@example.com"};
  EXPECT_EQ(raw_header(built(message), "Reply-To"), "Desk <desk@example.com>");
}

TEST(BuildMessage, WithoutVisibleRecipientsToIsAnEmptyGroup) {
  Message message = sample();
  message.to.clear();
  EXPECT_EQ(raw_header(built(message), "To"), "undisclosed-recipients:;");
  message.cc = {{"", "c@example.org"}};
  EXPECT_EQ(raw_header(built(message), "To"), "absent");
}

TEST(BuildMessage, SubjectsOfAllKindsAreReadTheSame) {
  std::string many_words;
  while (many_words.size() < 1500) many_words += many_words.empty() ? "word" : "  words";
  std::string emoji;
  while (emoji.size() < 800) emoji += "😀é ";
  emoji += "end";
  for (const std::string& subject : {std::string("short"), many_words, emoji, std::string(2000, 'x'),
                                     std::string("Grüße"), std::string("=?utf-8?q?a?="), std::string("a = b ? c _ d"),
                                     std::string("日本語の件名"), std::string("x") + std::string(1200, ' ') + "y"}) {
    Message message = sample();
    message.subject = subject;
    const std::string bytes = built(message);
    expect_sound(bytes);
    EXPECT_EQ(ReadMessage(bytes).header("Subject"), subject);
  }
  Message message = sample();
  message.subject = "";
  EXPECT_EQ(raw_header(built(message), "Subject"), "");
}

TEST(BuildMessage, EncodedWordsKeepTheirLimits) {
  start_gmime();
  Message message = sample();
  for (int i = 0; i < 60; ++i) message.subject += i % 2 == 0 ? "日本" : "😀x";
  message.headers = {{"X-A-Header-With-A-Name-That-Leaves-Hardly-Any-Room-For-The-First-Word", "日本語"}};
  const std::string bytes = built(message);
  int words = 0;
  for (const std::string& line : lines_of(bytes.substr(0, bytes.find("\r\n\r\n") + 2))) {
    EXPECT_LE(line.size(), 76U) << line;
    const std::size_t begin = line.find("=?");
    if (begin == std::string::npos) continue;
    ++words;
    const std::string word = line.substr(begin);
    EXPECT_LE(word.size(), 75U) << word;
    char* decoded = g_mime_utils_header_decode_text(nullptr, word.c_str());
    EXPECT_TRUE(g_utf8_validate(decoded, -1, nullptr)) << "whole characters in each word: " << word;
    EXPECT_THAT(decoded, Not(HasSubstr("\uFFFD")));
    g_free(decoded);
  }
  EXPECT_GT(words, 5);
}

TEST(BuildMessage, LinesAreFoldedWhereTheyCanBe) {
  Message message = sample();
  const std::string word(60, 'w');
  message.headers = {{"X-Words", word + " " + word + "\t" + word}, {"X-Long", "a " + std::string(997, 'l')}};
  const std::string bytes = built(message);
  EXPECT_THAT(bytes, HasSubstr("X-Words: " + word + "\r\n " + word + "\r\n\t" + word + "\r\n"));
  EXPECT_THAT(bytes, HasSubstr("X-Long: a\r\n " + std::string(997, 'l') + "\r\n"));
  expect_sound(bytes);
  message.headers = {{"X-Long", std::string(997, 'l')}};
  EXPECT_THAT(built(message), HasSubstr("X-Long:\r\n " + std::string(997, 'l') + "\r\n"));
}

TEST(BuildMessage, FurtherHeadersAreEncodedToo) {
  Message message = sample();
  message.headers = {{"X-Campaign", "März 2026"}, {"In-Reply-To", "<1@example.org>"}, {"X-Campaign", "second"}};
  const std::string bytes = built(message);
  EXPECT_EQ(ReadMessage(bytes).header("X-Campaign"), "März 2026");
  EXPECT_EQ(raw_header(bytes, "In-Reply-To"), "<1@example.org>");
  EXPECT_EQ(raw_header(bytes, "X-Campaign"), "twice");
}

TEST(BuildMessage, OneClickNeedsAnHttpsUrl) {
  Message message = sample();
  message.list_unsubscribe = ListUnsubscribe{"https://example.com/u?a=1&b=2", "u+x@example.com"};
  std::string bytes = built(message);
  EXPECT_EQ(raw_header(bytes, "List-Unsubscribe"), "<https://example.com/u?a=1&b=2>, <mailto:u+x@example.com>");
  EXPECT_EQ(raw_header(bytes, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");

  message.list_unsubscribe = ListUnsubscribe{"", "\"a?b\"@example.com"};
  bytes = built(message);
  EXPECT_EQ(raw_header(bytes, "List-Unsubscribe"), "<mailto:%22a%3Fb%22@example.com>");
  EXPECT_EQ(raw_header(bytes, "List-Unsubscribe-Post"), "absent");

  for (const std::string url :
       {"http://example.com/u", "https://", "https://a b", "https://a>b", "https://ü.example", "https://a\r\nBcc:x"}) {
    message.list_unsubscribe = ListUnsubscribe{url, ""};
    EXPECT_EQ(message_failure(message), "list_unsubscribe must have an https URL in ASCII of at most 900 bytes") << url;
  }
  message.list_unsubscribe = ListUnsubscribe{};
  EXPECT_EQ(message_failure(message), "list_unsubscribe must have a url or a mailto");
  message.list_unsubscribe = ListUnsubscribe{"", "nobody"};
  EXPECT_EQ(message_failure(message), "list_unsubscribe mailto must have an @");
}

TEST(BuildMessage, AttachmentNamesAreReadTheSame) {
  const std::string names[] = {"plain.pdf",
                               "with space.pdf",
                               "semi;colon=1.pdf",
                               "quote\".pdf",
                               "percent%20.pdf",
                               "Rechnung März.pdf",
                               "日本語の添付ファイルの名前はとても長いので何行にもなる.pdf",
                               "=?utf-8?q?x?=.pdf",
                               std::string(251, 'n') + ".pdf",
                               "it's*.pdf",
                               "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀.pdf"};
  Message message = sample();
  for (const std::string& name : names) message.attachments.push_back({name, "", "%PDF-1.7"});
  const std::string bytes = built(message);
  expect_sound(bytes);
  ReadMessage read(bytes);
  for (int i = 0; i < static_cast<int>(std::size(names)); ++i) {
    EXPECT_EQ(read.file_name({i + 1}), names[i]);
    // GMime decodes this one before it looks at quotes, and as often as it can.
    if (names[i].find_first_of("\"?") == std::string::npos) {
      EXPECT_EQ(read.parameter({i + 1}, "name"), names[i]);
    }
  }
  EXPECT_THAT(bytes, HasSubstr("filename*=utf-8''Rechnung%20M%C3%A4rz.pdf"));
  EXPECT_THAT(bytes, HasSubstr("filename=\"with space.pdf\""));
}

TEST(BuildMessage, TheTypeOfAnAttachmentCanBeGiven) {
  Message message = sample();
  message.attachments = {{"invite.ics", "Text/Calendar; method=REQUEST; charset=\"utf-8\"", "BEGIN:VCALENDAR\r\n"},
                         {"x.csv", "", "a;ü\n"},
                         {"latin.csv", "", "a;\xFC\n"}};
  const std::string bytes = built(message);
  ReadMessage read(bytes);
  EXPECT_EQ(read.shape(), "multipart/mixed(text/plain text/calendar text/csv text/csv)");
  EXPECT_EQ(read.parameter({1}, "method"), "REQUEST");
  EXPECT_EQ(read.content({1}), "BEGIN:VCALENDAR\r\n");
  EXPECT_EQ(read.parameter({2}, "charset"), "utf-8");
  EXPECT_EQ(read.parameter({3}, "charset"), "absent") << "the charset is unknown";
  EXPECT_EQ(read.content({3}), "a;\xFC\n") << "as it is";

  for (const auto& [type, rule] : std::initializer_list<std::pair<std::string, std::string>>{
           {"pdf", "must be of the form type/subtype"},
           {"a/b/c", "must be of the form type/subtype"},
           {"/b", "must be of the form type/subtype"},
           {"a/", "must be of the form type/subtype"},
           {"a/" + std::string(128, 'b'), "must have at most 127 bytes on each side of the slash"},
           {std::string(128, 'a') + "/b", "must have at most 127 bytes on each side of the slash"},
           {"text/plain\r\nX: y", "must not contain line ends or other control characters"},
           {"text/plain; charset", "must have parameters of the form name=value"},
           {"text/plain; charset=ü", "must have parameters of plain ASCII words"},
           {"text/plain; charset=\"a\"b\"", "must have parameters of plain ASCII words"},
           {"text/plain; name=x.exe", "must not have the parameter name"},
           {"text/plain; a=1; A=2", "must not have a parameter twice"},
           {"multipart/mixed; boundary=x", "must not be multipart or message"},
           {"message/rfc822", "must not be multipart or message"}}) {
    message.attachments = {{"x.txt", type, "x"}};
    EXPECT_EQ(message_failure(message), "attachments[0].content_type " + rule) << type;
  }
}

TEST(BuildMessage, NothingTheCallerWritesEndsALine) {
  using Change = void (*)(Message&, const std::string&);
  const std::pair<std::string, Change> changes[] = {
      {"from", [](Message& m, const std::string& bad) { m.from.name = bad; }},
      {"from", [](Message& m, const std::string& bad) { m.from.address = "a" + bad + "@example.com"; }},
      {"reply_to",
       [](Message& m, const std::string& bad) {
         m.reply_to = Mailbox{bad, "a@example.com"};
       }},
      {"to[1]",
       [](Message& m, const std::string& bad) {
         m.to.push_back({bad, "a@example.com"});
       }},
      {"cc[0]",
       [](Message& m, const std::string& bad) {
         m.cc.push_back({"", "a@example.com" + bad});
       }},
      {"subject", [](Message& m, const std::string& bad) { m.subject = bad; }},
      {"a header",
       [](Message& m, const std::string& bad) {
         m.headers = {{"X-A", bad}};
       }},
      {"a header",
       [](Message& m, const std::string& bad) {
         m.headers = {{"X-A" + bad, "v"}};
       }},
      {"attachments[0].name",
       [](Message& m, const std::string& bad) {
         m.attachments = {{bad, "", ""}};
       }},
      {"attachments[0].content_type",
       [](Message& m, const std::string& bad) {
         m.attachments = {{"a", "a/b" + bad, ""}};
       }},
      {"message_id", [](Message& m, const std::string& bad) { m.message_id = "a" + bad + "@example.com"; }},
      {"list_unsubscribe",
       [](Message& m, const std::string& bad) {
         m.list_unsubscribe = {{"", "a" + bad + "@b"}};
       }},
  };
  for (const std::string& bad :
       {std::string("x\r\nBcc: eve@example.com"), std::string("x\ny"), std::string("x\ry"), std::string("x\0y", 3),
        std::string("x\x1By"), std::string("x\x7Fy"), std::string("x\xC2\x85y"), std::string("x\xFFy")})
    for (const auto& [field, change] : changes) {
      Message message = sample();
      change(message, bad);
      EXPECT_THAT(message_failure(message), StartsWith(field + " "));
    }
  Message message = sample();
  message.subject = message.headers.emplace_back("X-Tab", "a\tb").second;
  expect_sound(built(message));
}

TEST(BuildMessage, ALocalPartBeyondAsciiStaysAsItIs) {
  Message message = sample();
  message.to[0] = {"Zoë", "zoë@bücher.example"};
  message.list_unsubscribe = {"", "zoë@example.com"};
  const auto text = build_message(message);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, testing::HasSubstr("<zoë@bücher.example>"));
  EXPECT_THAT(*text, testing::HasSubstr("<mailto:zo%C3%AB@example.com>")) << "a URL is ASCII";
}

TEST(BuildMessage, SaysWhatIsMissingOrWrong) {
  const auto after = [](auto change) {
    Message message = sample();
    change(message);
    return message_failure(message);
  };
  EXPECT_EQ(after([](Message& m) { m.text.clear(); }), "text or html must not be empty");
  EXPECT_EQ(after([](Message& m) { m.text = "\xFF"; }), "text must be UTF-8 without NUL");
  EXPECT_EQ(after([](Message& m) { m.html = std::string(1, '\0'); }), "html must be UTF-8 without NUL");
  EXPECT_EQ(after([](Message& m) { m.from.address = ""; }), "from must have an address");
  EXPECT_EQ(after([](Message& m) { m.to[0].address = "a b"; }), "to[0] must have an @");
  EXPECT_EQ(after([](Message& m) { m.html = "<img src='data:image/png;base64,A'>"; }),
            "html must have valid base64 in the data: URL of an image");
  for (const std::string id : {"", "a", "@b", "a@", "a@b@c", "<a@b>", "a b@c", "ä@b"})
    EXPECT_THAT(after([&](Message& m) { m.message_id = id; }), StartsWith("message_id must be of the form")) << id;
  for (const std::string name : {"..", ".", "a/b", "../../etc/passwd", "c:\\x"})
    EXPECT_EQ(after([&](Message& m) { m.attachments = {{name, "", "x"}}; }), "attachments[0].name must not be a path");
  for (const std::string& name : {std::string(), std::string(256, 'x')})
    EXPECT_EQ(after([&](Message& m) {
                m.attachments = {{name, "", "x"}};
              }),
              "attachments[0].name must have 1 to 255 bytes");
}

TEST(BuildMessageConcurrent, ManyThreadsBuildTheSame) {
  Message message = sample();
  message.from.address = "zoe@bücher.example";
  message.html = "<p>Grüße</p>";
  const std::string expected = built(message);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) EXPECT_EQ(build_message(message).value(), expected);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(CheckHeader, TakesThoseThatAreTheCallers) {
  for (const std::string name :
       {"X-Campaign", "In-Reply-To", "References", "List-Id", "Auto-Submitted", "Precedence", "x"})
    EXPECT_TRUE(check_header(name, "value")) << name;
  EXPECT_TRUE(check_header("X-Empty", ""));
  EXPECT_TRUE(check_header(std::string(76, 'x'), "Grüße\tund mehr"));
}

TEST(CheckHeader, RefusesThoseOfTheMessageAndItsWay) {
  for (const std::string name : {"From",
                                 "SENDER",
                                 "to",
                                 "Cc",
                                 "bcc",
                                 "Reply-To",
                                 "Subject",
                                 "Date",
                                 "Message-Id",
                                 "MIME-Version",
                                 "Content-Type",
                                 "content-anything",
                                 "Received",
                                 "Return-Path",
                                 "DKIM-Signature",
                                 "Resent-From",
                                 "List-Unsubscribe",
                                 "List-Unsubscribe-Post",
                                 "ARC-Seal",
                                 "Authentication-Results",
                                 "Delivered-To"})
    EXPECT_EQ(check_header(name, "x").error().message, "must not be " + name + ", which Postino writes itself");
}

TEST(CheckHeader, RefusesBrokenNamesAndValues) {
  for (const std::string& name : {std::string(), std::string(77, 'x'), std::string("a b"), std::string("a:"),
                                  std::string("ä"), std::string("a\r\nb"), std::string("a\0", 2)})
    EXPECT_EQ(check_header(name, "x").error().message,
              "must have a name of 1 to 76 printable ASCII characters other than space and colon");
  for (const std::string value : {"a\r\nBcc: x", "a\n b", "a\r", "a\x01"})
    EXPECT_EQ(check_header("X", value).error().message, "must not contain line ends or other control characters");
  EXPECT_EQ(check_header("X", "\xC3").error().message, "must be UTF-8");
  EXPECT_TRUE(check_header("X", std::string(997, 'x')));
  EXPECT_THAT(check_header("X", std::string(998, 'x')).error().message, HasSubstr("no line may be longer than 998"));
  EXPECT_TRUE(check_header("X", "ü" + std::string(998, 'x'))) << "encoded in pieces";
  EXPECT_THAT(check_header("X", std::string(10'001, ' ')).error().message, HasSubstr("at most 10,000 bytes"));
}

std::string quoted_printable(std::string_view text) {
  std::string out;
  append_quoted_printable(out, text);
  return out;
}

TEST(QuotedPrintable, FollowsTheStandard) {
  EXPECT_EQ(quoted_printable(""), "");
  EXPECT_EQ(quoted_printable("a=b\tc é"), "a=3Db\tc =C3=A9");
  EXPECT_EQ(quoted_printable("a\nb\r\nc\rd\n\r\n"), "a\r\nb\r\nc\r\nd\r\n\r\n");
  EXPECT_EQ(quoted_printable("end \nend\t\nend "), "end=20\r\nend=09\r\nend=20");
  EXPECT_EQ(quoted_printable(" \n"), "=20\r\n");
  EXPECT_EQ(quoted_printable("From me\nFrom\n"), "=46rom me\r\nFrom\r\n");
  EXPECT_EQ(quoted_printable("\x01\x7F"), "=01=7F");
}

TEST(QuotedPrintable, NoLineHasMoreThan76Bytes) {
  EXPECT_EQ(quoted_printable(std::string(75, 'x')), std::string(75, 'x'));
  EXPECT_EQ(quoted_printable(std::string(80, 'x')), std::string(75, 'x') + "=\r\n" + std::string(5, 'x'));
  for (std::size_t before = 60; before < 90; ++before)
    for (const std::string_view after : {"é", "= ", "  ", "From ", "é é é"}) {
      const std::string text = std::string(before, 'x') + std::string(after);
      std::string joined;
      for (const std::string& line : lines_of(quoted_printable(text) + "\r\n")) {
        EXPECT_LE(line.size(), 76U);
        joined += line.ends_with('=') ? line.substr(0, line.size() - 1) : line;
      }
      EXPECT_TRUE(joined.starts_with(std::string(before, 'x')));
    }
}

TEST(Base64Lines, Have76Columns) {
  std::string out;
  append_base64_lines(out, std::string(57, '\0'));
  EXPECT_EQ(out, std::string(76, 'A'));
  append_base64_lines(out, "");
  EXPECT_EQ(out, std::string(76, 'A'));
  append_base64_lines(out = "", std::string(58, '\0'));
  EXPECT_EQ(out, std::string(76, 'A') + "\r\nAA==");
}

TEST(DetectContentType, LooksAtTheBytesFirst) {
  EXPECT_EQ(detect_content_type(png, "wrong.txt"), "image/png");
  EXPECT_EQ(detect_content_type("\xFF\xD8\xFF\xE0", ""), "image/jpeg");
  EXPECT_EQ(detect_content_type("GIF89a", ""), "image/gif");
  EXPECT_EQ(detect_content_type("RIFF\x01\x02\x03\x04WEBPVP8 ", ""), "image/webp");
  EXPECT_EQ(detect_content_type("RIFX\x01\x02\x03\x04WEBPVP8 ", ""), "application/octet-stream");
  EXPECT_EQ(detect_content_type("%PDF-1.7", "invoice"), "application/pdf");
  EXPECT_EQ(detect_content_type("PK\x03\x04", "x.dat"), "application/zip");
  EXPECT_EQ(detect_content_type("\x1F\x8B\x08", "log.txt"), "application/gzip");
}

TEST(DetectContentType, KnowsWhatIsMadeOfZip) {
  EXPECT_EQ(detect_content_type("PK\x03\x04", "a.xlsx"),
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
  EXPECT_EQ(detect_content_type("PK\x03\x04", "a.docx"),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document");
  EXPECT_EQ(detect_content_type("PK\x03\x04", "a.pdf"), "application/zip");
  EXPECT_EQ(detect_content_type("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a.DOC"), "application/msword");
  EXPECT_EQ(detect_content_type("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a"), "application/octet-stream");
}

TEST(DetectContentType, ThenAtTheName) {
  EXPECT_EQ(detect_content_type("a,b", "x.CSV"), "text/csv");
  EXPECT_EQ(detect_content_type("x", "notes.v2.txt"), "text/plain");
  EXPECT_EQ(detect_content_type("{}", "x.json"), "application/json");
  EXPECT_EQ(detect_content_type("BEGIN", "x.ics"), "text/calendar");
  EXPECT_EQ(detect_content_type("x", "txt"), "application/octet-stream");
  EXPECT_EQ(detect_content_type("x", "x.unknown"), "application/octet-stream");
  EXPECT_EQ(detect_content_type("", ""), "application/octet-stream");
}

HtmlWithImages extracted(std::string_view html) {
  auto result = extract_images(html, [](std::size_t number) { return "id" + std::to_string(number); });
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(HtmlWithImages{});
}

TEST(HtmlImages, BecomePartsInEveryWayOfWritingThem) {
  const std::string url = "data:image/png;base64," + std::string(png_base64);
  for (const auto& [before, after] : std::initializer_list<std::pair<std::string, std::string>>{
           {"<img src=\"" + url + "\">", "<img src=\"cid:id0\">"},
           {"<IMG\n  alt='a > b' SRC = '" + url + "' />", "<IMG\n  alt='a > b' SRC = 'cid:id0' />"},
           {"<img src=" + url + ">", "<img src=cid:id0>"},
           {"<img/src=\" " + url + " \">", "<img/src=\"cid:id0\">"},
           {"<p>a<b</p><img width=1 src=\"" + url + "\"><p>end", "<p>a<b</p><img width=1 src=\"cid:id0\"><p>end"},
           {"<img src=\"DATA:image/PNG;name=x;BASE64,iVBORw0K%0AGgoAAAANSUhEUg\">", "<img src=\"cid:id0\">"}}) {
    const HtmlWithImages result = extracted(before);
    EXPECT_EQ(result.html, after);
    ASSERT_EQ(result.images.size(), 1U) << before;
    EXPECT_EQ(result.images[0].content_type, "image/png");
    EXPECT_EQ(result.images[0].bytes, png);
  }
}

TEST(HtmlImages, TheSameImageIsThereOnce) {
  const std::string one = "<img src='data:image/png;base64," + std::string(png_base64) + "'>";
  const HtmlWithImages result = extracted(one + "<img src='data:image/gif;base64,R0lG'>" + one);
  EXPECT_EQ(result.html, "<img src='cid:id0'><img src='cid:id1'><img src='cid:id0'>");
  EXPECT_EQ(result.images.size(), 2U);
}

TEST(HtmlImages, PlainDataIsTakenAsItIs) {
  const HtmlWithImages result = extracted("<img src=\"data:image/svg+xml,%3Csvg/%3E%zz\">");
  ASSERT_EQ(result.images.size(), 1U);
  EXPECT_EQ(result.images[0].content_type, "image/svg+xml");
  EXPECT_EQ(result.images[0].bytes, "<svg/>%zz");
}

TEST(HtmlImages, EverythingElseStays) {
  for (const std::string_view html :
       {"", "plain", "<img>", "<img src>", "<img src=", "<img src='unclosed", "<img", "<", "<img =x =", "a < b > c",
        "<img src=\"https://example.com/a.png\">", "<img src=\"cid:own@example.com\">",
        "<imgx src=\"data:image/png;base64,AAAA\">", "<a href=\"data:image/png;base64,AAAA\">",
        "<img alt=\"data:image/png;base64,AAAA\">", "<img src=\"data:text/plain,hello\">",
        "data:image/png;base64,AAAA"}) {
    const HtmlWithImages result = extracted(html);
    EXPECT_EQ(result.html, html);
    EXPECT_TRUE(result.images.empty());
  }
}

TEST(HtmlImages, BrokenOnesAreRefused) {
  const auto rule = [](std::string_view url) {
    const auto result = extract_images("<img src=\"" + std::string(url) + "\">", [](std::size_t) { return "id"; });
    return result ? "accepted" : result.error().message;
  };
  EXPECT_EQ(rule("data:image/png;base64"), "must have a comma in the data: URL of an image");
  for (const std::string_view data : {"A", "AAAA*AAA", "AA=A", "AAAAA", "AA==="})
    EXPECT_EQ(rule("data:image/png;base64," + std::string(data)), "must have valid base64 in the data: URL of an image")
        << data;
  EXPECT_EQ(rule("data:image/,x"), "must be of the form type/subtype");
}

}  // namespace
}  // namespace postino::mail
