#include "mail/encoding/charset.h"

#include <glib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "base/text.h"

namespace postino::mail {

namespace {

constexpr const char* usual_charset = "windows-1252";
constexpr std::string_view families[] = {"iso-8859-", "windows-125", "cp125", "koi8-"};
constexpr std::string_view single_charsets[] = {"big5",   "euc-jp",      "euc-kr",    "gb18030",
                                                "gb2312", "gbk",         "tis-620",   "windows-874",
                                                "cp932",  "iso-2022-jp", "shift_jis", "cp949"};

bool is_known(std::string_view charset) {
  constexpr std::size_t longest = 20;
  if (charset.size() > longest ||
      charset.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") != std::string_view::npos)
    return false;
  return std::ranges::any_of(families, [&](std::string_view begin) { return charset.starts_with(begin); }) ||
         std::ranges::find(single_charsets, charset) != std::end(single_charsets);
}

// A converter of the system, closed at the end.
class Converter {
 public:
  explicit Converter(const std::string& charset) : handle_(g_iconv_open("UTF-8", charset.c_str())) {}
  ~Converter() {
    if (is_open()) g_iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  bool is_open() const { return handle_ != reinterpret_cast<GIConv>(std::intptr_t{-1}); }

  std::string convert(std::string_view bytes) {
    std::string text;
    std::array<char, 4'096> buffer{};
    std::string input(bytes);  // the converter's interface wants bytes that it might change
    gchar* from = input.data();
    gsize left = input.size();
    while (left > 0) {
      gchar* to = buffer.data();
      gsize room = buffer.size();
      const bool is_done = g_iconv(handle_, &from, &left, &to, &room) != static_cast<gsize>(-1);
      const int cause = errno;
      text.append(buffer.data(), buffer.size() - room);
      if (is_done || cause == E2BIG) continue;
      text += '?';
      if (cause != EILSEQ) break;  // the last character is not whole
      ++from;
      --left;
    }
    return text;
  }

 private:
  const GIConv handle_;
};

}  // namespace

std::string to_utf8(std::string_view bytes, std::string_view charset) {
  const std::string name = base::lower_case(base::trim(charset));
  if (name == "utf-8" || name == "utf8") return std::string(bytes);
  if (!is_known(name) && g_utf8_validate_len(bytes.data(), bytes.size(), nullptr) != FALSE) return std::string(bytes);
  Converter converter(is_known(name) ? name : usual_charset);
  if (converter.is_open()) return converter.convert(bytes);
  return Converter(usual_charset).convert(bytes);
}

}  // namespace postino::mail
