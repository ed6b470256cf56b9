#include "exchange/record_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace postino::exchange {
namespace {

using testing::ElementsAre;

// The same records, however the text is cut into parts.
std::vector<std::string> records_of(DataFormat format, const std::string& text, std::size_t part) {
  const auto splitter = splitter_of(format);
  std::vector<std::string> records;
  const auto take_all = [&] {
    while (true) {
      const auto record = splitter->next();
      EXPECT_TRUE(record);
      if (!record || !*record) return;
      records.push_back(**record);
    }
  };
  for (std::size_t begin = 0; begin < text.size(); begin += part) {
    splitter->add(std::string_view(text).substr(begin, part));
    take_all();
  }
  splitter->finish();
  take_all();
  return records;
}

class RecordSplitterTest : public testing::TestWithParam<std::size_t> {};

TEST_P(RecordSplitterTest, LinesAreRecords) {
  EXPECT_THAT(records_of(DataFormat::dynamodb_json, "one\r\ntwo\n\n  \nthree", GetParam()),
              ElementsAre("one", "two", "three"));
}

TEST_P(RecordSplitterTest, FieldsInQuotesMayHaveSeveralLines) {
  EXPECT_THAT(records_of(DataFormat::csv, "a,\"b\nc\",\"d\"\"\ne\"\nf,g\n", GetParam()),
              ElementsAre("a,\"b\nc\",\"d\"\"\ne\"", "f,g"));
}

TEST_P(RecordSplitterTest, StructuresEndWithTheirBracket) {
  const std::string first = "$ion_1_0 {a:\"}\",\nb:'''}''',c:{{AAEC}}}";
  const std::string second = " {d:[{}]}";
  const std::string third = "\n/* } */{e:'}'}";
  EXPECT_THAT(records_of(DataFormat::ion, first + second + third + "\n", GetParam()),
              ElementsAre(first, second, third));
}

INSTANTIATE_TEST_SUITE_P(Parts, RecordSplitterTest, testing::Values(1, 2, 3, 7, 1'000));

TEST(RecordSplitter, ARecordThatIsTooLongIsRefused) {
  for (const DataFormat format : {DataFormat::dynamodb_json, DataFormat::csv, DataFormat::ion}) {
    const auto splitter = splitter_of(format);
    splitter->add("{a:\"" + std::string(longest_record + 1, 'x'));
    const auto record = splitter->next();
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().message, "a record must have at most 4194304 bytes");
  }
}

}  // namespace
}  // namespace postino::exchange
