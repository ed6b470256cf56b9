#include "mail/readable_text.h"

#include <gtest/gtest.h>

namespace postino::mail {
namespace {

std::string part(const std::string& head, const std::string& body, const std::string& boundary = "b") {
  return "--" + boundary + "\r\n" + head + "\r\n" + body + "\r\n";
}

std::string multipart(const std::string& kind, const std::string& parts, const std::string& boundary = "b") {
  return "Content-Type: multipart/" + kind + "; boundary=" + boundary + "\r\n\r\n" + parts + "--" + boundary + "--\r\n";
}

TEST(ReadableText, IsDecoded) {
  EXPECT_EQ(readable_text("From: a@example.com\r\n\r\nIt works.\r\n"), "It works.");
  EXPECT_EQ(
      readable_text("Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n"
                    "Es ist gr=FCn und=\n geht =3D gut.\n"),
      "Es ist grün und geht = gut.");
  EXPECT_EQ(readable_text("Content-Type: text/plain; charset=\"utf-8\"\r\nContent-Transfer-Encoding: BASE64\r\n\r\n"
                          "RXMgaXN0IGdy\r\nw7xuLg==\r\n"),
            "Es ist grün.");
  EXPECT_EQ(readable_text("Content-Type: text/plain\r\n\r\nEs ist gr\xFCn."), "Es ist grün.");
}

TEST(ReadableText, IsThePlainTextOfAlternatives) {
  const std::string html = part("Content-Type: text/html\r\n", "<p>It <b>works</b>.</p>");
  const std::string plain = part("Content-Type: text/plain\r\n", "It works.");
  EXPECT_EQ(readable_text(multipart("alternative", plain + html)), "It works.");
  EXPECT_EQ(readable_text(multipart("alternative", html + plain)), "It works.");
  EXPECT_EQ(readable_text(multipart("alternative", html)), "It works.");
  EXPECT_EQ(readable_text("Content-Type: text/html; charset=utf-8\r\n\r\n<p>Gr&uuml;n</p>"), "Grün");
}

TEST(ReadableText, LeavesAttachmentsOut) {
  const std::string log =
      part("Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n", "log");
  const std::string inner = part(
      multipart("alternative", part("", "It works.", "c") + part("Content-Type: text/html\r\n", "<p>No", "c"), "c"),
      "");
  EXPECT_EQ(readable_text(multipart("mixed", log + inner)), "It works.");
  EXPECT_EQ(readable_text(multipart("mixed", log)), "");
  EXPECT_EQ(readable_text("Content-Type: image/png\r\n\r\nPNG"), "");
  // What comes behind the text, such as the footer of a list, is not the text.
  EXPECT_EQ(readable_text(multipart("mixed", part("Content-Type: text/html\r\n", "<p>It works.") + part("", "footer"))),
            "It works.");
}

TEST(ReadableText, OfBrokenMessagesIsBounded) {
  EXPECT_EQ(readable_text(""), "");
  EXPECT_EQ(readable_text("Content-Type: multipart/mixed; boundary=x\r\n\r\nIt works."), "It works.");
  EXPECT_EQ(readable_text("Content-Type: multipart/mixed\r\n\r\nIt works."), "It works.");
  EXPECT_EQ(readable_text("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nIt was cut"), "It was cut");
  std::string nested = "text";
  for (int depth = 0; depth < 200; ++depth) {
    const std::string boundary = "n" + std::to_string(depth);
    nested = multipart("mixed", part("", "", boundary).substr(0, boundary.size() + 4) + nested + "\r\n", boundary);
  }
  EXPECT_EQ(readable_text(nested), "");
}

}  // namespace
}  // namespace postino::mail
