#include "objects/object_store.h"

#include <algorithm>

#include "base/text.h"

namespace postino::objects {

namespace {

constexpr std::string_view address_scheme = "s3://";

bool may_stand_in_name(char letter) { return letter > ' ' && letter <= '~' && letter != '\\'; }

bool is_bucket_mark(char letter) { return letter == '-' || letter == '.'; }

bool is_bucket_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-' || letter == '.';
}

// What a part is made of without being encoded. The seeds' keys have '#'.
bool stays_in_part(char letter) {
  const char lower = base::lower(letter);
  return (lower >= 'a' && lower <= 'z') || (letter >= '0' && letter <= '9') ||
         std::string_view("-_.~#@:=+,").find(letter) != std::string_view::npos;
}

}  // namespace

base::Result<void> check_object_name(std::string_view name) {
  if (name.empty() || name.size() > longest_object_name)
    return base::invalid("an object's name must have 1 to " + std::to_string(longest_object_name) + " bytes");
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part.size() > longest_name_part || part == "." || part == "..")
      return base::invalid("an object's name must have 1 to " + std::to_string(longest_name_part) +
                           " bytes between two slashes, and not . or ..");
    if (!std::ranges::all_of(part, may_stand_in_name))
      return base::invalid("an object's name must be of visible ASCII characters without backslashes");
    begin = end + 1;
  }
  return {};
}

base::Result<void> check_bucket_name(std::string_view name) {
  constexpr std::size_t shortest = 3, longest = 63;
  if (name.size() < shortest || name.size() > longest || !std::ranges::all_of(name, is_bucket_letter) ||
      name.find("..") != std::string::npos || is_bucket_mark(name.front()) || is_bucket_mark(name.back()))
    return base::invalid(
        "bucket must have 3 to 63 lower-case letters, digits, hyphens and single dots, with a letter or digit at both "
        "ends");
  return {};
}

std::optional<std::string> name_part(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool only_dots = text == "." || text == "..";
  std::string part;
  for (const char letter : text) {
    if (stays_in_part(letter) && !only_dots)
      part += letter;
    else if (const std::string encoded = base::encode_percent(std::string_view(&letter, 1)); encoded.size() == 3)
      part += encoded;
    else
      part += "%2E";  // encode_percent leaves dots as they are
  }
  if (part.size() > longest_name_part) return std::nullopt;
  return part;
}

std::string object_address(std::string_view bucket, std::string_view name) {
  return std::string(address_scheme).append(bucket).append("/").append(name);
}

std::optional<std::string> name_in_address(std::string_view bucket, std::string_view address) {
  const std::string begin = object_address(bucket, "");
  if (!address.starts_with(begin)) return std::nullopt;
  return std::string(address.substr(begin.size()));
}

}  // namespace postino::objects
