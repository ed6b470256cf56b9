// RocksDB's table files, read without RocksDB: each by itself and block by block, so that damage costs no more than the
// blocks it is in. Nothing is changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::engine {

enum class RecordKind : std::uint8_t { deletion = 0, value = 1, range_deletion = 15 };

// One version of a key. Of several versions the one with the largest sequence number holds.
struct Record {
  std::string_view key;
  std::uint64_t sequence = 0;
  RecordKind kind = RecordKind::value;
  std::string_view value;  // of a range deletion: the end of the range
};

// Part of a file that cannot be read.
struct LostPart {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class TableFile {
 public:
  // Finds the blocks: by the file's index, or where that is damaged, by trying which bytes have a checksum behind them.
  // Fails when there is no such file, or it may not be read.
  static base::Result<TableFile> open(const std::filesystem::path& file);

  // The number of the column family, when the file still says it.
  std::optional<std::uint64_t> family() const { return family_; }
  // How many records the file had, when it still says it.
  std::optional<std::uint64_t> record_count() const { return record_count_; }
  // Known after each_record().
  const std::vector<LostPart>& lost() const { return lost_; }

  void each_record(const std::function<void(const Record&)>& each);

 private:
  struct Block {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // without the trailer
  };

  bool find_blocks_by_index();
  void find_blocks_by_checksum();
  void take_found_block(const Block& block, bool& in_data);
  std::optional<Block> block_at(std::uint64_t offset, std::uint64_t most) const;
  std::optional<Block> block_behind(std::uint64_t offset) const;
  std::optional<std::string> contents_of(const Block& block) const;
  void read_properties(std::string_view contents);

  std::string bytes_;
  std::optional<std::uint64_t> family_;
  std::optional<std::uint64_t> record_count_;
  std::vector<Block> blocks_;  // with records
  std::vector<LostPart> lost_;
};

}  // namespace postino::engine
