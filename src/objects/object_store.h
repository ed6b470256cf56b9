// Large things by name: a directory on this machine, or a bucket of an object store.
//
// An object is written whole and read whole. Those who keep references to objects in a store of items never write
// another one under the same name, so that a reference always leads to what was meant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace postino::objects {

inline constexpr std::size_t longest_object_name = 1'024;  // bytes
inline constexpr std::size_t longest_name_part = 250;      // between two slashes
inline constexpr std::size_t largest_object = 64 << 20;    // bytes
inline constexpr int most_listed = 1'000;                  // objects in one answer

struct ObjectInfo {
  std::string name;
  std::size_t size = 0;
  base::TimePoint modified;

  friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

struct ObjectPage {
  std::vector<ObjectInfo> objects;  // in the order of the bytes of their names
  bool has_more = false;            // after the last of them
  base::TimePoint now;              // by the clock that wrote `modified`: those of two machines differ
};

// Safe to use from any thread. Names are those that check_object_name() takes; others are refused with `invalid`.
// Trouble with the disk, the network or the other side is `io`: then it is not known whether a put or a removal was
// done, and it may be repeated.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // Durable when it returns. Replaces one of the same name: readers get all of the old one or all of the new one.
  // invalid when it is larger than largest_object.
  virtual base::Result<void> put(const std::string& name, std::string_view bytes) = 0;
  // not_found when there is none; corrupt when this one cannot be read, whatever is with the others: it is larger than
  // largest_object, may not be read, or is behind a symbolic link.
  virtual base::Result<std::string> get(const std::string& name) = 0;
  // One that is not there is as good as removed.
  virtual base::Result<void> remove(const std::string& name) = 0;
  // Those whose names begin with the prefix and come after `after`, if that is not empty; 1 to most_listed. Of those
  // that are put or removed while pages are asked for one after the other, any may be missing or still be there.
  virtual base::Result<ObjectPage> list(const std::string& prefix, const std::string& after, int limit) = 0;

  // What addresses of objects call it: "s3://{bucket}/{name}".
  virtual const std::string& bucket() const = 0;
};

// Parts between slashes, each of 1 to 250 letters of ASCII that can be seen, no backslash, none that is "." or "..";
// 1,024 bytes in all. Fails with the rule.
base::Result<void> check_object_name(std::string_view name);

// That of a bucket: 3 to 63 lower-case letters, digits, hyphens and single dots, with a letter or digit at both ends.
base::Result<void> check_bucket_name(std::string_view name);

// Any text as one part of a name: percent-encoded where it must be. nullopt when it is too long for that, or empty.
std::optional<std::string> name_part(std::string_view text);

// "s3://{bucket}/{name}"
std::string object_address(std::string_view bucket, std::string_view name);
// The name in such an address; nullopt when it is not one in this bucket.
std::optional<std::string> name_in_address(std::string_view bucket, std::string_view address);

}  // namespace postino::objects
