// Objects in a directory, local or shared by several machines.
//
// The object a/b/c.json is the file a/b/=c.json: files begin with '=', so that an object may have the name of a folder.
// A folder whose name would begin with '=' or '.' has a backslash in front, which no object's name has. Files that are
// being written are in the folder .unfinished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/random.h"
#include "objects/directory_walk.h"
#include "objects/object_store.h"

namespace postino::objects {

class DirectoryObjects final : public ObjectStore {
 public:
  // The directory is created when it is missing, for this user alone; io when it cannot be. It may be a symbolic link.
  // Below it none is followed. What a process that ended has left unfinished a day ago is removed.
  static base::Result<std::unique_ptr<DirectoryObjects>> open(const std::filesystem::path& directory,
                                                              std::string bucket, const base::Clock& clock,
                                                              base::Random& random);

  // The same for one that only reads: nothing is created or removed; io when the directory is not there.
  static base::Result<std::unique_ptr<DirectoryObjects>> open_to_read(const std::filesystem::path& directory,
                                                                      std::string bucket, const base::Clock& clock,
                                                                      base::Random& random);

  base::Result<void> put(const std::string& name, std::string_view bytes) override;
  base::Result<std::string> get(const std::string& name) override;
  base::Result<void> remove(const std::string& name) override;
  // A page that begins where the last one ended goes on with what was read for that one, for up to an hour.
  base::Result<ObjectPage> list(const std::string& prefix, const std::string& after, int limit) override;
  const std::string& bucket() const override { return bucket_; }

  // How many folders all lists have read: what they cost.
  std::uint64_t folders_read() const;

 private:
  DirectoryObjects(std::filesystem::path directory, std::string bucket, base::Descriptor descriptor,
                   const base::Clock& clock, base::Random& random)
      : directory_(std::move(directory)),
        bucket_(std::move(bucket)),
        descriptor_(std::move(descriptor)),
        clock_(clock),
        random_(random) {}

  struct Listing {
    DirectoryWalk walk;
    base::Milliseconds begun;  // monotonic
  };

  void remove_unfinished() const;
  std::unique_ptr<Listing> listing_after(const std::string& prefix, const std::string& after);

  const std::filesystem::path directory_;
  const std::string bucket_;
  const base::Descriptor descriptor_;  // paths are opened below it and cannot leave it
  const base::Clock& clock_;
  base::Random& random_;

  mutable std::mutex mutex_;          // of those below
  std::unique_ptr<Listing> listing_;  // the last, if it has more
  std::uint64_t folders_read_ = 0;
};

}  // namespace postino::objects
