// What a server makes on the disk while it starts, so that a start that fails leaves nothing behind.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace postino::app {

class StartTraces {
 public:
  // Notes what is there before the start. `spool` may be empty: then there is none.
  StartTraces(std::filesystem::path data, std::filesystem::path spool);

  // Takes away what was not there. Only when the store was new, and has been closed, and no client could write to it. A
  // data directory that another process has by now is left alone.
  void remove_new_store() const;
  // The same for the directory of payloads and messages: only what a start puts there.
  void remove_new_spool() const;

 private:
  const std::filesystem::path data_;
  const std::filesystem::path spool_;
  bool has_data_ = false;
  std::set<std::filesystem::path> in_data_;           // names
  std::vector<std::filesystem::path> missing_above_;  // the spool and directories above it that are to be made
  bool has_marker_ = false;                           // in the spool
};

}  // namespace postino::app
