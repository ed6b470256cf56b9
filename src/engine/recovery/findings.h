// What a look at a store found: one line for each, the first ones kept and all counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace postino::engine {

// "1 item", "2 items".
inline std::string counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

class Findings {
 public:
  void add(std::string line) {
    if (lines_.size() < most_lines) lines_.push_back(std::move(line));
    ++count_;
  }
  const std::vector<std::string>& lines() const { return lines_; }
  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

 private:
  static constexpr std::size_t most_lines = 1'000;

  std::vector<std::string> lines_;
  std::uint64_t count_ = 0;
};

}  // namespace postino::engine
