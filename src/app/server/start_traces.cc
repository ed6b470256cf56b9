#include "app/server/start_traces.h"

#include <system_error>
#include <utility>

#include "engine/new_store.h"
#include "outbox/ledger/directory_spool.h"

namespace postino::app {

namespace fs = std::filesystem;

StartTraces::StartTraces(fs::path data, fs::path spool) : data_(std::move(data)), spool_(std::move(spool)) {
  std::error_code error;
  has_data_ = fs::exists(data_, error) || error;
  for (fs::directory_iterator entry(data_, error), end; !error && entry != end; entry.increment(error))
    in_data_.insert(entry->path().filename());
  if (spool_.empty()) return;
  has_marker_ = fs::exists(spool_ / outbox::spool_marker, error) || error;
  for (fs::path each = spool_.lexically_normal(); !each.empty() && !fs::exists(each, error) && !error;
       each = each.parent_path())
    missing_above_.push_back(each);
}

void StartTraces::remove_new_store() const {
  engine::remove_new_store(data_, in_data_);
  std::error_code error;
  if (!has_data_) fs::remove(data_, error);  // if it is empty
}

void StartTraces::remove_new_spool() const {
  std::error_code error;
  if (spool_.empty()) return;
  if (!has_marker_) fs::remove(spool_ / outbox::spool_marker, error);
  for (const fs::path& each : missing_above_) fs::remove(each, error);  // those that are empty
}

}  // namespace postino::app
