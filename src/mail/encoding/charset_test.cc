#include "mail/encoding/charset.h"

#include <gtest/gtest.h>

namespace postino::mail {
namespace {

TEST(Charset, IsConverted) {
  EXPECT_EQ(to_utf8("gr\xFCn \xA4", "iso-8859-15"), "grün €");
  EXPECT_EQ(to_utf8("\x93gr\xFCn\x94", " Windows-1252 "), "“grün”");
  EXPECT_EQ(to_utf8("\xEF\xD2\xC9", "KOI8-R"), "Ори");
  EXPECT_EQ(to_utf8("\x1B$B$\"\x1B(B!", "ISO-2022-JP"), "あ!");
  EXPECT_EQ(to_utf8(std::string(10'000, '\xFC'), "iso-8859-1").size(), 20'000U);
}

TEST(Charset, OfUtf8StaysAsItIs) {
  EXPECT_EQ(to_utf8("grün", "UTF-8"), "grün");
  EXPECT_EQ(to_utf8("gr\xFCn", "utf-8"), "gr\xFCn");
}

TEST(Charset, ThatIsNotKnownIsFoundOut) {
  for (const char* const charset : {"", "x-none", "us-ascii", "utf-7", "../../../tmp/evil", "iso-8859-1//IGNORE",
                                    "iso-8859-99", "iso-8859-1234567890123"}) {
    EXPECT_EQ(to_utf8("gr\xFCn", charset), "grün") << charset;
    if (std::string_view(charset) != "iso-8859-99") {
      EXPECT_EQ(to_utf8("grün", charset), "grün") << charset;
    }
  }
}

TEST(Charset, HasAQuestionMarkForWhatCannotBeConverted) {
  EXPECT_EQ(to_utf8("a\x81z", "windows-1252"), "a?z");
  EXPECT_EQ(to_utf8("\x82\xA0\x82", "shift_jis"), "あ?");
  EXPECT_EQ(to_utf8("", "shift_jis"), "");
}

}  // namespace
}  // namespace postino::mail
