#include "exchange/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/json_codec.h"

namespace postino::exchange {
namespace {

using testing::ElementsAre;

TEST(Csv, FieldsMayHaveQuotes) {
  EXPECT_THAT(split_csv(R"(a,"b,c","d ""e""",,)", ',').value(), ElementsAre("a", "b,c", "d \"e\"", "", ""));
  EXPECT_THAT(split_csv("a;b, c", ';').value(), ElementsAre("a", "b, c"));
  for (const std::string line : {"\"a", "\"a\"b,c", "a\"b"}) EXPECT_FALSE(split_csv(line, ',')) << line;
}

TEST(Csv, KeysHaveTypesAndAllElseIsText) {
  CsvItems csv(',', std::nullopt,
               {{"id", item::Type::number}, {"raw", item::Type::binary}, {"name", item::Type::string}});
  ASSERT_TRUE(csv.take_header("\xEF\xBB\xBFid,raw,name,count"));
  EXPECT_EQ(item::to_json(csv.item_of("7,AAEC,x,12").value()),
            R"({"count":{"S":"12"},"id":{"N":"7"},"name":{"S":"x"},"raw":{"B":"AAEC"}})");
  EXPECT_FALSE(csv.item_of("x,AAEC,x,12"));
  EXPECT_FALSE(csv.item_of("7,?,x,12"));
  EXPECT_EQ(csv.item_of("7,AAEC,x").error().message, "CSV: the line has 3 fields, and the header 4");
}

TEST(Csv, HeadersHaveDifferentNames) {
  CsvItems csv(',', std::nullopt, {});
  EXPECT_FALSE(csv.take_header("a,a"));
  EXPECT_FALSE(csv.take_header("a,"));
}

}  // namespace
}  // namespace postino::exchange
