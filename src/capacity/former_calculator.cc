#include "capacity/former_calculator.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "json/writer.h"

namespace postino::capacity {

namespace {

using json::Fields;
using Need = Fields::Need;

constexpr double unit_hour_price = 0.00065;  // of reads and of writes
constexpr double month_hours = 730;
constexpr double gigabyte_price = 0.25;
constexpr double million_requests_price = 1.25;  // of reads and of writes
constexpr std::int64_t days_per_month = 30;

// As Python's round(value, 2): by the exact value of the binary fraction.
double rounded_to_cents(double value) {
  std::array<char, 400> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 2);
  CHECK(written.ec == std::errc());
  double result = 0;
  std::from_chars(digits.data(), written.ptr, result);
  return result;
}

// The shortest text that is read as the same fraction, as Python prints it.
std::string shortest(double value) {
  std::array<char, 400> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  CHECK(written.ec == std::errc());
  std::string text(digits.data(), written.ptr);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

double on_demand_cost(std::int64_t per_second, std::int64_t hours_per_day) {
  const std::int64_t requests = per_second * 60 * 60 * hours_per_day * days_per_month;
  return static_cast<double>(requests) / 1e6 * million_requests_price;
}

std::optional<double> read_size(Fields& fields, std::string_view name, Need need) {
  const auto element = fields.any(name, need);
  if (!element) return std::nullopt;
  std::optional<double> value = element->number();
  if (const auto text = element->text()) {
    double parsed = 0;
    const auto read = std::from_chars(text->data(), text->data() + text->size(), parsed, std::chars_format::fixed);
    if (read.ec == std::errc() && read.ptr == text->data() + text->size()) value = parsed;
  }
  if (value && *value >= 0 && *value <= FormerLimits::size) return std::abs(*value);  // -0 is 0
  fields.refuse(name, "must be a number from 0 to 1000000");
  return std::nullopt;
}

void write_former_costs(json::Writer& json, std::string_view name, const FormerCosts& costs, std::string_view reads,
                        std::string_view writes) {
  json.key(name).begin_object();
  json.key(reads).raw(shortest(costs.reads));
  json.key(writes).raw(shortest(costs.writes));
  json.key("storage_cost").raw(shortest(costs.storage));
  json.key("total").raw(shortest(costs.total));
  json.end_object();
}

}  // namespace

std::int64_t former_read_capacity(std::int64_t reads_per_second, double item_size_kb, bool consistent) {
  const auto blocks = std::max<std::int64_t>(1, static_cast<std::int64_t>((item_size_kb + 3) / 4));
  const std::int64_t units = reads_per_second * blocks;
  return consistent ? units : units / 2;
}

std::int64_t former_write_capacity(std::int64_t writes_per_second, double item_size_kb) {
  return writes_per_second * std::max<std::int64_t>(1, static_cast<std::int64_t>(item_size_kb));
}

FormerCosts former_monthly_cost(std::int64_t read_units, std::int64_t write_units, double storage_gb) {
  const double reads = static_cast<double>(read_units) * unit_hour_price * month_hours;
  const double writes = static_cast<double>(write_units) * unit_hour_price * month_hours;
  const double storage = storage_gb * gigabyte_price;
  return {rounded_to_cents(reads), rounded_to_cents(writes), rounded_to_cents(storage),
          rounded_to_cents(reads + writes + storage)};
}

FormerAnalysis former_analysis(const FormerLoad& load) {
  FormerAnalysis analysis;
  analysis.read_units = former_read_capacity(load.reads_per_second, load.item_size_kb, true);
  analysis.eventual_read_units = former_read_capacity(load.reads_per_second, load.item_size_kb, false);
  analysis.write_units = former_write_capacity(load.writes_per_second, load.item_size_kb);
  analysis.provisioned = former_monthly_cost(analysis.read_units, analysis.write_units, load.storage_gb);
  const double reads = on_demand_cost(load.reads_per_second, load.hours_active_per_day);
  const double writes = on_demand_cost(load.writes_per_second, load.hours_active_per_day);
  const double storage = load.storage_gb * gigabyte_price;
  const double total = reads + writes + storage;
  analysis.on_demand = {rounded_to_cents(reads), rounded_to_cents(writes), rounded_to_cents(storage),
                        rounded_to_cents(total)};
  // One of both sums is rounded, the other is not.
  analysis.recommendation = analysis.provisioned.total < total ? "provisioned" : "on-demand";
  analysis.savings = std::abs(analysis.provisioned.total - total);
  return analysis;
}

const std::vector<std::string>& former_contradictions() {
  static const std::vector<std::string> contradictions = {
      "It says that it rounds an item up to blocks of 4 KB, but int((size + 3) / 4) rounds down what is not whole "
      "kilobytes: 4.5 KB is one block; AWS counts two.",
      "It says that it rounds an item up to blocks of 1 KB, but max(1, int(size)) rounds down: a write of 3.9 KB is 3 "
      "units; AWS counts 4.",
      "It says that a unit is two eventual reads, and cuts the half off: one such read a second needs 0 units, three "
      "need 1.",
      "It charges $0.00065 for an hour of a read unit, as of a write unit. AWS charges a fifth of that for reads.",
      "It charges $1.25 for a million reads on demand, as for writes. AWS charged $0.25 for reads when writes were "
      "$1.25, and charges $0.125 and $0.625 since November 2024.",
      "It counts requests on demand, not units: with items of 3 KB it pays 3 units for a provisioned write, and one "
      "for a write on demand. AWS counts the same units in both modes.",
      "It has two months: 730 hours of provisioned capacity, and 30 days, which are 720 hours, of requests on demand.",
      "hours_active_per_day changes the requests on demand alone: provisioned capacity is paid for all day, and is "
      "used "
      "to the full.",
      "The example that it prints has no storage_cost, in neither mode, although both totals contain it; and it has "
      "162.00, 32.40 and 206.90 where json.dumps prints 162.0, 32.4 and 206.9.",
      "It compares a rounded total with one that is not, and does not round the savings: they can have many digits.",
      "It takes consistent reads for the comparison, although the same document recommends eventual ones.",
      "It takes a region, and has the same prices for all.",
  };
  return contradictions;
}

std::optional<FormerLoad> read_former_load(json::Element element, json::FieldErrors& errors) {
  Fields fields(element, "", errors);
  FormerLoad load;
  load.reads_per_second = fields.integer("reads_per_second", Need::required, 0, FormerLimits::rate).value_or(0);
  load.writes_per_second = fields.integer("writes_per_second", Need::required, 0, FormerLimits::rate).value_or(0);
  load.item_size_kb = read_size(fields, "item_size_kb", Need::required).value_or(0);
  load.storage_gb = read_size(fields, "storage_gb", Need::required).value_or(0);
  load.hours_active_per_day = fields.integer("hours_active_per_day", Need::optional, 0, FormerLimits::hours_per_day)
                                  .value_or(load.hours_active_per_day);
  fields.refuse_others();
  if (!errors.empty()) return std::nullopt;
  return load;
}

std::string to_json(const FormerAnalysis& analysis) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("read_units").integer(analysis.read_units);
  json.key("eventual_read_units").integer(analysis.eventual_read_units);
  json.key("write_units").integer(analysis.write_units);
  write_former_costs(json, "provisioned", analysis.provisioned, "rcu_cost", "wcu_cost");
  write_former_costs(json, "on_demand", analysis.on_demand, "read_cost", "write_cost");
  json.key("recommendation").string(analysis.recommendation);
  json.key("savings").raw(shortest(analysis.savings));
  json.key("notes").begin_array();
  for (const std::string& note : former_contradictions()) json.string(note);
  json.end_array();
  json.end_object();
  return text;
}

}  // namespace postino::capacity
