#include "support/record/attachment_name.h"

#include <gtest/gtest.h>

#include "json/string.h"

namespace postino::support {
namespace {

std::string clean(std::string_view name) { return clean_attachment_name(name).value_or("(refused)"); }

TEST(AttachmentNameTest, ThatIsGoodStays) {
  for (const char* name : {"report.pdf", "Fehlerbericht äöü.txt", "ログ.log", "a.tar.gz", "README", "a-b_c (1).png"})
    EXPECT_EQ(clean(name), name);
}

TEST(AttachmentNameTest, IsNoPath) {
  EXPECT_EQ(clean("../../etc/passwd"), "passwd");
  EXPECT_EQ(clean("C:\\Users\\me\\log.txt"), "log.txt");
  EXPECT_EQ(clean("a/b/"), "attachment");
  EXPECT_EQ(clean(".."), "attachment");
  EXPECT_EQ(clean(""), "attachment");
  EXPECT_EQ(clean(" ..hidden.. "), "hidden");
  EXPECT_EQ(clean("file:stream"), "file_stream");
  EXPECT_EQ(clean("<script>\"|?*"), "_script_____");
}

TEST(AttachmentNameTest, HidesNothing) {
  EXPECT_EQ(clean("invoice\xE2\x80\xAEgpj.exe"), "invoicegpj.exe") << "U+202E turns the direction";
  EXPECT_EQ(clean("a\xE2\x80\x8B.txt"), "a.txt") << "U+200B has no width";
  EXPECT_EQ(clean("\xEF\xBB\xBF"
                  "a.txt"),
            "a.txt");
  EXPECT_EQ(clean("a\r\nSet-Cookie: x\x7F.txt"), "aSet-Cookie_ x.txt");
  EXPECT_EQ(clean(std::string("a\0.txt", 6)), "a.txt");
  EXPECT_EQ(clean("a\xC2\x85.txt"), "a.txt") << "a control character of two bytes";
  EXPECT_EQ(clean("a\xFF.txt"), "(refused)");
}

TEST(AttachmentNameTest, IsNoDevice) {
  EXPECT_EQ(clean("CON"), "_CON");
  EXPECT_EQ(clean("nul.txt"), "_nul.txt");
  EXPECT_EQ(clean("com1.log"), "_com1.log");
  EXPECT_EQ(clean("common.log"), "common.log");
}

TEST(AttachmentNameTest, IsShortenedButForItsExtension) {
  const std::string longer = clean(std::string(400, 'a') + ".pdf");
  EXPECT_EQ(longer, std::string(251, 'a') + ".pdf");
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "ä";
  const std::string cut = clean("x" + wide + ".png");
  EXPECT_LE(cut.size(), longest_attachment_name);
  EXPECT_TRUE(cut.ends_with("ä.png"));
  EXPECT_TRUE(json::is_utf8(cut));
  EXPECT_LE(clean("nul." + std::string(400, 'a')).size(), longest_attachment_name);
}

TEST(AttachmentNameTest, OfProgramsAreKnown) {
  for (const char* name : {"a.exe", "a.EXE", "report.pdf.scr", "x.html", "y.svg", "z.js", "setup.msi"})
    EXPECT_TRUE(is_name_of_program(name)) << name;
  for (const char* name : {"a.pdf", "exe", "a.exe.txt", "a.json"}) EXPECT_FALSE(is_name_of_program(name)) << name;
}

}  // namespace
}  // namespace postino::support
