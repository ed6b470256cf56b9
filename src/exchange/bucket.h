// Where exports go and imports come from: objects by name, in buckets by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "objects/object_store.h"

namespace postino::exchange {

// The bytes of one object, from its beginning. Used by one thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next ones, some; nullopt at the end.
  virtual base::Result<std::optional<std::string>> next() = 0;
};

struct ObjectName {
  std::string name;
  std::uint64_t size = 0;
};

// Used by one thread at a time. Names are those that objects::check_object_name takes.
class Bucket {
 public:
  virtual ~Bucket() = default;
  // Durable when it returns; in the place of one with that name.
  virtual base::Result<void> put(const std::string& name, std::string_view bytes) = 0;
  // All whose names begin with the prefix, in the order of the names; exhausted if they are more than `most`.
  virtual base::Result<std::vector<ObjectName>> list(const std::string& prefix, std::size_t most) = 0;
  virtual base::Result<std::unique_ptr<ByteSource>> open(const std::string& name) = 0;
};

class Buckets {
 public:
  virtual ~Buckets() = default;
  // not_found when there is none of that name, or it is no name of a bucket.
  virtual base::Result<std::unique_ptr<Bucket>> open(const std::string& name) = 0;
};

// Each directory below `directory` is a bucket; an object a/b.json is the file a/b.json in it. Nothing outside is
// reached, by names or by symbolic links in a bucket.
class DirectoryBuckets final : public Buckets {
 public:
  DirectoryBuckets(std::filesystem::path directory, const base::Clock& clock, base::Random& random)
      : directory_(std::move(directory)), clock_(clock), random_(random) {}
  base::Result<std::unique_ptr<Bucket>> open(const std::string& name) override;

 private:
  const std::filesystem::path directory_;
  const base::Clock& clock_;
  base::Random& random_;
};

// A bucket of an object store, which reads objects whole: up to objects::largest_object bytes.
std::unique_ptr<Bucket> bucket_of(std::unique_ptr<objects::ObjectStore> store);

}  // namespace postino::exchange
