#include "support/record/attachment_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::support {
namespace {

using testing::HasSubstr;

const std::string png = std::string("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16);
const std::string jpeg = std::string("\xFF\xD8\xFF\xE0\0\x10JFIF\0", 11);
const std::string zip = std::string("PK\x03\x04\x14\0\0\0", 8);
const std::string old_document = std::string("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0\0\0", 12);
const std::string random_bytes = std::string("\x01\x02\0\x03\xFE\x80", 6);
const std::string docx_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

std::string decide(const std::string& bytes, const std::string& name, const std::string& claimed) {
  const auto type = decide_content_type(bytes, name, claimed);
  return type ? *type : type.error().message;
}

TEST(AttachmentTypeTest, IsToldFromTheBytes) {
  EXPECT_EQ(sniff_content_type(png), "image/png");
  EXPECT_EQ(sniff_content_type(zip), "application/zip");
  EXPECT_EQ(sniff_content_type("plain text\n"), "text/plain");
  EXPECT_EQ(sniff_content_type("\x1B[31mred\x1B[0m\r\n"), "text/plain");
  EXPECT_EQ(sniff_content_type("caf\xE9"), "text/plain") << "of an older encoding";
  EXPECT_EQ(sniff_content_type(std::string("\xFF\xFE"
                                           "a\0b\0",
                                           6)),
            "text/plain")
      << "UTF-16";
  EXPECT_EQ(sniff_content_type("  <!DOCTYPE HTML><p>"), "text/html");
  EXPECT_EQ(sniff_content_type("\xEF\xBB\xBF<!-- x --><script>alert(1)</script>"), "text/html");
  EXPECT_EQ(sniff_content_type("<?xml version=\"1.0\"?>\n<svg onload='x'/>"), "image/svg+xml");
  // What elements are called does not matter to a browser.
  const std::string long_comment = "<!--" + std::string(5'000, 'x') + "-->";
  const std::string script = "<a><x:script xmlns:x=\"http://www.w3.org/1999/xhtml\">alert(1)</x:script></a>";
  for (const std::string& begin : {std::string(), std::string("<?xml version=\"1.0\"?>"), long_comment})
    EXPECT_EQ(sniff_content_type(begin + script), "text/html");
  EXPECT_EQ(sniff_content_type("<!DOCTYPE a><a><s xmlns='http://www.w3.org/2000/svg' onload='x'/></a>"),
            "image/svg+xml");
  EXPECT_EQ(sniff_content_type("<?xml version=\"1.0\"?><?xml-stylesheet href=\"x\"?><a/>"), "text/html");
  std::string wide = "\xFF\xFE";
  for (const char letter : script) wide.append(1, letter).append(1, '\0');
  EXPECT_EQ(sniff_content_type(wide), "text/html");
  EXPECT_EQ(sniff_content_type("see http://www.w3.org/2000/svg\n"), "text/plain");
  EXPECT_EQ(sniff_content_type("<?xml version=\"1.0\"?><invoice/>"), "application/xml");
  EXPECT_EQ(sniff_content_type(random_bytes), "application/octet-stream");
  EXPECT_EQ(sniff_content_type("\x7F"
                               "ELF\x02"),
            "application/x-executable");
  EXPECT_EQ(sniff_content_type("#!/bin/sh\nrm -rf /"), "application/x-executable");
  EXPECT_EQ(sniff_content_type("MZ" + std::string(100, '\0')), "application/x-executable");
  EXPECT_EQ(sniff_content_type("MZ is a text"), "text/plain");
}

TEST(AttachmentTypeTest, HonestClaimsAreTaken) {
  EXPECT_EQ(decide(png, "a.png", "image/png"), "image/png");
  EXPECT_EQ(decide(jpeg, "a.jpg", "image/jpg"), "image/jpeg");
  EXPECT_EQ(decide(png, "a.png", ""), "image/png");
  EXPECT_EQ(decide(png, "picture", "application/octet-stream"), "image/png");
  EXPECT_EQ(decide("a,b\n", "a.csv", "text/csv; charset=utf-8"), "text/csv");
  EXPECT_EQ(decide("a,b\n", "a.csv", ""), "text/csv");
  EXPECT_EQ(decide("error\n", "server.log", "text/plain"), "text/plain");
  EXPECT_EQ(decide("{}", "a.json", "application/json"), "application/json");
  EXPECT_EQ(decide(zip, "a.zip", "application/x-zip-compressed"), "application/zip");
  EXPECT_EQ(decide(zip, "a.docx", docx_type), docx_type);
  EXPECT_EQ(decide(old_document, "a.doc", "application/msword"), "application/msword");
  EXPECT_EQ(decide(random_bytes, "core.dump", ""), "application/octet-stream");
}

TEST(AttachmentTypeTest, LiesAreRefused) {
  EXPECT_THAT(decide(jpeg, "a.png", "image/png"), HasSubstr("it is image/jpeg, not image/png"));
  EXPECT_THAT(decide("text", "a.png", "image/png"), HasSubstr("it is text/plain, not image/png"));
  EXPECT_THAT(decide("text", "a.png", ""), HasSubstr("it is text/plain"));
  EXPECT_THAT(decide(random_bytes, "a.png", "image/png"), HasSubstr("not image/png"));
  EXPECT_THAT(decide(random_bytes, "a.png", ""), HasSubstr("not image/png"));
  EXPECT_THAT(decide(random_bytes, "a.txt", "text/plain"), HasSubstr("not text/plain"));
  EXPECT_THAT(decide(png, "a.txt", "text/plain"), HasSubstr("it is image/png"));
  EXPECT_THAT(decide("<script>alert(1)</script>", "a.txt", "text/plain"), HasSubstr("it is text/html"));
  EXPECT_THAT(decide("<svg onload=alert(1)>", "a.png", "image/png"), HasSubstr("it is image/svg+xml"));
  EXPECT_THAT(decide(random_bytes, "a.docx", docx_type), HasSubstr("not " + docx_type));
  EXPECT_THAT(decide(random_bytes, "a.doc", "application/msword"), HasSubstr("not application/msword"));
  EXPECT_THAT(decide(png, "a.pdf", "image/png"), HasSubstr("must fit the name: pdf is for application/pdf"));
  EXPECT_THAT(decide("#!/bin/sh\n", "a.txt", "text/plain"), HasSubstr("must not be a program"));
}

TEST(AttachmentTypeTest, OnlySomeTypesAreTaken) {
  EXPECT_THAT(decide("<html>", "page", "text/html"), HasSubstr("must not be text/html"));
  EXPECT_THAT(decide("OggS....", "a", ""), HasSubstr("must not be application/ogg"));
  EXPECT_THAT(decide("a", "a", "nonsense"), HasSubstr("must be of the form type/subtype"));
  EXPECT_THAT(decide("a", "a", "message/rfc822"), HasSubstr("must not be multipart or message"));
  EXPECT_FALSE(decide_content_type(png, "a.png", "image/png", {"text/plain"}));
}

}  // namespace
}  // namespace postino::support
