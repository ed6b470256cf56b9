#include "outbox/ledger/malformed_records.h"

#include "base/log.h"

namespace postino::outbox {

void MalformedRecords::note(const std::string& id, const base::Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (errors_.contains(id) || errors_.size() >= most) return;
    errors_.emplace(id, error.message);
    are_any_ = true;
  }
  base::log_error("outbox", "the record of an e-mail cannot be read, and is left alone",
                  {{"id", id}, {"error", error.message}});
}

void MalformedRecords::forget(const std::string& id) {
  if (!are_any_) return;
  const std::lock_guard lock(mutex_);
  errors_.erase(id);
  are_any_ = !errors_.empty();
}

std::size_t MalformedRecords::count() const {
  if (!are_any_) return 0;
  const std::lock_guard lock(mutex_);
  return errors_.size();
}

std::vector<MalformedRecord> MalformedRecords::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<MalformedRecord> records;
  for (const auto& [id, error] : errors_) records.push_back({id, error});
  return records;
}

}  // namespace postino::outbox
