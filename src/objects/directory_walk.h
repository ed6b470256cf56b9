// Walks through the objects of a directory in the order of their names, page by page. Each folder is read once, or a
// few times if it is large, and its entries are kept until they have had their turn: a page begins where the last one
// ended. What is put or removed meanwhile may be seen or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "objects/object_store.h"

namespace postino::objects {

class DirectoryWalk {
 public:
  // Of objects whose names begin with the prefix and come after `after`. Of each folder on the way it keeps up to
  // `most_kept` entries in memory; a larger one is read again for the next ones.
  DirectoryWalk(std::filesystem::path directory, std::string prefix, const std::string& after,
                std::size_t most_kept = 50'000);

  const std::string& prefix() const { return prefix_; }
  // The last object that it gave, or the one that it began after.
  const std::string& last() const { return last_; }

  struct Page {
    std::vector<ObjectInfo> objects;
    bool has_more = false;
  };
  // The next ones, up to `limit`. nullopt when the directory or a folder cannot be read: it is of no use any more.
  std::optional<Page> next(std::size_t limit);

  std::uint64_t folders_read() const { return folders_read_; }

 private:
  struct Folder {
    std::string begin;               // of the names of its objects: empty, or with a slash at the end
    std::vector<std::string> parts;  // of its entries, in their order
    std::size_t next = 0;            // the one whose turn it is
    bool is_complete = false;        // there are no others behind them
  };

  // Of an object's name, or of what those in a folder begin with.
  bool is_wanted(const std::string& name) const;
  bool fill(std::size_t count);
  bool read(Folder& folder);
  void add(const std::string& name);

  const std::filesystem::path directory_;
  const std::string prefix_;
  const std::string after_;
  const std::size_t most_kept_;
  std::string last_;
  std::vector<Folder> folders_;     // from the directory down to the one whose turn it is
  std::vector<ObjectInfo> ahead_;   // found, and not given yet
  std::uint64_t folders_read_ = 0;  // times that one was
};

}  // namespace postino::objects
