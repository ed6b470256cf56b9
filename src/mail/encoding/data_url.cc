#include "mail/encoding/data_url.h"

#include <openssl/evp.h>

#include <algorithm>
#include <climits>

#include "base/text.h"

namespace postino::mail {

namespace {

using base::invalid;
using base::Result;

constexpr std::string_view scheme = "data:";

bool is_base64_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '+' || letter == '/';
}

Result<std::string> decode_base64(std::string text) {
  std::erase_if(text, [](char letter) { return std::string_view(" \t\r\n\f").find(letter) != std::string_view::npos; });
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.pop_back();
  if (text.size() % 4 == 1 || !std::ranges::all_of(text, is_base64_letter) || text.size() > INT_MAX / 2)
    return invalid("must have valid base64 in the data: URL of an image");
  const std::size_t size = text.size() / 4 * 3 + (text.size() % 4 == 0 ? 0 : text.size() % 4 - 1);
  text.append((4 - text.size() % 4) % 4, '=');
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  bytes.resize(size);  // without what the padding stood for
  return bytes;
}

}  // namespace

bool is_image_data_url(std::string_view url) {
  constexpr std::string_view image = "data:image/";
  return base::equal_ignoring_case(url.substr(0, image.size()), image);
}

Result<DataUrl> parse_data_url(std::string_view url) {
  if (!base::equal_ignoring_case(url.substr(0, scheme.size()), scheme)) return invalid("must be a data: URL");
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return invalid("must have a comma in the data: URL of an image");
  const std::string head = base::lower_case(url.substr(scheme.size(), comma - scheme.size()));
  DataUrl result;
  result.content_type = head.substr(0, head.find(';'));
  std::string body = base::decode_percent(url.substr(comma + 1));
  if (!head.ends_with(";base64")) {
    result.bytes = std::move(body);
    return result;
  }
  TRY(result.bytes, decode_base64(std::move(body)));
  return result;
}

}  // namespace postino::mail
