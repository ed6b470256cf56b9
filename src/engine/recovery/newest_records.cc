#include "engine/recovery/newest_records.h"

#include <rocksdb/options.h>

#include <algorithm>

#include "base/bytes.h"
#include "engine/recovery/offline_database.h"

namespace postino::engine {

namespace {

constexpr std::size_t sorted_batch_bytes = 4 << 20;

// Family, size of the key, key: all versions of a key lie together. Then the sequence number turned round, so that the
// newest one comes first.
std::string sorted_prefix(Family family, std::string_view key) {
  std::string result(1, static_cast<char>(family));
  base::append_big_endian(result, static_cast<std::uint32_t>(key.size()));
  return result.append(key);
}

constexpr std::size_t sorted_key_begin = 1 + sizeof(std::uint32_t);

}  // namespace

base::Result<std::unique_ptr<NewestRecords>> NewestRecords::open(const std::filesystem::path& scratch) {
  std::unique_ptr<NewestRecords> records(new NewestRecords);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.info_log = silent_log();
  options.compression = rocksdb::kLZ4Compression;
  rocksdb::DB* opened = nullptr;
  if (const rocksdb::Status status = rocksdb::DB::Open(options, scratch.string(), &opened); !status.ok())
    return base::propagate(error_from(status));
  records->sorted_.reset(opened);
  return records;
}

void NewestRecords::add(Family family, const Record& record) {
  if (record.kind == RecordKind::range_deletion) {
    deleted_.push_back({family, std::string(record.key), std::string(record.value), record.sequence});
    return;
  }
  std::string key = sorted_prefix(family, record.key);
  base::append_big_endian(key, ~record.sequence);
  std::string value(1, static_cast<char>(record.kind));
  value.append(record.value);
  batch_.Put(key, value);
  write(false);
}

void NewestRecords::write(bool all) {
  if (!status_.ok() || batch_.Count() == 0 || (!all && batch_.GetDataSize() < sorted_batch_bytes)) return;
  rocksdb::WriteOptions options;
  options.disableWAL = true;  // an interrupted repair starts over
  status_ = sorted_->Write(options, &batch_);
  batch_.Clear();
}

bool NewestRecords::is_deleted(Family family, std::string_view key, std::uint64_t sequence) const {
  return std::ranges::any_of(deleted_, [&](const DeletedRange& range) {
    return range.family == family && range.sequence > sequence && range.first <= key && key < range.end;
  });
}

base::Result<void> NewestRecords::copy_to(Database& target) {
  write(true);
  if (!status_.ok()) return base::propagate(error_from(status_));
  rocksdb::WriteBatch batch;
  std::string last;
  const std::unique_ptr<rocksdb::Iterator> entries(sorted_->NewIterator(rocksdb::ReadOptions()));
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const std::string_view sorted = entries->key().ToStringView();
    const std::string_view prefix = sorted.substr(0, sorted.size() - sizeof(std::uint64_t));
    if (prefix == last) continue;  // an older version
    last = prefix;
    const auto family = static_cast<Family>(prefix.front());
    const std::string_view key = prefix.substr(sorted_key_begin);
    const std::string_view value = entries->value().ToStringView();
    const std::uint64_t sequence = ~base::load_big_endian<std::uint64_t>(sorted.data() + prefix.size());
    if (static_cast<RecordKind>(value.front()) != RecordKind::value || is_deleted(family, key, sequence)) continue;
    batch.Put(target.handle(family), rocksdb::Slice(key.data(), key.size()),
              rocksdb::Slice(value.data() + 1, value.size() - 1));
    if (batch.GetDataSize() < sorted_batch_bytes) continue;
    TRY_VOID(target.write(batch));
    batch.Clear();
  }
  if (!entries->status().ok()) return base::propagate(error_from(entries->status()));
  return batch.Count() == 0 ? base::Result<void>() : target.write(batch);
}

}  // namespace postino::engine
