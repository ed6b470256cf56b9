// Results that were dear to compute, for 15 minutes. Readers check that they have not expired; the store removes
// them later. Safe to call from any thread.
#pragma once

#include <optional>
#include <string>

#include "support/ticket_store.h"

namespace postino::support {

inline constexpr base::Milliseconds usual_cache_life = std::chrono::minutes(15);

class Cache {
 public:
  explicit Cache(TicketStore& store) : store_(store) {}

  // Replaces what was there. Callers of each tenant, and those bound to a customer, have entries of their own.
  OrRefusal<void> put(const std::string& key, const item::Map& data, const Actor& actor,
                      base::Milliseconds life = usual_cache_life);
  OrRefusal<std::optional<item::Map>> get(const std::string& key, const Actor& actor);

 private:
  TicketStore& store_;
};

}  // namespace postino::support
