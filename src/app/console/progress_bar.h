// How far something is, on one line of a terminal that is written again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

namespace postino::app {

// "sending  [######......]   50 %  1,000 of 2,000", in less than `columns`; without a total "reading  1,000".
std::string progress_line(const std::string& label, std::int64_t done, std::optional<std::int64_t> total, int columns);

class ProgressBar {
 public:
  // Shows nothing when `columns` says that this is no terminal.
  ProgressBar(std::ostream& out, std::optional<int> columns, std::string label,
              std::optional<std::int64_t> total = std::nullopt);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done);
  // Takes the line away, before something else is printed.
  void clear();

 private:
  std::ostream& out_;
  const std::optional<int> columns_;
  const std::string label_;
  const std::optional<std::int64_t> total_;
  std::string shown_;
};

}  // namespace postino::app
