// Changes as lines of JSON in files: "tickets-000001.jsonl", "tickets-000002.jsonl" and so on.
//
// The checkpoint says which file it is at and how much of it counts. A new number is in the checkpoint before its file
// is made, and it is behind all files that are there. So a file that the checkpoint does not name is never written to.
// No file is ever cut, either: what a process wrote beyond the checkpoint before it ended is compared with what is to
// be written. If it is the begin of that, the rest is added, so that no change is there twice and none is missing. If
// it is something else, such as lines from before a backup was restored, they stay, and a new file is begun.
#pragma once

#include <filesystem>
#include <string>

#include "base/descriptor.h"
#include "metrics/sinks/delivery.h"

namespace postino::metrics {

struct FileSinkOptions {
  std::filesystem::path directory;    // made when it is missing, for its owner alone
  std::string name;                   // "tickets"
  std::size_t file_bytes = 64 << 20;  // a new file is begun when one is larger
};

class FileSink final : public Delivery {
 public:
  FileSink(std::string table, const base::Clock& clock, FileSinkOptions options)
      : Delivery(std::move(table), clock), options_(std::move(options)) {}

  void leave() override { file_.reset(); }

 protected:
  Outcome<bool> prepare(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) override;
  Outcome<void> deliver(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) override;

 private:
  struct Place {
    std::int64_t number = 0;  // of the file; 0: none was begun
    std::int64_t bytes = 0;   // of it that count
    bool operator==(const Place&) const = default;
  };
  static Place place_in(const Checkpoint& checkpoint);

  std::filesystem::path path_of(std::int64_t number) const;
  std::string lines_of(std::span<const store::StreamRecord> records) const;
  // The highest number of a file of this name; 0: there is none.
  Outcome<std::int64_t> highest_number() const;
  Outcome<void> open(const Place& place, int flags);
  // Opens the file that the checkpoint names. False, with a line in the log: it is not as it was left.
  Outcome<bool> open_again(const Place& place, const std::string& lines);
  // How much of the lines the file has already, behind what counts; nullopt: it has something else there.
  Outcome<std::optional<std::size_t>> there_already(const Place& place, const std::string& lines) const;
  // Is the open file still the one of that name? Another program may have removed or replaced it.
  bool is_in_place() const;

  const FileSinkOptions options_;
  base::Descriptor file_;
  Place open_;  // what the open file is
};

}  // namespace postino::metrics
