// One header field, folded as RFC 5322 wants it, in the ASCII that RFC 2047 and RFC 2231 make of UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

constexpr std::size_t preferred_line_length = 76;
constexpr std::size_t longest_line = 998;

// Everything given to it must have passed check_line (or check_line_with_tabs). Writes at the end of `out`, which must
// outlive it; the line ends with the object.
class HeaderLine {
 public:
  HeaderLine(std::string& out, std::string_view name);
  ~HeaderLine() { out_.append("\r\n"); }
  HeaderLine(const HeaderLine&) = delete;
  HeaderLine& operator=(const HeaderLine&) = delete;

  // ASCII that stays in one piece, after a space at which the line may be folded.
  void add(std::string_view piece, std::string_view space = " ");
  // Right behind what is there.
  void attach(std::string_view piece);

  // ASCII that may be folded wherever it has spaces, which all stay but those in front.
  void add_words(std::string_view text);
  // Encoded words (RFC 2047).
  void add_encoded(std::string_view text);
  // Unstructured text: as it is when it can be, encoded otherwise.
  void add_text(std::string_view text);
  // "Ann" <ann@example.com>; an address that is not ASCII stays as it is.
  void add_mailbox(std::string_view name, std::string_view address);

  // ; name=value, quoted where it must be.
  void add_parameter(std::string_view name, std::string_view value);
  // The same for UTF-8: name*=utf-8''... (RFC 2231), in several pieces when it is long.
  void add_extended_parameter(std::string_view name, std::string_view value);
  // name="=?utf-8?...?=": no standard, but what old readers of mail know.
  void add_encoded_parameter(std::string_view name, std::string_view value);

 private:
  std::size_t column() const { return out_.size() - line_start_; }
  void fold();

  std::string& out_;
  std::size_t line_start_;
  std::size_t value_start_;
};

// The longest piece of the trimmed text that has no place to fold it, with the spaces (one at least) before it.
std::size_t longest_piece(std::string_view text);

// Can the text not stand in a header as it is? It is beyond ASCII, or could be taken for encoded words.
bool needs_encoding(std::string_view text);

}  // namespace postino::mail
