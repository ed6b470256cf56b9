// Changes of provisioned throughput and billing mode, and the bookkeeping that limits decreases.
#pragma once

#include <string>

#include "engine/catalog/table.h"
#include "store/error.h"

namespace postino::engine {

// Decreases in the UTC day of `now`.
int decreases_today(const store::ThroughputDescription& throughput, base::TimePoint now);

// Provisions other values: refuses values that are no change, and decreases beyond four a day and one an hour after
// that. An empty index name means the table.
store::Answer<void> change_provisioned(store::ThroughputDescription& throughput, const store::Throughput& wanted,
                                       const std::string& index_name, base::TimePoint now);

// What a table and its indexes lose and get when the table is billed per request from now on.
void switch_to_pay_per_request(Table& table, base::TimePoint now);
// The other way: the caller provisions table and indexes afterwards.
void switch_to_provisioned(Table& table);

// Sets the ceilings that are given; -1 takes one away.
void change_on_demand(std::optional<store::OnDemandThroughput>& ceilings, const store::OnDemandThroughput& wanted);

}  // namespace postino::engine
