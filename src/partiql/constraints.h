// The shape of requests: what is checked before any statement is looked at.
#pragma once

#include "partiql/requests.h"

namespace postino::partiql {

store::Answer<void> check_shape(const ExecuteStatementRequest& request);
store::Answer<void> check_shape(const BatchExecuteStatementRequest& request);
store::Answer<void> check_shape(const ExecuteTransactionRequest& request);

}  // namespace postino::partiql
