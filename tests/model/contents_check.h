// Does a store agree with itself? The items are taken for true; indexes, counts and the stream must follow from them.
#pragma once

#include <string>

#include "model_table.h"
#include "store/store.h"

namespace postino::model {

// The table's items, read by a scan, with the definition that `defined` has.
store::Answer<ModelTable> read_table(store::Store& store, const ModelTable& defined);

// Every index has exactly the entries of the items, and counts and sizes are right. What differs, or nothing.
std::string difference_of_indexes(store::Store& store, const ModelTable& table);

// The records of a stream with both images, applied to an empty table, lead step by step to these items.
std::string difference_after_replay(const ModelTable& table, const std::vector<store::StreamRecord>& records);

// All of it, with the stream read from its beginning. The table had its stream, with both images, from the start.
std::string difference_of_contents(store::Store& store, const ModelTable& defined);

}  // namespace postino::model
