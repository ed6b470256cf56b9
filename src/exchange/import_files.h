// The items of an import, read from the objects below a prefix.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exchange/bucket.h"
#include "exchange/transfers.h"

namespace postino::exchange {

inline constexpr std::size_t most_imported_objects = 50'000;

// The objects that have data: manifests, checksums and marks of exports have none.
base::Result<std::vector<ObjectName>> data_objects(Bucket& bucket, const std::string& prefix);

// Called for each record: an item, or why it is none. Returns false to stop.
using TakeItem = std::function<bool(base::Result<item::Item>)>;

// Fails when the object cannot be read to its end. `goes_on` is asked now and then, also where there are no records.
base::Result<void> read_object(Bucket& bucket, const ObjectName& object, const ImportRequest& request,
                               const std::function<bool()>& goes_on, const TakeItem& take);

}  // namespace postino::exchange
