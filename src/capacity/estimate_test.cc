#include "capacity/estimate.h"

#include <gmock/gmock.h>

namespace postino::capacity {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::optional<Workload> read_text_of(const std::string& text, json::FieldErrors& errors) {
  json::Document document;
  EXPECT_TRUE(document.parse(text, errors)) << text;
  return read_workload(document.root(), errors);
}

Workload workload_of(const std::string& text) {
  json::FieldErrors errors;
  const auto read_one = read_text_of(text, errors);
  for (const json::FieldError& error : errors.list()) ADD_FAILURE() << error.field << ": " << error.rule;
  return read_one.value();
}

std::vector<std::string> workload_faults(const std::string& text) {
  json::FieldErrors errors;
  EXPECT_FALSE(read_text_of(text, errors)) << text;
  std::vector<std::string> faults;
  for (const json::FieldError& error : errors.list()) faults.push_back(error.field + ": " + error.rule);
  return faults;
}

Estimate estimated(const std::string& text) { return estimate(workload_of(text), built_in_prices()); }

// "strong reads 100 x 1 = 100"
std::vector<std::string> lines_of(const Estimate& estimate) {
  std::vector<std::string> lines;
  for (const EstimateLine& line : estimate.lines)
    lines.push_back((line.index.empty() ? "" : line.index + ": ") + line.what + " " + line.per_second.text() + " x " +
                    line.units_each.text() + " = " + line.units_per_second.text());
  return lines;
}

std::vector<std::string> costs_of(const Costs& costs) {
  return {costs.reads.text(2), costs.writes.text(2), costs.stream_reads.text(2), costs.storage.text(2),
          costs.total().text(2)};
}

// Calculated by hand: 143 units are 100 at 70 %, 86 are 60; a month on demand has 150 x 730 x 12 seconds.
TEST(Estimate, OfTheExampleOfTheFormerCalculator) {
  const Estimate result =
      estimated(R"({"item_bytes": 3072, "strong_reads": 100, "writes": 20, "storage_gb": 50, "hours_per_day": 12})");
  EXPECT_THAT(lines_of(result), ElementsAre("strong reads 100 x 1 = 100", "writes 20 x 3 = 60"));
  EXPECT_EQ(result.read_units_per_month.text(), "131400000");
  EXPECT_EQ(result.write_units_per_month.text(), "78840000");
  ASSERT_THAT(result.capacity, SizeIs(1));
  EXPECT_EQ(result.capacity[0].read_units, 143);
  EXPECT_EQ(result.capacity[0].write_units, 86);
  EXPECT_THAT(costs_of(result.provisioned), ElementsAre("13.57", "40.81", "0.00", "12.50", "66.88"));
  EXPECT_THAT(costs_of(result.on_demand), ElementsAre("16.43", "49.28", "0.00", "12.50", "78.21"));
  EXPECT_EQ(result.recommendation, Mode::provisioned);
  EXPECT_EQ(result.saving.text(2), "11.33");
  EXPECT_EQ(result.saving_percent.text(), "14.5");
  EXPECT_EQ(result.break_even.load_percent->text(), "82.8");
  EXPECT_EQ(result.break_even.hours_per_day->text(), "9.9");
}

TEST(Estimate, EveryKindOfRequest) {
  const Estimate result = estimated(
      R"({"item_bytes": 4097, "strong_reads": "0.5", "eventual_reads": 1, "transactional_reads": 1, "queries": 2,
          "items_per_query": 10, "writes": 1, "transactional_writes": 1, "deletes": 1, "failed_writes": 1,
          "expiries": 1000, "stream_reads": "2.5"})");
  EXPECT_THAT(
      lines_of(result),
      ElementsAre("strong reads 0.5 x 2 = 1", "eventual reads 1 x 1 = 1", "transactional reads 1 x 4 = 4",
                  "queries 2 x 5.5 = 11", "writes 1 x 5 = 5", "transactional writes 1 x 10 = 10", "deletes 1 x 5 = 5",
                  "failed writes 1 x 5 = 5", "expiries 1000 x 0 = 0", "stream reads 2.5 x 1 = 2.5"));
  // They are paid for by themselves, and need no capacity.
  EXPECT_EQ(result.read_units_per_second.text(), "17");
  EXPECT_EQ(result.lines.back().unit, UnitKind::stream_read);
  EXPECT_THAT(lines_of(estimated(R"({"item_bytes": 4097, "queries": 1, "consistent_queries": true})")),
              ElementsAre("consistent queries 1 x 2 = 2"));
}

TEST(Estimate, IndexesByProjection) {
  const Estimate result = estimated(
      R"({"item_bytes": 3000, "writes": 100, "deletes": 10, "indexes": [
          {"name": "all", "projection": "ALL", "queries": 1, "entries_per_query": 4},
          {"name": "keys", "projection": "KEYS_ONLY", "entry_bytes": 100, "items_percent": 50, "changes_percent": 10,
           "key_changes_percent": 4},
          {"projection": "INCLUDE", "entry_bytes": 1025, "changes_percent": 0}]})");
  EXPECT_THAT(lines_of(result), ElementsAre("writes 100 x 3 = 300", "deletes 10 x 3 = 30", "all: queries 1 x 1.5 = 1.5",
                                            "all: writes 100 x 3 = 300", "all: deletes 10 x 3 = 30",
                                            "keys: writes 3 x 1 = 3", "keys: writes with another key 2 x 2 = 4",
                                            "keys: deletes 5 x 1 = 5", "index 3: deletes 10 x 2 = 20"));
  ASSERT_THAT(result.capacity, SizeIs(4));
  EXPECT_EQ(result.capacity[0].write_units, 472);  // 330 at 70 %
  EXPECT_EQ(result.capacity[1].read_units, 3);
  EXPECT_EQ(result.capacity[2].write_units, 18);
  EXPECT_EQ(result.capacity[3].index, "index 3");
  EXPECT_EQ(result.capacity[3].read_units, 1);  // the least there is
}

TEST(Estimate, StorageHasOverheadAndIndexes) {
  const Estimate result = estimated(
      R"({"item_bytes": 924, "items": 1048576, "indexes": [{"projection": "KEYS_ONLY", "entry_bytes": 412,
          "items_percent": 50}]})");
  EXPECT_EQ(result.storage_gb.text(), "1.25");  // 1 KB each, and half a KB for every other
  EXPECT_EQ(result.on_demand.storage.text(2), "0.31");
  EXPECT_EQ(result.recommendation, Mode::on_demand);  // there are no requests, and capacity costs
  EXPECT_FALSE(result.break_even.load_percent);
}

TEST(Estimate, ClassesHavePricesOfTheirOwn) {
  const std::string load = R"("item_bytes": 1000, "writes": 1, "storage_gb": 100)";
  const Estimate usual = estimated("{" + load + "}");
  const Estimate infrequent = estimated("{" + load + R"(, "table_class": "infrequent_access"})");
  EXPECT_EQ(usual.on_demand.storage.text(2), "25.00");
  EXPECT_EQ(infrequent.on_demand.storage.text(2), "10.00");
  EXPECT_EQ(usual.on_demand.writes.text(2), "1.64");
  EXPECT_EQ(infrequent.on_demand.writes.text(2), "2.05");
}

TEST(Estimate, FreeTierIsTakenOffWhenItIsAskedFor) {
  const std::string load = R"("item_bytes": 1000, "strong_reads": 14, "writes": 14, "storage_gb": 30,
                              "stream_reads": 1)";
  const Estimate paid = estimated("{" + load + "}");
  EXPECT_THAT(costs_of(paid.provisioned), ElementsAre("1.90", "9.49", "0.53", "7.50", "19.42"));
  const Estimate free = estimated("{" + load + R"(, "free_tier": true})");
  EXPECT_THAT(costs_of(free.provisioned), ElementsAre("0.00", "0.00", "0.03", "1.25", "1.28"));
  EXPECT_EQ(free.on_demand.writes.text(2), paid.on_demand.writes.text(2));  // there is none on demand
}

TEST(Estimate, NoBreakEvenIsToldThatTheCapacityCannotServe) {
  const Estimate rare = estimated(R"({"item_bytes": 1000, "writes": 100, "hours_per_day": 2})");
  EXPECT_FALSE(rare.break_even.load_percent) << "143 units serve no five times 100 writes";
  EXPECT_EQ(rare.break_even.hours_per_day->text(), "9.9");
  const Estimate full = estimated(R"({"item_bytes": 1000, "writes": 100, "utilisation_percent": 20})");
  EXPECT_EQ(full.break_even.load_percent->text(), "144.5") << "500 units serve up to five times as many";
  EXPECT_FALSE(full.break_even.hours_per_day);
  const Estimate free = estimated(R"({"item_bytes": 1000, "writes": 1, "free_tier": true})");
  EXPECT_FALSE(free.break_even.load_percent) << "the capacity costs nothing";
}

TEST(Estimate, BothModesCostTheSameWhereItSays) {
  const Estimate result = estimated(R"({"item_bytes": 1024, "writes": 7000, "utilisation_percent": 100})");
  // 0.00065 an hour, or 0.625 for a million: 0.00225 an hour when all is used.
  EXPECT_EQ(result.break_even.write_utilisation_percent.text(), "28.9");
  EXPECT_EQ(result.break_even.read_utilisation_percent.text(), "28.9");
  EXPECT_EQ(result.break_even.load_percent->text(), "28.9");
  EXPECT_EQ(result.break_even.hours_per_day->text(), "6.9");
  const Estimate less = estimated(R"({"item_bytes": 1024, "writes": 7000, "utilisation_percent": 100,
                                      "hours_per_day": 6})");
  EXPECT_EQ(less.recommendation, Mode::on_demand);
  const Estimate more = estimated(R"({"item_bytes": 1024, "writes": 7000, "utilisation_percent": 100,
                                      "hours_per_day": 7})");
  EXPECT_EQ(more.recommendation, Mode::provisioned);
}

// The largest that is taken: no sum or product has too many digits.
TEST(Estimate, HasRoomForTheLargestWorkload) {
  std::string indexes;
  for (int i = 0; i < 20; ++i)
    indexes += std::string(i == 0 ? "" : ",") +
               R"({"projection": "ALL", "queries": "99999999.999", "entries_per_query": 10000,
                  "key_changes_percent": 99})";
  PriceBook book = built_in_prices();
  const Decimal most = Decimal::parse("9999.99999999", 8).value() - Decimal::parse("0.99999999", 8).value();
  book.standard = {most, most, most, most, most};
  book.stream_reads_100000 = most;
  book.hours_per_month = PriceLimits::most_hours;
  const Workload load = workload_of(
      R"({"item_bytes": 409600, "strong_reads": "99999999.999", "eventual_reads": "99999999.999",
          "transactional_reads": "99999999.999", "queries": "99999999.999", "items_per_query": 10000,
          "consistent_queries": true, "writes": "99999999.999", "transactional_writes": "99999999.999",
          "deletes": "99999999.999", "failed_writes": "99999999.999", "stream_reads": "99999999.999",
          "items": 1000000000000, "utilisation_percent": 1, "indexes": [)" +
      indexes + "]}");
  const Estimate result = estimate(load, book);
  EXPECT_GT(result.on_demand.total(), Decimal(0));
  EXPECT_GT(result.provisioned.total(), Decimal(0));
  EXPECT_FALSE(to_json(result, book).empty());
}

TEST(Workload, FaultsNameTheFieldAndTheRule) {
  EXPECT_THAT(workload_faults("{}"), ElementsAre("item_bytes: is required"));
  EXPECT_THAT(workload_faults(R"({"item_bytes": 0})"), ElementsAre("item_bytes: must be an integer from 1 to 409600"));
  EXPECT_THAT(workload_faults(R"({"item_bytes": 1, "reads": 5})"), ElementsAre("reads: is an unknown field"));
  for (const char* const rate : {"-1", "1.5", R"("1.2345")", R"("many")", "100000001", "true"})
    EXPECT_THAT(workload_faults(std::string(R"({"item_bytes": 1, "writes": )") + rate + "}"),
                ElementsAre("writes: must be an integer, or a decimal in quotes such as \"0.5\", from 0 to 100000000 "
                            "with at most 3 digits behind the point"))
        << rate;
  EXPECT_THAT(workload_faults(R"({"item_bytes": 1, "items": 1, "storage_gb": 1})"),
              ElementsAre("storage_gb: must be left out where items is given"));
  EXPECT_THAT(workload_faults(R"({"item_bytes": 1, "table_class": "glacier"})"),
              ElementsAre("table_class: must be standard or infrequent_access"));
  EXPECT_THAT(workload_faults(R"({"item_bytes": 1, "utilisation_percent": 0})"),
              ElementsAre("utilisation_percent: must be an integer from 1 to 100"));
  EXPECT_THAT(
      workload_faults(R"({"item_bytes": 10, "indexes": [{"projection": "KEYS_ONLY"}, {"projection": "SOME"},
                            {"projection": "ALL", "entry_bytes": 5}, {"projection": "INCLUDE", "entry_bytes": 11},
                            {"name": "index 1", "projection": "ALL", "changes_percent": 1, "key_changes_percent": 2}]})"),
      ElementsAre("indexes[0].entry_bytes: is required for an index that does not have all attributes",
                  "indexes[1].projection: must be KEYS_ONLY, INCLUDE or ALL",
                  "indexes[2].entry_bytes: must be left out, or be item_bytes, for an index with all attributes",
                  "indexes[3].entry_bytes: must not be more than item_bytes: an entry is a part of an item",
                  "indexes[4].name: must be another than that of the indexes before",
                  "indexes[4].key_changes_percent: must not be more than changes_percent, of which it is a part"));
}

TEST(Workload, ACommandLineIsToldItsOptions) {
  EXPECT_EQ(field_text("item_bytes", InputForm::json), "item_bytes");
  EXPECT_EQ(field_text("item_bytes", InputForm::command_line), "--item-bytes");
  EXPECT_EQ(field_text("indexes", InputForm::command_line), "--index");
  EXPECT_EQ(field_text("indexes[1].entry_bytes", InputForm::command_line), "--index 2: entry_bytes");
  EXPECT_EQ(field_text("indexes[0]", InputForm::command_line), "--index 1");
  json::Document document;
  json::FieldErrors errors;
  ASSERT_TRUE(document.parse(R"({"item_bytes": 10, "writes": "", "items": 1, "storage_gb": 1,
                                 "indexes": [{"projection": "KEYS_ONLY", "entry_bytes": 11}]})",
                             errors));
  EXPECT_FALSE(read_workload(document.root(), errors, InputForm::command_line));
  std::vector<std::string> faults;
  for (const json::FieldError& error : errors.list())
    faults.push_back(field_text(error.field, InputForm::command_line) + ": " + error.rule);
  EXPECT_THAT(faults,
              ElementsAre("--writes: must be a number such as 12 or 0.5, from 0 to 100000000 with at most 3 digits "
                          "behind the point",
                          "--storage-gb: must be left out where --items is given",
                          "--index 1: entry_bytes: must not be more than --item-bytes: an entry is a part of an item"));
}

TEST(Workload, FieldsThatAreGivenTwiceAreRefused) {
  EXPECT_THAT(workload_faults(R"({"item_bytes": 10, "writes": 1, "writes": 2, "indexes": [{"projection": "ALL",
                                 "queries": 1, "queries": 1}]})"),
              ElementsAre("indexes[0].queries: must not be given twice", "writes: must not be given twice"));
}

}  // namespace
}  // namespace postino::capacity
