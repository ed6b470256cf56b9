// The capacity calculator of a former system, a program in Python, with its formulas and prices as they were: for those
// who compare new figures with old ones. AWS meters and charges otherwise: see estimate.h.
//
// It calculates with binary fractions, as that program did: with exact decimals other cents would come out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/fields.h"

namespace postino::capacity {

struct FormerLimits {
  // With these, every number of units or requests is a binary fraction without loss.
  static constexpr std::int64_t rate = 100'000'000;  // requests a second
  static constexpr double size = 1e6;                // kilobytes of an item, gigabytes of storage
  static constexpr std::int64_t hours_per_day = 24;
};

// Units, as it rounds them.
std::int64_t former_read_capacity(std::int64_t reads_per_second, double item_size_kb, bool consistent);
std::int64_t former_write_capacity(std::int64_t writes_per_second, double item_size_kb);

struct FormerCosts {
  double reads = 0;
  double writes = 0;
  double storage = 0;
  double total = 0;
};
// Of provisioned capacity, a month.
FormerCosts former_monthly_cost(std::int64_t read_units, std::int64_t write_units, double storage_gb);

struct FormerLoad {
  std::int64_t reads_per_second = 0;
  std::int64_t writes_per_second = 0;
  double item_size_kb = 0;
  double storage_gb = 0;
  std::int64_t hours_active_per_day = 24;
};

struct FormerAnalysis {
  std::int64_t read_units = 0;           // of consistent reads, by which it compares
  std::int64_t eventual_read_units = 0;  // of others
  std::int64_t write_units = 0;
  FormerCosts provisioned;
  FormerCosts on_demand;
  std::string recommendation;  // "provisioned" or "on-demand"
  double savings = 0;          // not rounded
};
FormerAnalysis former_analysis(const FormerLoad& load);

// Where its formulas contradict its own words, the example that it prints, or AWS.
const std::vector<std::string>& former_contradictions();

// nullopt, with the fields and the rules that they break in the errors.
std::optional<FormerLoad> read_former_load(json::Element element, json::FieldErrors& errors);
// With the names of that program, and the contradictions as notes.
std::string to_json(const FormerAnalysis& analysis);

}  // namespace postino::capacity
