// Tables as text: CSV (RFC 4180), as spreadsheets write it. Pure code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postino::reminders {

// Without a byte-order mark of UTF-8 at its beginning.
std::string_view without_byte_order_mark(std::string_view text);

// Reads record after record. Lines end with LF, CRLF or CR; empty ones are passed over. Fields are separated by
// commas, semicolons or tabs: by whichever comes first in the first line. A field may be in quotes, and then has
// separators, line ends and doubled quotes in it.
//
// A line that breaks the rules costs that line alone: reading goes on with the next one.
class CsvReader {
 public:
  static constexpr std::size_t max_record_bytes = 16 << 10;
  static constexpr std::size_t max_fields = 100;

  // The text must outlive it.
  explicit CsvReader(std::string_view text);

  struct Record {
    int line = 0;  // where it begins, from 1
    std::vector<std::string> fields;
    std::string fault;  // the rule that it breaks; empty: none
  };
  // nullopt at the end.
  std::optional<Record> next();

 private:
  // Reads a field and moves behind it; the fault, or empty.
  std::string read_field(std::string& field);
  std::string read_quoted(std::string& field);
  std::string read_plain(std::string& field);
  bool at_line_end() const { return rest_.empty() || rest_.front() == '\n' || rest_.front() == '\r'; }
  // Moves behind the end of the line, and counts it.
  void end_line();

  std::string_view rest_;
  int line_ = 1;
  char separator_ = ',';
};

// Could a spreadsheet take it for a formula, and run it? It begins with = + - @, also those of East Asian width, or
// with a tab or a line end; perhaps after spaces.
bool is_formula(std::string_view text);

// One record, with commas, ended by CRLF. What is_formula() gets an apostrophe in front, which spreadsheets take for
// "this is text". So does what has apostrophes in front of a formula, so that without_apostrophe() finds it again.
void append_csv(std::string& out, const std::vector<std::string>& fields);

// A field as it was before append_csv().
std::string without_apostrophe(std::string field);

}  // namespace postino::reminders
