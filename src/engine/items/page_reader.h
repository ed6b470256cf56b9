// Query and Scan: pages of items in key order.
#pragma once

#include "engine/catalog/core.h"
#include "store/item_operations.h"

namespace postino::engine {

// Reads see what is on disk at one point in time. Any thread.
class PageReader {
 public:
  explicit PageReader(const Core& core) : core_(core) {}

  store::Answer<store::PageResponse> query(const store::QueryRequest& request) const;
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) const;

 private:
  const Core& core_;
};

}  // namespace postino::engine
