// What a workload takes and costs a month on DynamoDB: its units, provisioned capacity and on demand, which is cheaper,
// and where both cost the same. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capacity/price_book.h"
#include "capacity/pricing.h"
#include "capacity/workload.h"

namespace postino::capacity {

enum class Mode { on_demand, provisioned };
std::string_view name_of(Mode mode);  // "on_demand"

enum class UnitKind { read, write, stream_read };
std::string_view name_of(UnitKind kind);  // "stream_read"

// One kind of request.
struct EstimateLine {
  std::string what;   // "strong reads"
  std::string index;  // empty: of the table itself
  UnitKind unit = UnitKind::read;
  Decimal per_second;
  Decimal units_each;
  Decimal units_per_second;
};

// What must be provisioned for the table, or for one of its indexes.
struct ProvisionedCapacity {
  std::string index;  // empty: the table
  std::int64_t read_units = 0;
  std::int64_t write_units = 0;
};

struct BreakEven {
  // With the capacity that is provisioned for these requests: on demand is cheaper below this part of them, and with
  // fewer hours a day. nullopt: one of the two costs nothing, the capacity serves no such part, or a day has not so
  // many hours.
  std::optional<Decimal> load_percent;
  std::optional<Decimal> hours_per_day;
  // Whatever the requests are: how much of provisioned capacity must be used so that it is cheaper.
  Decimal read_utilisation_percent;
  Decimal write_utilisation_percent;
};

struct Estimate {
  std::vector<EstimateLine> lines;
  Decimal read_units_per_second;
  Decimal write_units_per_second;
  Decimal read_units_per_month;
  Decimal write_units_per_month;
  Decimal stream_reads_per_month;
  Decimal storage_gb;
  std::vector<ProvisionedCapacity> capacity;
  Costs provisioned;
  Costs on_demand;
  Mode recommendation = Mode::on_demand;
  Decimal saving;
  Decimal saving_percent;
  BreakEven break_even;
  std::vector<std::string> notes;
};

Estimate estimate(const Workload& workload, const PriceBook& book);

std::string to_json(const Estimate& estimate, const PriceBook& book);

}  // namespace postino::capacity
