#include "capacity/pricing.h"

#include <algorithm>

#include "capacity/units.h"

namespace postino::capacity {

namespace {

constexpr int quotient_places = 9;
constexpr std::int64_t million = 1'000'000;

// An amount of money for so many, when the price is for `lot` of them.
Decimal lot_cost(const Decimal& count, const Decimal& price, std::int64_t lot) {
  return (count * price).divided_by(lot, cents);
}

}  // namespace

Costs operator+(const Costs& a, const Costs& b) {
  return {a.reads + b.reads, a.writes + b.writes, a.stream_reads + b.stream_reads, a.storage + b.storage};
}

Decimal on_demand_read_cost(const ClassPrices& prices, const Decimal& units) {
  return lot_cost(units, prices.on_demand_read_million, million);
}

Decimal on_demand_write_cost(const ClassPrices& prices, const Decimal& units) {
  return lot_cost(units, prices.on_demand_write_million, million);
}

Decimal provisioned_read_cost(const PriceBook& book, const ClassPrices& prices, std::int64_t units) {
  return (Decimal(units) * book.hours_per_month * prices.provisioned_read_hour).rounded(cents);
}

Decimal provisioned_write_cost(const PriceBook& book, const ClassPrices& prices, std::int64_t units) {
  return (Decimal(units) * book.hours_per_month * prices.provisioned_write_hour).rounded(cents);
}

Decimal stream_read_cost(const PriceBook& book, const Decimal& reads) {
  return lot_cost(reads, book.stream_reads_100000, 100'000);
}

Decimal storage_cost(const ClassPrices& prices, const Decimal& gigabytes) {
  return (gigabytes * prices.storage_gb_month).rounded(cents);
}

Decimal gigabytes_of(const Decimal& bytes) { return bytes.divided_by(gigabyte, quotient_places); }

Decimal break_even_utilisation_percent(const Decimal& provisioned_hour, const Decimal& on_demand_million) {
  if (on_demand_million.is_zero()) return 100;
  return (provisioned_hour * (100 * million)).divided_by(on_demand_million * seconds_per_hour, percent_places);
}

std::int64_t provisioned_units(const Decimal& units_per_second, std::int64_t utilisation_percent) {
  const Decimal needed = (units_per_second * 100).divided_by(utilisation_percent, quotient_places);
  return std::max<std::int64_t>(1, needed.ceiling());
}

}  // namespace postino::capacity
