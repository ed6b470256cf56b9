// The prices that come with the program, in the form of a price file. Amazon publishes them at
// https://aws.amazon.com/dynamodb/pricing/; those of requests on demand were halved on 2024-11-01.
#include "base/check.h"
#include "capacity/price_book.h"

namespace postino::capacity {

std::string_view built_in_prices_text() {
  return R"({
  "name": "Amazon DynamoDB",
  "region": "us-east-1",
  "currency": "USD",
  "valid_from": "2024-11-01",
  "hours_per_month": 730,
  "standard": {
    "on_demand_read_million": "0.125",
    "on_demand_write_million": "0.625",
    "provisioned_read_hour": "0.00013",
    "provisioned_write_hour": "0.00065",
    "storage_gb_month": "0.25"
  },
  "infrequent_access": {
    "on_demand_read_million": "0.155",
    "on_demand_write_million": "0.78",
    "provisioned_read_hour": "0.00016",
    "provisioned_write_hour": "0.00081",
    "storage_gb_month": "0.10"
  },
  "stream_reads_100000": "0.02",
  "free": {
    "storage_gb": 25,
    "provisioned_read_units": 25,
    "provisioned_write_units": 25,
    "stream_reads": 2500000
  }
}
)";
}

const PriceBook& built_in_prices() {
  static const PriceBook book = [] {
    json::FieldErrors errors;
    auto read = read_price_book(built_in_prices_text(), errors);
    CHECK(read.has_value());
    return *std::move(read);
  }();
  return book;
}

}  // namespace postino::capacity
