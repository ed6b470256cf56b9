// Places in object stores as settings name them: s3://BUCKET/PREFIX.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace postino::app {

struct BucketPlace {
  std::string bucket;
  std::string prefix;  // what the names of its objects begin with
};

// What is behind the first slash is the prefix, however it looks; nullopt when it is no such place. The bucket and the
// prefix are still to be checked.
std::optional<BucketPlace> parse_bucket_place(std::string_view text);

}  // namespace postino::app
