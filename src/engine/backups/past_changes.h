// What became of a table's items between two times: for each one that was written, what it was before and after.
//
// The undo records from the first time on have it: of each key, the first record has what was there at the first time,
// and the first one behind the second time what was there then; if there is none, the item is as it was then. What a
// part of the keys needs lies in memory; if that is too much, the smallest keys come first, and the records are walked
// over again for the rest, as for past items.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/catalog/core.h"
#include "store/store.h"

namespace postino::engine {

class PastChanges final : public store::ChangeReader {
 public:
  // Of the commits from `from` on and before `end`. `most_bytes` of images lie in memory at a time.
  PastChanges(const Database& database, TablePointer table, base::TimePoint from, base::TimePoint end,
              std::size_t most_bytes);

  store::Answer<store::ChangePortion> next() override;

 private:
  using Image = std::optional<std::string>;  // nullopt: there was no item
  struct Written {
    Image before;
    std::optional<Image> after;  // nullopt: as the item is
    std::int64_t last = 0;       // milliseconds
    bool counts = false;         // it was written between the two times
  };

  base::Result<bool> walk_over_records();
  void note(std::int64_t time, std::string_view key_rest, const std::optional<std::string_view>& image);
  void forget_last_key();
  void open_records();
  store::Answer<store::ItemChange> change_of(const std::string& key, const Written& written) const;

  const Database& database_;
  const TablePointer table_;
  const Snapshot snapshot_;
  const std::int64_t end_;  // milliseconds
  const std::string prefix_;
  const std::string after_table_;
  const std::string first_record_;
  const rocksdb::Slice records_lower_;
  const rocksdb::Slice records_upper_;
  const std::size_t most_bytes_;
  std::string from_key_;  // the part that is worked on: keys in [from_key_, until_key_)
  std::string until_key_;
  std::map<std::string, Written> written_;
  std::size_t bytes_ = 0;
  std::unique_ptr<rocksdb::Iterator> records_;  // while they are walked over
};

}  // namespace postino::engine
