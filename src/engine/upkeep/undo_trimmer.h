// Keeps undo records as long as tables can be brought back, and no longer.
#pragma once

#include "engine/catalog/core.h"

namespace postino::engine {

// Used by one thread at a time.
class UndoTrimmer {
 public:
  explicit UndoTrimmer(Core& core) : core_(core) {}

  // One bounded round. Nothing more to do right away.
  store::Answer<bool> run_once();

 private:
  // Until when records of the table go; nullopt: not yet.
  base::Result<std::optional<base::TimePoint>> due(const CatalogState& state, const Table& table) const;

  Core& core_;
};

}  // namespace postino::engine
