// Verifies a store that is not open: its files, and whether everything in them fits together. Changes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/recovery/findings.h"

namespace postino::engine {

struct StoreCheck {
  Findings problems;
  std::vector<std::string> notes;  // worth knowing, and no fault
  std::uint64_t files = 0;         // that were read: logs, and tables of RocksDB
  std::uint64_t bytes = 0;         // of these tables
  bool contents_checked = false;   // not when the files are damaged: what is missing would be found missing again
  StoreCounts counts;

  bool sound() const { return problems.empty(); }
};

// Fails with ErrorCode::not_found when there is no store, ErrorCode::conflict when a process has it open, and when the
// disk cannot be read. `each` has got all items if the result says that contents were checked.
base::Result<StoreCheck> check_store(const std::filesystem::path& directory, const base::Clock& clock,
                                     const EachItem& each = {});

// Fails unless there is a store. The marker of its data directory may be missing or damaged.
base::Result<void> find_store(const std::filesystem::path& directory);

// For one who has taken the directory.
base::Result<StoreCheck> check_locked_store(const std::filesystem::path& directory, const base::Clock& clock,
                                            const EachItem& each = {});

}  // namespace postino::engine
