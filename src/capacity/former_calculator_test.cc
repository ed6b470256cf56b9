#include "capacity/former_calculator.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/random.h"

namespace postino::capacity {
namespace {

// --- That program once more, in the order of its own lines. Its round() is what the C library prints, which rounds by
// the exact value as Python does. tests/outbox_e2e/test_capacity_planner.py compares with Python itself.

double python_round(double value) {
  char text[400];
  std::snprintf(text, sizeof text, "%.2f", value);
  return std::strtod(text, nullptr);
}

struct Reference {
  long long rcu, wcu;
  double rcu_cost, wcu_cost, storage_cost, total;
  double read_cost, write_cost, on_demand_total, savings;
  std::string recommendation;
};

Reference reference(const FormerLoad& load) {
  Reference r{};
  long long read_blocks = static_cast<long long>(std::floor((load.item_size_kb + 3) / 4));
  if (read_blocks < 1) read_blocks = 1;
  long long write_blocks = static_cast<long long>(std::floor(load.item_size_kb));
  if (write_blocks < 1) write_blocks = 1;
  r.rcu = load.reads_per_second * read_blocks;
  r.wcu = load.writes_per_second * write_blocks;
  const double rcu_cost = static_cast<double>(r.rcu) * 0.00065 * 730;
  const double wcu_cost = static_cast<double>(r.wcu) * 0.00065 * 730;
  const double storage_cost = load.storage_gb * 0.25;
  r.rcu_cost = python_round(rcu_cost);
  r.wcu_cost = python_round(wcu_cost);
  r.storage_cost = python_round(storage_cost);
  r.total = python_round(rcu_cost + wcu_cost + storage_cost);
  const long long hours = load.hours_active_per_day;
  const double reads = static_cast<double>(load.reads_per_second * 60 * 60 * hours * 30);
  const double writes = static_cast<double>(load.writes_per_second * 60 * 60 * hours * 30);
  const double read_cost = (reads / 1000000) * 1.25;
  const double write_cost = (writes / 1000000) * 1.25;
  const double on_demand = read_cost + write_cost + load.storage_gb * 0.25;
  r.read_cost = python_round(read_cost);
  r.write_cost = python_round(write_cost);
  r.on_demand_total = python_round(on_demand);
  r.recommendation = r.total < on_demand ? "provisioned" : "on-demand";
  r.savings = std::fabs(r.total - on_demand);
  return r;
}

TEST(FormerCalculator, PrintsItsExample) {
  const FormerAnalysis analysis = former_analysis({100, 20, 3, 50, 12});
  EXPECT_EQ(analysis.read_units, 100);
  EXPECT_EQ(analysis.write_units, 60);
  EXPECT_EQ(analysis.provisioned.reads, 47.45);
  EXPECT_EQ(analysis.provisioned.writes, 28.47);
  EXPECT_EQ(analysis.provisioned.total, 88.42);
  EXPECT_EQ(analysis.on_demand.reads, 162.00);
  EXPECT_EQ(analysis.on_demand.writes, 32.40);
  EXPECT_EQ(analysis.on_demand.total, 206.90);
  EXPECT_EQ(analysis.recommendation, "provisioned");
  EXPECT_EQ(python_round(analysis.savings), 118.48);
}

TEST(FormerCalculator, CalculatesAsThatProgram) {
  base::SeededRandom random(16);
  for (int i = 0; i < 20'000; ++i) {
    FormerLoad load;
    load.reads_per_second = static_cast<std::int64_t>(random.next() % 10'000);
    load.writes_per_second = static_cast<std::int64_t>(random.next() % 10'000);
    load.item_size_kb = static_cast<double>(random.next() % 409'600) / 1'024;
    load.storage_gb = static_cast<double>(random.next() % 100'000) / 100;
    load.hours_active_per_day = static_cast<std::int64_t>(random.next() % 25);
    const FormerAnalysis analysis = former_analysis(load);
    const Reference expected = reference(load);
    ASSERT_EQ(analysis.read_units, expected.rcu);
    ASSERT_EQ(analysis.write_units, expected.wcu);
    ASSERT_EQ(analysis.provisioned.reads, expected.rcu_cost);
    ASSERT_EQ(analysis.provisioned.writes, expected.wcu_cost);
    ASSERT_EQ(analysis.provisioned.storage, expected.storage_cost);
    ASSERT_EQ(analysis.provisioned.total, expected.total);
    ASSERT_EQ(analysis.on_demand.reads, expected.read_cost);
    ASSERT_EQ(analysis.on_demand.writes, expected.write_cost);
    ASSERT_EQ(analysis.on_demand.storage, expected.storage_cost);
    ASSERT_EQ(analysis.on_demand.total, expected.on_demand_total);
    ASSERT_EQ(analysis.recommendation, expected.recommendation);
    ASSERT_EQ(analysis.savings, expected.savings);
  }
}

// --- What its notes claim

TEST(FormerCalculator, RoundsSizesDown) {
  EXPECT_EQ(former_read_capacity(1, 4.5, true), 1);
  EXPECT_EQ(former_read_capacity(1, 5, true), 2);
  EXPECT_EQ(former_write_capacity(1, 3.9), 3);
  EXPECT_EQ(former_write_capacity(1, 0.1), 1);
}

TEST(FormerCalculator, CutsHalvesOff) {
  EXPECT_EQ(former_read_capacity(1, 1, false), 0);
  EXPECT_EQ(former_read_capacity(3, 1, false), 1);
}

TEST(FormerCalculator, DoesNotCountUnitsOnDemand) {
  EXPECT_EQ(former_analysis({0, 10, 1, 0, 24}).on_demand.writes, former_analysis({0, 10, 400, 0, 24}).on_demand.writes);
  EXPECT_LT(former_analysis({0, 10, 1, 0, 24}).provisioned.writes,
            former_analysis({0, 10, 400, 0, 24}).provisioned.writes);
}

TEST(FormerCalculator, HoursChangeRequestsOnDemandAlone) {
  const FormerAnalysis day = former_analysis({100, 20, 3, 50, 24});
  const FormerAnalysis half = former_analysis({100, 20, 3, 50, 12});
  EXPECT_EQ(day.provisioned.total, half.provisioned.total);
  EXPECT_EQ(day.on_demand.reads, 2 * half.on_demand.reads);
}

TEST(FormerCalculator, TellsItsContradictions) {
  json::Document document;
  json::FieldErrors errors;
  ASSERT_TRUE(document.parse(to_json(former_analysis({100, 20, 3, 50, 12})), errors));
  EXPECT_EQ(document.root().member("notes")->elements().size(), former_contradictions().size());
  EXPECT_EQ(document.root().member("on_demand")->member("read_cost")->number(), 162.0);
}

// A binary fraction has two zeros, and a bill has one.
TEST(FormerCalculator, NoAmountIsMinusZero) {
  for (const char* const zero : {"-0.0", "\"-0.0\"", "-0"}) {
    json::Document document;
    json::FieldErrors errors;
    ASSERT_TRUE(
        document.parse(R"({"reads_per_second": 0, "writes_per_second": 0, "item_size_kb": -0.0, "storage_gb": )" +
                           std::string(zero) + "}",
                       errors));
    const auto load = read_former_load(document.root(), errors);
    ASSERT_TRUE(load) << zero;
    EXPECT_THAT(to_json(former_analysis(*load)), testing::Not(testing::HasSubstr("-0"))) << zero;
  }
}

TEST(FormerCalculator, FaultsNameTheFieldAndTheRule) {
  const auto faults = [](const std::string& text) {
    json::Document document;
    json::FieldErrors errors;
    EXPECT_TRUE(document.parse(text, errors));
    EXPECT_FALSE(read_former_load(document.root(), errors));
    std::vector<std::string> found;
    for (const json::FieldError& error : errors.list()) found.push_back(error.field + ": " + error.rule);
    return found;
  };
  EXPECT_THAT(faults("{}"), testing::ElementsAre("reads_per_second: is required", "writes_per_second: is required",
                                                 "item_size_kb: is required", "storage_gb: is required"));
  EXPECT_THAT(faults(R"({"reads_per_second": 1.5, "writes_per_second": -1, "item_size_kb": "3 KB", "storage_gb": -2,
                         "hours_active_per_day": 25, "region": "x"})"),
              testing::ElementsAre(
                  "reads_per_second: must be an integer from 0 to 100000000",
                  "writes_per_second: must be an integer from 0 to 100000000",
                  "item_size_kb: must be a number from 0 to 1000000", "storage_gb: must be a number from 0 to 1000000",
                  "hours_active_per_day: must be an integer from 0 to 24", "region: is an unknown field"));
}

}  // namespace
}  // namespace postino::capacity
