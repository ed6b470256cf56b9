#include "mail/encoding/transfer_encoding.h"

#include <algorithm>
#include <array>

#include "base/base64.h"

namespace postino::mail {

namespace {

constexpr std::size_t line_length = 76;
constexpr std::size_t bytes_per_line = line_length / 4 * 3;

constexpr auto stands_for_itself = [] {
  std::array<bool, 256> table{};
  for (std::size_t byte = ' '; byte < 0x7F; ++byte) table[byte] = byte != '=';
  table['\t'] = true;
  return table;
}();

constexpr auto is_literal = [](char letter) { return stands_for_itself[static_cast<unsigned char>(letter)]; };

// One line of the text, without its end.
class QuotedLine {
 public:
  explicit QuotedLine(std::string& out) : out_(out) {}

  void append(std::string_view line) {
    // Programs that keep mail in one file put a > before it.
    if (line.starts_with("From ")) escape(line), line.remove_prefix(1);
    while (!line.empty()) {
      const auto run_end = std::ranges::find_if_not(line, is_literal);
      const auto run = static_cast<std::size_t>(run_end - line.begin());
      // A space at the end of a line is lost on the way.
      const bool ends_blank = run > 0 && run == line.size() && (line.back() == ' ' || line.back() == '\t');
      literal(line.substr(0, run - (ends_blank ? 1 : 0)));
      line.remove_prefix(run - (ends_blank ? 1 : 0));
      if (line.empty()) break;
      escape(line);
      line.remove_prefix(1);
    }
  }

 private:
  // Every piece leaves room for the = of a soft line end.
  void literal(std::string_view run) {
    while (!run.empty()) {
      if (column_ == line_length - 1) soft_end();
      const std::size_t count = std::min(run.size(), line_length - 1 - column_);
      out_.append(run.substr(0, count));
      column_ += count;
      run.remove_prefix(count);
    }
  }
  void escape(std::string_view line) {
    if (column_ + 3 > line_length - 1) soft_end();
    append_escaped(out_, '=', line.front());
    column_ += 3;
  }
  void soft_end() {
    out_.append("=\r\n");
    column_ = 0;
  }

  std::string& out_;
  std::size_t column_ = 0;
};

}  // namespace

// Line ends are found by memchr, which looks at many letters at once.
void append_quoted_printable(std::string& out, std::string_view text) {
  std::size_t feed = std::min(text.find('\n'), text.size());
  for (std::size_t begin = 0;;) {
    if (feed < begin) feed = std::min(text.find('\n', begin), text.size());
    const std::string_view up_to_feed = text.substr(begin, feed - begin);
    const std::string_view line = up_to_feed.substr(0, up_to_feed.find('\r'));  // which ends a line by itself, too
    QuotedLine(out).append(line);
    begin += line.size();
    if (begin == text.size()) return;
    out.append("\r\n");
    begin += text.substr(begin).starts_with("\r\n") ? 2 : 1;
  }
}

void append_escaped(std::string& out, char mark, char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  out.append({mark, digits[value >> 4], digits[value & 0xF]});
}

void append_base64_lines(std::string& out, std::string_view bytes) {
  out.reserve(out.size() + bytes.size() * 4 / 3 + bytes.size() / bytes_per_line * 2 + 8);
  while (!bytes.empty()) {
    base::append_base64(out, bytes.substr(0, bytes_per_line));
    bytes.remove_prefix(std::min(bytes.size(), bytes_per_line));
    if (!bytes.empty()) out.append("\r\n");
  }
}

}  // namespace postino::mail
