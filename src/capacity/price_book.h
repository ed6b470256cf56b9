// What DynamoDB costs: the prices of one region, from a file that a user may change, or those that come with the
// program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "capacity/decimal.h"
#include "json/fields.h"

namespace postino::capacity {

enum class StorageClass { standard, infrequent_access };
std::string_view name_of(StorageClass storage_class);  // "infrequent_access"

struct ClassPrices {
  Decimal on_demand_read_million;   // read request units
  Decimal on_demand_write_million;  // write request units
  Decimal provisioned_read_hour;    // of one unit
  Decimal provisioned_write_hour;
  Decimal storage_gb_month;
};

// What an account has for nothing each month, in one region. Units are of provisioned tables in the standard class.
struct FreeTier {
  std::int64_t storage_gb = 0;
  std::int64_t read_units = 0;
  std::int64_t write_units = 0;
  std::int64_t stream_reads = 0;
};

struct PriceBook {
  std::string name;
  std::string region;
  std::string currency;    // three letters of ISO 4217
  std::string valid_from;  // "2024-11-01"
  std::int64_t hours_per_month = 0;
  ClassPrices standard;
  ClassPrices infrequent_access;
  Decimal stream_reads_100000;
  FreeTier free;

  const ClassPrices& of(StorageClass storage_class) const {
    return storage_class == StorageClass::standard ? standard : infrequent_access;
  }
};

struct PriceLimits {
  static constexpr std::size_t file_bytes = 1 << 20;
  static constexpr std::size_t text_bytes = 200;
  static constexpr int places = 8;             // digits behind the point
  static constexpr std::int64_t most = 9'999;  // of a price
  static constexpr std::int64_t most_free = 1'000'000'000;
  static constexpr std::int64_t least_hours = 672;  // of February
  static constexpr std::int64_t most_hours = 744;
};

// From JSON, all of it: nothing is taken from elsewhere. nullopt, with what is wrong in the errors.
std::optional<PriceBook> read_price_book(std::string_view text, json::FieldErrors& errors);
// The same with the errors as one, a line for each: "prices.json: standard.storage_gb_month: is required".
base::Result<PriceBook> read_price_file(const std::string& file_name, std::string_view text);
// As a file would have it.
std::string to_json(const PriceBook& book);

// Those that come with the program: Amazon DynamoDB in us-east-1. And the text that they are read from.
const PriceBook& built_in_prices();
std::string_view built_in_prices_text();

}  // namespace postino::capacity
