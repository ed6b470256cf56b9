// Which partitions a request reads or writes: dynamodb:LeadingKeys.
#pragma once

#include "access/policies.h"
#include "wire/authorization/access_check.h"

namespace postino::wire {

// Adds the values of partition keys that the access touches. A scan touches none, as on AWS. `table` is asked for only
// when the request itself does not tell.
store::Answer<void> add_partition_keys(const ItemAccess& access, store::Store& store, access::Context& context);

// A value of a key as policies compare it: numbers in decimals, bytes in base64.
std::string key_text(const item::AttributeValue& value);

}  // namespace postino::wire
