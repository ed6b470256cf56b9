// Where backups are: a directory or a bucket, and what objects in it are called.
//
//   backups/ID       the manifest of a backup: it is there when the backup is whole
//   chunks/ab/ab...  contents of files, by what they are
//   keys/ID          a key that contents are sealed with, itself sealed by the master key
//   locks/ID         of one that writes or removes backups at the moment
//   verified/ID      when a backup was last read as a whole, and whether it was sound
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "objects/object_store.h"

namespace postino::backup {

inline constexpr std::string_view manifests_folder = "backups/";
inline constexpr std::string_view chunks_folder = "chunks/";
inline constexpr std::string_view keys_folder = "keys/";
inline constexpr std::string_view locks_folder = "locks/";
inline constexpr std::string_view verdicts_folder = "verified/";

std::string chunk_object(std::string_view chunk);

// Safe to use from any thread. Errors are those of object stores.
class Place {
 public:
  // All names begin with the prefix: empty, or with a slash at the end. The objects must outlive it.
  Place(objects::ObjectStore& objects, std::string prefix) : objects_(objects), prefix_(std::move(prefix)) {}

  base::Result<void> put(const std::string& name, std::string_view bytes) {
    return objects_.put(prefix_ + name, bytes);
  }
  base::Result<std::string> get(const std::string& name) { return objects_.get(prefix_ + name); }
  base::Result<void> remove(const std::string& name) { return objects_.remove(prefix_ + name); }

  struct Listing {
    std::vector<objects::ObjectInfo> objects;  // names without the prefix and without the folder
    base::TimePoint now;                       // by the clock that dated them
  };
  // All objects of a folder, in the order of their names.
  base::Result<Listing> list(std::string_view folder);

 private:
  objects::ObjectStore& objects_;
  const std::string prefix_;
};

}  // namespace postino::backup
