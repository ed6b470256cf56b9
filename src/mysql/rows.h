// What a query answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mysql/value.h"

namespace postino::mysql {

class Rows;

// NULL, a number, or where a text is.
struct Cell {
  enum class Kind : std::uint8_t { null, number, text } kind = Kind::null;
  std::int64_t number = 0;
  std::size_t begin = 0;
  std::size_t length = 0;
};

// A row of Rows, and valid as long as they are. Columns count from 0.
//
// Columns of whole-number types hold numbers; all others hold text: characters, bytes, decimals, and times as
// "2026-01-02 03:04:05[.678]".
class Row {
 public:
  bool is_null(std::size_t column) const { return cell(column).kind == Cell::Kind::null; }
  // NULL is 0. Text is read as a decimal number, as sums are; what is none breaks an invariant of the caller.
  std::int64_t number(std::size_t column) const;
  // NULL is empty. Numbers have no text.
  std::string_view text(std::size_t column) const;

  std::optional<std::int64_t> optional_number(std::size_t column) const;
  std::optional<std::string> optional_text(std::size_t column) const;
  Value value(std::size_t column) const;

 private:
  friend class Rows;
  Row(const Rows& rows, std::size_t first_cell) : rows_(&rows), first_cell_(first_cell) {}
  const Cell& cell(std::size_t column) const;

  const Rows* rows_;
  std::size_t first_cell_;
};

class Rows {
 public:
  std::size_t size() const { return columns_ == 0 ? 0 : cells_.size() / columns_; }
  bool empty() const { return cells_.empty(); }
  std::size_t columns() const { return columns_; }
  Row operator[](std::size_t index) const { return Row(*this, index * columns_); }

  class Iterator {
   public:
    Iterator(const Rows& rows, std::size_t index) : rows_(&rows), index_(index) {}
    Row operator*() const { return (*rows_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Rows* rows_;
    std::size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  friend class Row;
  friend class Statement;  // fills them

  std::size_t columns_ = 0;
  std::vector<Cell> cells_;
  std::string texts_;  // of all cells, one after the other
};

}  // namespace postino::mysql
