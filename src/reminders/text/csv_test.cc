#include "reminders/text/csv.h"

#include <gmock/gmock.h>

#include "base/random.h"

namespace postino::reminders {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "2: a|b", "3! the fault"
std::vector<std::string> records(std::string_view text) {
  std::vector<std::string> all;
  CsvReader reader(text);
  while (const auto record = reader.next()) {
    std::string line = std::to_string(record->line) + (record->fault.empty() ? ": " : "! " + record->fault);
    for (std::size_t i = 0; i < record->fields.size(); ++i) line += (i > 0 ? "|" : "") + record->fields[i];
    all.push_back(line);
  }
  return all;
}

std::string csv(const std::vector<std::string>& fields) {
  std::string out;
  append_csv(out, fields);
  return out;
}

TEST(CsvReader, TakesAllEndsOfLines) {
  EXPECT_THAT(records("a,b\nc,d\n"), ElementsAre("1: a|b", "2: c|d"));
  EXPECT_THAT(records("a,b\r\nc,d\r\n"), ElementsAre("1: a|b", "2: c|d"));
  EXPECT_THAT(records("a,b\rc,d"), ElementsAre("1: a|b", "2: c|d"));
  EXPECT_THAT(records("\n\r\na\n\n\nb\n\n"), ElementsAre("3: a", "6: b")) << "empty lines count, and say nothing";
  EXPECT_THAT(records(""), IsEmpty());
  EXPECT_THAT(records("\xEF\xBB\xBF"), IsEmpty());
}

TEST(CsvReader, PassesOverAByteOrderMarkAtTheBeginningAlone) {
  EXPECT_THAT(records("\xEF\xBB\xBF"
                      "a,b"),
              ElementsAre("1: a|b"));
  EXPECT_THAT(records("\xEF\xBB\xBF\"a\",b"), ElementsAre("1: a|b"));
  EXPECT_THAT(records("a,\xEF\xBB\xBF"
                      "b"),
              ElementsAre("1: a|\xEF\xBB\xBF"
                          "b"));
}

TEST(CsvReader, KeepsWhatIsInQuotes) {
  EXPECT_THAT(records("\"a,\"\"b\"\"\r\nc\",\"\",d\ne"), ElementsAre("1: a,\"b\"\r\nc||d", "3: e"));
  EXPECT_THAT(records("\"a\n\nb\"\r\"c\rd\"\ne"), ElementsAre("1: a\n\nb", "4: c\rd", "6: e"));
  EXPECT_THAT(records(" a , b,"), ElementsAre("1:  a | b|")) << "spaces belong to the field";
}

TEST(CsvReader, FindsTheSeparatorInTheFirstLine) {
  EXPECT_THAT(records("a;b\n1,5;2\n"), ElementsAre("1: a|b", "2: 1,5|2"));
  EXPECT_THAT(records("a\tb\n1;5\t2\n"), ElementsAre("1: a|b", "2: 1;5|2"));
  EXPECT_THAT(records("\"a;x\",b\n1;5,2\n"), ElementsAre("1: a;x|b", "2: 1;5|2"));
}

TEST(CsvReader, ABrokenLineCostsThatLineAlone) {
  EXPECT_THAT(records("a,b\nc,\"d\" e\nf,g\n"),
              ElementsAre("1: a|b", "2! must not have text behind the closing quote of a field", "3: f|g"));
  EXPECT_THAT(records("a,b\nc \"x\",d\nf,g\n"),
              ElementsAre("1: a|b", "2! must not have a quote inside of a field that is not in quotes", "3: f|g"));
  EXPECT_THAT(records("a,b\n\"c,d\nf,g\nh,i"),
              ElementsAre("1: a|b", "2! must close the quote of a field", "3: f|g", "4: h|i"));
  EXPECT_THAT(records("a,\"b\nc,\"d\"\ne,f"),
              ElementsAre("1! must not have text behind the closing quote of a field", "2: c|d", "3: e|f"));
}

TEST(CsvReader, HasLimits) {
  const std::string longest(CsvReader::max_record_bytes, 'x');
  EXPECT_THAT(records(longest + "\nb"), ElementsAre("1: " + longest, "2: b"));
  EXPECT_THAT(records(longest + "x\nb"), ElementsAre("1! must not be longer than 16384 bytes", "2: b"));
  EXPECT_THAT(records(longest + ",x\nb"), ElementsAre("1! must not be longer than 16384 bytes", "2: b"));
  const auto unclosed = records("a\n\"" + longest + "x\nb");
  ASSERT_EQ(unclosed.size(), 3U);
  EXPECT_THAT(unclosed[1], HasSubstr("perhaps a quote is not closed"));
  EXPECT_EQ(unclosed[2], "3: b");
  EXPECT_THAT(records(std::string(99, ',') + "\nb").size(), 2U);
  EXPECT_THAT(records(std::string(100, ',') + "\nb"), ElementsAre("1! must not have more than 100 fields", "2: b"));
}

TEST(CsvWriter, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv({"a", "b c", ""}), "a,b c,\r\n");
  EXPECT_EQ(csv({"a,b", "c;d", "e\"f", "g\nh"}), "\"a,b\",\"c;d\",\"e\"\"f\",\"g\nh\"\r\n");
  EXPECT_EQ(csv({" a", "b "}), "\" a\",\"b \"\r\n");
  EXPECT_EQ(csv({""}), "\"\"\r\n") << "an empty line would be passed over";
}

TEST(CsvWriter, LetsNoFormulaRun) {
  EXPECT_EQ(csv({"=1+1"}), "'=1+1\r\n");
  EXPECT_EQ(csv({"=HYPERLINK(\"http://evil.example\",\"x\")"}),
            "\"'=HYPERLINK(\"\"http://evil.example\"\",\"\"x\"\")\"\r\n");
  for (const std::string text : {"+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "＋1", "－1", "＠x"})
    EXPECT_TRUE(is_formula(text)) << text;
  for (const std::string text : {"", "a=1", "1-2", "ada@example.org", "'x", "ä", " a"})
    EXPECT_FALSE(is_formula(text)) << text;
  EXPECT_EQ(csv({"a=1", "'x", "2026-11-15"}), "a=1,'x,2026-11-15\r\n");
}

TEST(CsvWriter, WhatItWritesIsReadBack) {
  base::SeededRandom random(7);
  const std::vector<std::string> parts = {"a", "'", "=", "+", " ", ",", ";", "\"", "\r", "\n", "\t", "é", "＝", "-"};
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::string> fields(1 + random.next() % 4);
    for (std::string& field : fields)
      for (std::uint64_t i = random.next() % 6; i > 0; --i) field += parts[random.next() % parts.size()];
    // The first line tells the separator.
    const std::string text = "x,y\r\n" + csv(fields);
    CsvReader reader(text);
    ASSERT_TRUE(reader.next());
    auto record = reader.next();
    ASSERT_TRUE(record) << text;
    ASSERT_EQ(record->fault, "") << text;
    for (std::string& field : record->fields) field = without_apostrophe(std::move(field));
    EXPECT_EQ(record->fields, fields) << text;
    EXPECT_FALSE(reader.next()) << text;
  }
}

}  // namespace
}  // namespace postino::reminders
