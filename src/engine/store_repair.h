// Saves what can be saved of a damaged store that is not open. The damaged one is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/recovery/findings.h"
#include "engine/recovery/repair_step.h"
#include "store/table_setup.h"

namespace postino::engine {

struct StoreRepair {
  bool needed = false;                // otherwise the store is sound, and nothing was done
  std::vector<std::string> problems;  // that were found, as check_store() says them
  std::vector<std::string> notes;     // of an earlier repair that was interrupted
  std::filesystem::path kept_in;      // where the damaged store is now; empty when the store itself was whole
  Findings lost;                      // what could not be saved
  StoreCounts saved;
  bool recount_due = false;  // because of this repair or an earlier one: see is_recount_due()
  std::string unfinished;    // why the new store, which is in its place, cannot be used before the next repair
};

// Makes a new store of everything in the old one that can be read, with indexes, expiry entries and counts made again
// from the items, and puts it in the old one's place. The old one goes to `keep_in`, which must not be there yet, be
// empty, or be what an interrupted repair of this store has left; below the data directory when there is no `keep_in`.
// A file LOST beside it says what could not be saved. Needs room for two more stores. When it fails, the old store is
// still in its place, and what was made is removed. A failure after the new store was put there is in `unfinished`; the
// next repair finishes this one. So it does if this one is killed; before the new store is in its place, it begins
// again. Until then the store cannot be opened. No repair removes a damaged store. `known` are the tables of services:
// by their keys they are found again when their records are lost.
base::Result<StoreRepair> repair_store(const std::filesystem::path& directory,
                                       const std::optional<std::filesystem::path>& keep_in, const base::Clock& clock,
                                       const std::vector<store::TableSetup>& known = {}, const AtStep& at = {});

// Has the store lost something, and have the services not made the counts again that they keep themselves? A file of
// the data directory says so, from before the new store is in its place, so that no repair that was interrupted forgets
// it.
bool is_recount_due(const std::filesystem::path& directory);
// They must, because one of these counts is found to be wrong. The caller is about to make them again.
base::Result<void> note_recount_due(const std::filesystem::path& directory);
// They have. The caller has just made them again.
base::Result<void> note_recounted(const std::filesystem::path& directory);

}  // namespace postino::engine
