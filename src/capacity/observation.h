// What a store's own traffic would cost on DynamoDB, and what would trouble it there. Pure: made from what was counted
// and from the tables as they are.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "capacity/estimate.h"
#include "capacity/price_book.h"
#include "capacity/traffic_watch.h"
#include "store/table.h"

namespace postino::capacity {

// How much of provisioned capacity is to be used in the busiest minute.
inline constexpr std::int64_t usual_utilisation_percent = 70;

// A table itself, or one of its indexes.
struct ObservedPart {
  std::string index;  // empty: the table
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t failed_writes = 0;  // among them
  Decimal read_units;
  Decimal scan_units;  // of these, of scans
  Decimal write_units;
  Decimal backfill_units;        // of writes that filled it as a new index: once, so they are in no month
  Decimal read_units_per_month;  // if it goes on like this
  Decimal write_units_per_month;
  std::int64_t provisioned_read_units = 0;  // for the busiest minute; of a local index they are the table's
  std::int64_t provisioned_write_units = 0;
  std::int64_t items = 0;
  std::int64_t stored_bytes = 0;  // that are paid for
};

// A table with its indexes, which are all provisioned, or all on demand.
struct ObservedTable {
  std::string table;
  StorageClass storage_class = StorageClass::standard;
  std::vector<ObservedPart> parts;  // the table first
  Costs on_demand;
  Costs provisioned;
  Mode recommendation = Mode::on_demand;
  Decimal saving;
};

struct HotKey {
  std::string table;
  std::string index;  // empty: the table
  bool reads = true;
  std::string key;      // DynamoDB's JSON; of a key that is cut, how it begins
  bool is_cut = false;  // it was too long to be kept
  Decimal units;
  Decimal most_excess;  // it got no less than units without these
  Decimal share_percent;
  Decimal most_in_a_second;
};

struct ObservedLargeItem {
  std::string table;
  std::string key;
  std::int64_t bytes = 0;
};

struct UnreadIndex {
  std::string table;
  std::string index;
  base::TimePoint since;  // nothing has read it
  Decimal write_units_per_month;
  Decimal cost;  // a month, on demand
};

// What the calls of one operation took of all tables of one service.
struct ObservedService {
  std::string service;    // "outbox"; "other" of tables of others
  std::string operation;  // "PutItem"
  Decimal read_units;
  Decimal write_units;
  Decimal cost;  // a month, on demand, if it goes on like this
};

// The services of this program by their tables.
using ServiceNames = std::map<std::string, std::string, std::less<>>;
inline constexpr std::string_view other_service = "other";

enum class AdviceKind { hot_partition, hot_key, large_item, unread_index, scans, table_class };
std::string_view name_of(AdviceKind kind);

struct Advice {
  AdviceKind kind = AdviceKind::hot_key;
  std::string table;
  std::string index;
  std::string text;  // what was seen, and what to do about it
};

struct Observation {
  base::TimePoint since;
  base::TimePoint until;
  std::int64_t seconds = 0;
  std::vector<ObservedTable> tables;
  std::vector<ObservedService> services;  // where the store tells it: one on other machines
  Decimal stream_reads;
  Decimal other_units;    // of tables and indexes that there were too many of, reads and writes
  Decimal deleted_units;  // of tables and indexes that are gone, reads and writes: they are in no table and no cost
  Decimal backfill_cost;  // on demand, once
  Costs on_demand;        // of all tables
  Costs provisioned;
  Mode recommendation = Mode::on_demand;  // if all tables are to have the same
  Decimal saving;
  Decimal best;                        // if each table has what is cheaper for it
  std::vector<HotKey> hot_keys;        // of each table and index those with the largest shares
  std::vector<HotKey> hot_partitions;  // beyond what one partition gives in a second
  std::vector<ObservedLargeItem> large_items;
  std::vector<UnreadIndex> unread_indexes;
  std::vector<Advice> advice;
  std::vector<std::string> notes;
};

// `own` are tables of services of this program: they need their indexes, read or not. What is not in `tables` is gone.
Observation observe(const TrafficWatch::Sighting& sighting, const std::vector<store::TableDescription>& tables,
                    const PriceBook& book, const std::set<std::string>& own = {}, const ServiceNames& services = {});

// From what was found; in the order of the kinds.
std::vector<Advice> advice_for(const Observation& observation, const PriceBook& book);

std::string to_json(const Observation& observation, const PriceBook& book);

}  // namespace postino::capacity
