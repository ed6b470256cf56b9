// What a table is asked to do: how large its items are, how often they are read and written, which indexes it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capacity/decimal.h"
#include "capacity/price_book.h"
#include "capacity/units.h"
#include "json/fields.h"

namespace postino::capacity {

// With these, no sum or product of an estimate has more digits than a Decimal.
struct WorkloadLimits {
  static constexpr std::int64_t item_bytes = 409'600;
  static constexpr std::int64_t rate = 100'000'000;  // requests a second
  static constexpr int rate_places = 3;
  static constexpr std::int64_t items_per_query = 10'000;
  static constexpr std::int64_t items = 1'000'000'000'000;
  static constexpr std::int64_t storage_gb = 1'000'000'000;
  static constexpr std::size_t indexes = 20;
  static constexpr std::size_t name_bytes = 255;
  static constexpr std::int64_t hours_per_day = 24;
  static constexpr std::int64_t percent = 100;
};

struct IndexWorkload {
  std::string name;  // "index 1" when it was given none; no two have the same
  Projection projection = Projection::all;
  std::int64_t entry_bytes = 0;          // of an index with all attributes: the size of an item
  std::int64_t items_percent = 100;      // of the items, which have its key: fewer make a sparse index
  std::int64_t changes_percent = 100;    // of the writes, which change something that the index has
  std::int64_t key_changes_percent = 0;  // of the writes, which change its key and cost twice; among the former
  Decimal queries;                       // a second
  std::int64_t entries_per_query = 1;
};

// Requests are per second, on average over the hours in which there are any.
struct Workload {
  StorageClass storage_class = StorageClass::standard;
  std::int64_t item_bytes = 0;
  Decimal strong_reads;
  Decimal eventual_reads;
  Decimal transactional_reads;
  Decimal queries;
  std::int64_t items_per_query = 1;
  bool consistent_queries = false;
  Decimal writes;  // puts and updates
  Decimal transactional_writes;
  Decimal deletes;
  Decimal failed_writes;  // whose condition does not hold
  Decimal expiries;       // by time to live
  Decimal stream_reads;   // requests for records of the table's change stream
  std::optional<std::int64_t> items;
  std::optional<Decimal> storage_gb;      // one of both, or none
  std::int64_t hours_per_day = 24;        // in which there are requests
  std::int64_t utilisation_percent = 70;  // of provisioned capacity, which the requests take
  bool free_tier = false;
  std::vector<IndexWorkload> indexes;
};

// How the user has given it, for the words of the rules: the fields of a command line are options, its decimals have no
// quotes.
enum class InputForm { json, command_line };

// "item_bytes", or "--item-bytes"; an index, "indexes[0].queries", is "--index 1: queries" there.
std::string field_text(std::string_view field, InputForm form);

// nullopt, with the fields and the rules that they break in the errors.
std::optional<Workload> read_workload(json::Element element, json::FieldErrors& errors,
                                      InputForm form = InputForm::json);

}  // namespace postino::capacity
