#include "capacity/price_book.h"

#include <gmock/gmock.h>

namespace postino::capacity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The prices that come with the program, with one part of their text replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text(built_in_prices_text());
  const std::size_t found = text.find(from);
  EXPECT_NE(found, std::string::npos) << from;
  return text.replace(found, from.size(), to);
}

std::vector<std::string> price_faults(const std::string& text) {
  json::FieldErrors errors;
  EXPECT_FALSE(read_price_book(text, errors));
  std::vector<std::string> faults;
  for (const json::FieldError& error : errors.list()) faults.push_back(error.field + ": " + error.rule);
  return faults;
}

TEST(PriceBook, ComesWithTheProgram) {
  const PriceBook& book = built_in_prices();
  EXPECT_EQ(book.region, "us-east-1");
  EXPECT_EQ(book.currency, "USD");
  EXPECT_EQ(book.valid_from, "2024-11-01");
  EXPECT_EQ(book.hours_per_month, 730);
  EXPECT_EQ(book.standard.on_demand_write_million.text(), "0.625");
  EXPECT_EQ(book.standard.on_demand_read_million.text(), "0.125");
  EXPECT_EQ(book.standard.provisioned_write_hour.text(), "0.00065");
  EXPECT_EQ(book.standard.provisioned_read_hour.text(), "0.00013");
  EXPECT_EQ(book.standard.storage_gb_month.text(), "0.25");
  EXPECT_EQ(book.of(StorageClass::infrequent_access).storage_gb_month.text(), "0.1");
}

TEST(PriceBook, IsReadAsItWasWritten) {
  json::FieldErrors errors;
  const auto read = read_price_book(to_json(built_in_prices()), errors);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), to_json(built_in_prices()));
}

TEST(PriceBook, FaultsNameTheFieldAndTheRule) {
  EXPECT_THAT(price_faults(changed(R"("storage_gb_month": "0.25")", R"("other": "0.25")")),
              ElementsAre("standard.storage_gb_month: is required", "standard.other: is an unknown field"));
  EXPECT_THAT(price_faults(changed(R"("0.625")", "0.625")),
              ElementsAre(R"(standard.on_demand_write_million: must be a decimal in quotes, such as "0.625")"));
  for (const char* const price : {R"("-1")", R"("1e-3")", R"("1,5")", R"("")", R"("0.123456789")"})
    EXPECT_THAT(price_faults(changed(R"("0.625")", price)),
                ElementsAre(HasSubstr("standard.on_demand_write_million: must be a decimal such as 12.5")))
        << price;
  EXPECT_THAT(price_faults(changed(R"("0.625")", R"("10000")")),
              ElementsAre("standard.on_demand_write_million: must not be more than 9999"));
  EXPECT_THAT(price_faults(changed(R"("USD")", R"("dollars")")),
              ElementsAre("currency: must be the three capital letters of a currency, such as USD"));
  for (const char* const date : {R"("2024-13-01")", R"("2024-02-30")", R"("yesterday")", R"("2024-11-01T00:00:00Z")"})
    EXPECT_THAT(price_faults(changed(R"("2024-11-01")", date)),
                ElementsAre("valid_from: must be a date such as 2024-11-01"))
        << date;
  EXPECT_THAT(price_faults(changed("730", "10")), ElementsAre("hours_per_month: must be an integer from 672 to 744"));
  EXPECT_THAT(price_faults(changed(R"("stream_reads": 2500000)", R"("stream_reads": -1)")),
              ElementsAre("free.stream_reads: must be an integer from 0 to 1000000000"));
  EXPECT_THAT(price_faults(changed(R"("us-east-1")", R"("a\nb")")),
              ElementsAre("region: must be a text of one line, which is not empty"));
  EXPECT_THAT(price_faults("[]"), testing::Contains(": must be an object"));
  EXPECT_EQ(price_faults("{").size(), 1U);
  EXPECT_EQ(price_faults("{}").size(), 9U);
}

TEST(PriceBook, FaultsOfAFileNameTheFile) {
  const auto read = read_price_file("my.json", changed("730", "0"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "my.json: hours_per_month: must be an integer from 672 to 744");
  EXPECT_TRUE(read_price_file("my.json", built_in_prices_text()));
}

}  // namespace
}  // namespace postino::capacity
