// A change as JSON, for programs of others. Values are in DynamoDB's JSON, so that nothing of them is lost.
#pragma once

#include <string>

#include "store/stream.h"

namespace postino::metrics {

// {"sequence":"1000...","table":"...","event":"MODIFY","time":"...","keys":{...},"new":{...},"old":{...}} on one line;
// "expired":true for an item whose time to live was over. Sequences of a table grow from change to change: a receiver
// that remembers the last one knows what it has seen.
void append_change(std::string& out, const std::string& table, const store::StreamRecord& record);

}  // namespace postino::metrics
