#include "app/console/progress_bar.h"

#include <algorithm>

#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

constexpr int longest_bar = 40;
constexpr int shortest_bar = 8;
constexpr const char* erase_line = "\r\x1b[K";

std::string bar_of(std::int64_t done, std::int64_t total, int length) {
  const auto filled = static_cast<std::size_t>(done * length / total);
  return "[" + std::string(filled, '#') + std::string(static_cast<std::size_t>(length) - filled, '.') + "]  ";
}

}  // namespace

std::string progress_line(const std::string& label, std::int64_t done, std::optional<std::int64_t> total, int columns) {
  const int room = columns - 1;  // a full line would make some terminals scroll
  if (!total || *total <= 0) return shortened(label + "  " + grouped(done), room);
  done = std::clamp<std::int64_t>(done, 0, *total);
  const std::string percent = right_aligned(std::to_string(done * 100 / *total), 3) + " %";
  const std::string all = grouped(*total);
  const std::string figures = percent + "  " + right_aligned(grouped(done), display_width(all)) + " of " + all;
  const int frame = 4;  // brackets, and the gap behind them
  const int bar = std::min(longest_bar, room - display_width(label) - 2 - frame - display_width(figures));
  return shortened(label + "  " + (bar < shortest_bar ? "" : bar_of(done, *total, bar)) + figures, room);
}

ProgressBar::ProgressBar(std::ostream& out, std::optional<int> columns, std::string label,
                         std::optional<std::int64_t> total)
    : out_(out), columns_(columns), label_(std::move(label)), total_(total) {}

void ProgressBar::show(std::int64_t done) {
  if (!columns_) return;
  std::string line = progress_line(label_, done, total_, *columns_);
  if (line == shown_) return;
  out_ << erase_line << line << std::flush;
  shown_ = std::move(line);
}

void ProgressBar::clear() {
  if (shown_.empty()) return;
  out_ << erase_line << std::flush;
  shown_.clear();
}

}  // namespace postino::app
