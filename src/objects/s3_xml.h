// What object stores answer in XML: lists of objects, and why something was refused. Pure code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "objects/object_store.h"

namespace postino::objects {

struct S3Listing {
  std::vector<ObjectInfo> objects;
  bool is_truncated = false;
};

// ListBucketResult of ListObjectsV2. corrupt when it is something else.
base::Result<S3Listing> parse_s3_listing(std::string_view xml);

struct S3Problem {
  std::string code;  // "NoSuchKey"; empty when the answer does not say
  std::string message;
};

// Of anything: a proxy may have answered.
S3Problem parse_s3_problem(std::string_view text);

}  // namespace postino::objects
