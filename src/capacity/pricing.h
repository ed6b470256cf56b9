// From units to money. Pure functions; amounts are exact until they are rounded to cents, each by itself, as on a bill.
#pragma once

#include "capacity/decimal.h"
#include "capacity/price_book.h"

namespace postino::capacity {

inline constexpr int cents = 2;           // digits behind the point of an amount
inline constexpr int percent_places = 1;  // and of a percentage
inline constexpr std::int64_t seconds_per_hour = 3'600;

// What a month costs.
struct Costs {
  Decimal reads;
  Decimal writes;
  Decimal stream_reads;
  Decimal storage;

  Decimal total() const { return reads + writes + stream_reads + storage; }
  Decimal requests() const { return reads + writes; }
};
Costs operator+(const Costs& a, const Costs& b);

Decimal on_demand_read_cost(const ClassPrices& prices, const Decimal& units);
Decimal on_demand_write_cost(const ClassPrices& prices, const Decimal& units);
// Of capacity that is there for the whole month.
Decimal provisioned_read_cost(const PriceBook& book, const ClassPrices& prices, std::int64_t units);
Decimal provisioned_write_cost(const PriceBook& book, const ClassPrices& prices, std::int64_t units);
Decimal stream_read_cost(const PriceBook& book, const Decimal& reads);
Decimal storage_cost(const ClassPrices& prices, const Decimal& gigabytes);

Decimal gigabytes_of(const Decimal& bytes);

// How much of provisioned capacity must be used so that it costs no more than the same requests on demand.
Decimal break_even_utilisation_percent(const Decimal& provisioned_hour, const Decimal& on_demand_million);

// Units of capacity that must be provisioned for so many units a second, if no more than this part is to be used; at
// least one.
std::int64_t provisioned_units(const Decimal& units_per_second, std::int64_t utilisation_percent);

}  // namespace postino::capacity
