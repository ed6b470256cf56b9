// What estimates and observations have in common as JSON. Decimals are texts, so that no program reads them as binary
// fractions.
#pragma once

#include <string_view>

#include "capacity/price_book.h"
#include "capacity/pricing.h"
#include "json/writer.h"

namespace postino::capacity {

// Which prices were used.
void write_prices(json::Writer& json, const PriceBook& book);
void write_costs(json::Writer& json, std::string_view name, const Costs& costs);

}  // namespace postino::capacity
