// How many keys RocksDB looks at, those included that no reader gets to see: removed ones and old versions.
#pragma once

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <cstdint>
#include <utility>

namespace postino::engine {

// Counts the keys that the iterators of this thread step over while it exists.
class SteppedKeys {
 public:
  SteppedKeys() : level_(rocksdb::GetPerfLevel()) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    seen_ = total();
  }
  ~SteppedKeys() { rocksdb::SetPerfLevel(level_); }
  SteppedKeys(const SteppedKeys&) = delete;
  SteppedKeys& operator=(const SteppedKeys&) = delete;

  // Since it was asked last.
  std::uint64_t count() {
    const std::uint64_t now = total();
    return now - std::exchange(seen_, now);
  }

 private:
  static std::uint64_t total() {
    const rocksdb::PerfContext& context = *rocksdb::get_perf_context();
    return context.internal_key_skipped_count + context.internal_delete_skipped_count;
  }

  const rocksdb::PerfLevel level_;
  std::uint64_t seen_ = 0;
};

}  // namespace postino::engine
