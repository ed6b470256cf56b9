#include "app/console/table_text.h"

#include <algorithm>

#include "app/console/terminal_text.h"
#include "base/check.h"

namespace postino::app {

namespace {

constexpr int gap = 2;                  // between columns
constexpr int least_last_columns = 12;  // where nothing is left for the last column, its line is broken by the terminal

}  // namespace

TableText::TableText(std::vector<Column> columns, std::optional<int> width)
    : columns_(std::move(columns)), width_(width) {
  for (const Column& column : columns_) widths_.push_back(display_width(column.title));
}

void TableText::add(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], display_width(cells[i]));
  rows_.push_back(std::move(cells));
}

std::string TableText::take() {
  std::string text;
  if (rows_.empty()) return text;
  if (!headed_) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    append_line(text, titles);
    headed_ = true;
  }
  for (const std::vector<std::string>& row : rows_) append_line(text, row);
  rows_.clear();
  return text;
}

void TableText::append_line(std::string& out, const std::vector<std::string>& cells) const {
  std::string line;
  int used = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool last = i + 1 == cells.size();
    std::string cell = cells[i];
    if (last && width_) cell = shortened(cell, std::max(*width_ - used, least_last_columns));
    line += columns_[i].align == Align::right ? right_aligned(cell, widths_[i]) : left_aligned(cell, widths_[i]);
    used += widths_[i] + gap;
    if (!last) line.append(gap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out.append(line).append("\n");
}

}  // namespace postino::app
