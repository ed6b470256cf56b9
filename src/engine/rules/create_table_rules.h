// What a CreateTable request must satisfy before anything is looked up. Pure; the first broken rule is reported, in
// DynamoDB's order.
#pragma once

#include "store/error.h"
#include "store/table_operations.h"

namespace postino::engine {

store::Answer<void> check_create_table(const store::CreateTableRequest& request);

}  // namespace postino::engine
