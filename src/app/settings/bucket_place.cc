#include "app/settings/bucket_place.h"

#include <algorithm>

namespace postino::app {

std::optional<BucketPlace> parse_bucket_place(std::string_view text) {
  constexpr std::string_view scheme = "s3://";
  if (!text.starts_with(scheme)) return std::nullopt;
  text.remove_prefix(scheme.size());
  const std::size_t slash = std::min(text.find('/'), text.size());
  return BucketPlace{std::string(text.substr(0, slash)), std::string(text.substr(std::min(slash + 1, text.size())))};
}

}  // namespace postino::app
