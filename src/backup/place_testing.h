// A place in memory with a folder of files to back up, for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "backup/backup_reader.h"
#include "backup/backup_writer.h"
#include "base/temporary_directory.h"
#include "objects/memory_objects_testing.h"

namespace postino::backup {

inline MasterKey master_key(char digit) { return *MasterKey::parse(std::string(64, digit)); }

class BackupTest : public testing::Test {
 protected:
  // Takes the place of what was there.
  void put_file(const std::string& path, const std::string& contents) {
    const std::filesystem::path file = source_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
  }
  // Bytes that no other seed gives.
  static std::string contents_of(std::uint64_t seed, std::size_t size) {
    base::SeededRandom random(seed);
    std::string bytes;
    while (bytes.size() < size) bytes += std::to_string(random.next());
    bytes.resize(size);
    return bytes;
  }
  std::map<std::string, std::string> files_of(const std::filesystem::path& directory) {
    std::map<std::string, std::string> found;
    const auto files = files_below(directory, "");
    for (const SourceFile& each : *files) {
      std::ifstream in(each.file, std::ios::binary);
      found[each.path] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    return found;
  }

  base::Result<Manifest> try_write(const std::optional<MasterKey>& master = std::nullopt) {
    TRY(const SealedForm form, form_to_write(place_, master, random_));
    Manifest begun;
    begun.number = ++number_;
    begun.taken = clock_.now();
    begun.id = make_backup_id(begun.taken, static_cast<std::uint32_t>(number_));
    begun.store = "store";
    begun.program = "1";
    BackupWriter writer(place_, form, random_, [](const Manifest&) { return base::Result<void>(); });
    TRY(std::vector<SourceFile> files, files_below(source_.path(), ""));
    return writer.write(std::move(begun), std::move(files), clock_);
  }
  Manifest write(const std::optional<MasterKey>& master = std::nullopt) {
    auto written = try_write(master);
    EXPECT_TRUE(written) << written.error().message;
    return *std::move(written);
  }

  template <class T>
  static std::string error_of(const base::Result<T>& result) {
    return result ? "" : result.error().message;
  }

  base::ManualClock clock_{base::TimePoint(std::chrono::seconds(1'767'323'045))};  // 2026-01-02T03:04:05Z
  base::SeededRandom random_{7};
  objects::MemoryObjects objects_{clock_};
  Place place_{objects_, "mine/"};
  base::TemporaryDirectory source_;
  std::int64_t number_ = 0;
};

}  // namespace postino::backup
