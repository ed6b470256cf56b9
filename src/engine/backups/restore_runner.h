// Fills the tables that are being restored, and the images of backups that are being made, one after the other.
//
// A portion of items, their index entries and how far it got are one commit, and what a table was at the end of a
// second does not change. So a restore that a crash has ended goes on where it was. The table is opened for use by a
// commit of its own, when all others are on disk.
#pragma once

#include <future>
#include <memory>
#include <optional>

#include "engine/backups/past_items.h"
#include "engine/catalog/core.h"

namespace postino::engine {

// Used by one thread at a time.
class RestoreRunner {
 public:
  explicit RestoreRunner(Core& core) : core_(core) {}
  ~RestoreRunner();

  // One bounded round. True when there is more to do right away.
  store::Answer<bool> run_once();

 private:
  struct Job {
    TablePointer table;                 // or image
    std::optional<std::string> backup;  // that the image belongs to
    std::unique_ptr<PastItems> items;
    std::future<base::Result<void>> under_way;  // the last portion, on its way to the disk
  };

  // The table or image that comes next, if there is one. Images come first: their tables cannot be deleted until then.
  base::Result<std::optional<Job>> next_job() const;
  // These are true when there is more to do for the table.
  store::Answer<bool> run_job();
  base::Result<bool> run_portion();
  store::Answer<bool> finish();
  store::Answer<bool> give_up(const std::string& reason);
  // Waits for the last portion.
  base::Result<void> settle();

  Core& core_;
  std::optional<Job> job_;
};

}  // namespace postino::engine
