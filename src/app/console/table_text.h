// Tables of plain text: aligned columns, as wide as what is in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace postino::app {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

class TableText {
 public:
  // Lines are not longer than `width` as far as the last column can be cut for it.
  explicit TableText(std::vector<Column> columns, std::optional<int> width = std::nullopt);

  // One printable text for each column.
  void add(std::vector<std::string> cells);

  // The rows that were added since the last time, the first time below their titles; empty when there are none. A long
  // table can be taken in parts: columns never get narrower.
  std::string take();

 private:
  void append_line(std::string& out, const std::vector<std::string>& cells) const;

  const std::vector<Column> columns_;
  const std::optional<int> width_;
  std::vector<int> widths_;
  std::vector<std::vector<std::string>> rows_;
  bool headed_ = false;
};

}  // namespace postino::app
