#include "reminders/text/csv.h"

#include <algorithm>
#include <array>

namespace postino::reminders {

namespace {

constexpr std::string_view separators = ",;\t";

// Before anything in quotes, because names of columns have no use for separators.
char separator_of(std::string_view text) {
  const std::string_view first_line = text.substr(0, text.find_first_of("\r\n"));
  bool quoted = false;
  for (const char letter : first_line) {
    if (letter == '"') quoted = !quoted;
    if (!quoted && separators.find(letter) != std::string_view::npos) return letter;
  }
  return separators.front();
}

bool is_escaped_formula(std::string_view text) {
  return text.starts_with('\'') && is_formula(text.substr(std::min(text.find_first_not_of('\''), text.size())));
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

CsvReader::CsvReader(std::string_view text)
    : rest_(without_byte_order_mark(text)), separator_(separator_of(rest_.substr(0, max_record_bytes))) {}

void CsvReader::end_line() {
  rest_.remove_prefix(std::min(rest_.find_first_of("\r\n"), rest_.size()));
  if (rest_.empty()) return;
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
  ++line_;
}

std::string CsvReader::read_quoted(std::string& field) {
  rest_.remove_prefix(1);
  while (!rest_.empty()) {
    if (field.size() > max_record_bytes)
      return "must not be longer than " + std::to_string(max_record_bytes) + " bytes; perhaps a quote is not closed";
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    if (letter != '"') {
      // Counted here, because end_line() does not see it.
      if (letter == '\n' || (letter == '\r' && !rest_.starts_with('\n'))) ++line_;
      field += letter;
      continue;
    }
    if (!rest_.starts_with('"')) {
      if (at_line_end() || rest_.front() == separator_) return "";
      return "must not have text behind the closing quote of a field";
    }
    field += '"';
    rest_.remove_prefix(1);
  }
  return "must close the quote of a field";
}

std::string CsvReader::read_plain(std::string& field) {
  const std::array<char, 4> ends = {'\r', '\n', '"', separator_};
  const std::size_t end = std::min(rest_.find_first_of(std::string_view(ends.data(), ends.size())), rest_.size());
  if (end > max_record_bytes) return "must not be longer than " + std::to_string(max_record_bytes) + " bytes";
  field = rest_.substr(0, end);
  rest_.remove_prefix(end);
  if (rest_.starts_with('"')) return "must not have a quote inside of a field that is not in quotes";
  return "";
}

std::string CsvReader::read_field(std::string& field) {
  return rest_.starts_with('"') ? read_quoted(field) : read_plain(field);
}

std::optional<CsvReader::Record> CsvReader::next() {
  while (!rest_.empty() && at_line_end()) end_line();
  if (rest_.empty()) return std::nullopt;
  Record record;
  record.line = line_;
  const std::string_view begin = rest_;
  while (record.fault.empty()) {
    record.fault = read_field(record.fields.emplace_back());
    if (record.fault.empty() && begin.size() - rest_.size() > max_record_bytes)
      record.fault = "must not be longer than " + std::to_string(max_record_bytes) + " bytes";
    if (record.fault.empty() && record.fields.size() > max_fields)
      record.fault = "must not have more than " + std::to_string(max_fields) + " fields";
    if (at_line_end() || !record.fault.empty()) break;
    rest_.remove_prefix(1);  // the separator
  }
  if (!record.fault.empty()) {
    record.fields.clear();
    rest_ = begin;
    line_ = record.line;
  }
  end_line();
  return record;
}

bool is_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  static constexpr std::array<std::string_view, 11> begins = {"=",  "+",  "-",  "@",  "\t", "\r",
                                                              "\n", "＝", "＋", "－", "＠"};
  return std::ranges::any_of(begins, [&](std::string_view begin) { return text.starts_with(begin); });
}

void append_csv(std::string& out, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string field = fields[i];
    if (is_formula(field) || is_escaped_formula(field)) field.insert(field.begin(), '\'');
    if (i > 0) out += ',';
    const bool needs_quotes = field.find_first_of("\",;\t\r\n") != std::string::npos || field.starts_with(' ') ||
                              field.ends_with(' ') || (field.empty() && fields.size() == 1);
    if (!needs_quotes) {
      out += field;
      continue;
    }
    out += '"';
    for (const char letter : field) out.append(letter == '"' ? 2 : 1, letter);
    out += '"';
  }
  out += "\r\n";
}

std::string without_apostrophe(std::string field) {
  if (is_escaped_formula(field)) field.erase(0, 1);
  return field;
}

}  // namespace postino::reminders
