#include "mysql/rows.h"

#include <charconv>

#include "base/check.h"

namespace postino::mysql {

std::int64_t Row::number(std::size_t column) const {
  const Cell& cell = this->cell(column);
  if (cell.kind != Cell::Kind::text) return cell.number;  // 0 where it is NULL
  const std::string_view digits = text(column);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  CHECK(error == std::errc() && end == digits.data() + digits.size());
  return number;
}

std::string_view Row::text(std::size_t column) const {
  const Cell& cell = this->cell(column);
  CHECK(cell.kind != Cell::Kind::number);
  return std::string_view(rows_->texts_).substr(cell.begin, cell.length);
}

std::optional<std::int64_t> Row::optional_number(std::size_t column) const {
  if (is_null(column)) return std::nullopt;
  return number(column);
}

std::optional<std::string> Row::optional_text(std::size_t column) const {
  if (is_null(column)) return std::nullopt;
  return std::string(text(column));
}

Value Row::value(std::size_t column) const {
  switch (cell(column).kind) {
    case Cell::Kind::null:
      break;
    case Cell::Kind::number:
      return number(column);
    case Cell::Kind::text:
      return std::string(text(column));
  }
  return {};
}

const Cell& Row::cell(std::size_t column) const {
  CHECK(column < rows_->columns_ && first_cell_ + column < rows_->cells_.size());
  return rows_->cells_[first_cell_ + column];
}

}  // namespace postino::mysql
