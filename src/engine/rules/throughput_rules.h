// The rules for provisioned, on-demand and warm throughput, at creation and later. Pure: requests in, refusals out.
#pragma once

#include <string>

#include "store/constraints.h"
#include "store/table_operations.h"

namespace postino::engine {

// What an on-demand table can take from its first second on.
inline constexpr store::Throughput initial_on_demand = {12'000, 4'000};

void constrain_throughput(store::Constraints& constraints, const std::string& path,
                          const store::Throughput& throughput);

// Beyond these bounds DynamoDB does not even look at its quotas.
store::Answer<void> check_bounds(const store::Throughput& throughput);

store::Answer<void> check_new_table_throughput(const store::CreateTableRequest& request);
store::Answer<void> check_new_table_index_throughput(const store::GlobalIndexDefinition& index,
                                                     store::BillingMode billing_mode);
// An index added to a table that exists.
store::Answer<void> check_added_index_throughput(const store::GlobalIndexDefinition& index,
                                                 store::BillingMode billing_mode);

// Ceilings set later: -1 takes one away. An empty index name means the table.
store::Answer<void> check_on_demand_change(const store::OnDemandThroughput& ceilings, store::BillingMode billing_mode,
                                           const std::string& index_name);
// Warm throughput only grows; zero leaves a value as it is.
store::Answer<void> check_warm_change(const store::Throughput& wanted, const store::Throughput& current,
                                      const std::string& index_name);

}  // namespace postino::engine
