// What is stored of the audit, read in order.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::access {

// Safe to use from any thread, if the store is.
struct AuditItems {
  store::Store& store;
  const std::string& table;
  const store::Retry& retry;

  // Calls `see` for each item of a partition, in the order of sort keys or the reverse of it, behind that of `after`
  // unless it is empty, until there is none or `see` answers false.
  using See = std::function<bool(const item::Item& item)>;
  store::Answer<void> walk(const std::string& partition, bool forward, const std::string& after, const See& see) const;
  store::Answer<std::optional<item::Item>> get(const std::string& partition, const std::string& sort_key) const;
};

}  // namespace postino::access
