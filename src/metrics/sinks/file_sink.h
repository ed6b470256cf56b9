// Changes as lines of JSON in files: "tickets-000001.jsonl", "tickets-000002.jsonl" and so on.
//
// The checkpoint says which file it is at and how long it was. What a process wrote beyond that before it ended is cut
// off by the next one, so that no change is there twice and none is missing.
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
  FileSink(store::Store& store, std::string table, const base::Clock& clock, FileSinkOptions options)
      : Delivery(store, std::move(table), clock), options_(std::move(options)) {}

  void leave() override { file_.reset(); }

 protected:
  Outcome<void> deliver(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) override;

 private:
  struct Place {
    std::int64_t number = 1;  // of the file
    std::int64_t bytes = 0;   // of it that count
  };
  static Place place_in(const Checkpoint& checkpoint);

  std::filesystem::path path_of(std::int64_t number) const;
  // Ready to be written at its end.
  Outcome<void> open(Place& place);
  Outcome<void> create(Place& place);

  const FileSinkOptions options_;
  base::Descriptor file_;
  Place open_;
};

}  // namespace postino::metrics
