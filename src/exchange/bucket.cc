#include "exchange/bucket.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "base/descriptor.h"
#include "objects/enclosed_file.h"

namespace postino::exchange {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t bytes_at_a_time = 1 << 20;
// Of files that are being written; no object's name begins with it.
constexpr std::string_view unfinished_begin = ".unfinished-";

tl::unexpected<base::Error> too_many(const std::string& prefix, std::size_t most) {
  return base::fail(base::ErrorCode::exhausted,
                    "there are more than " + std::to_string(most) + " objects below " + prefix);
}

class FileSource final : public ByteSource {
 public:
  explicit FileSource(objects::EnclosedFile file) : file_(std::move(file)) {}

  base::Result<std::optional<std::string>> next() override {
    std::string bytes(bytes_at_a_time, '\0');
    ssize_t count = 0;
    do {
      count = ::read(file_.descriptor.number(), bytes.data(), bytes.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0)
      return base::fail(base::ErrorCode::io,
                        "cannot read " + file_.path + ": " + std::generic_category().message(errno));
    if (count == 0) return std::optional<std::string>();
    bytes.resize(static_cast<std::size_t>(count));
    return std::optional(std::move(bytes));
  }

 private:
  objects::EnclosedFile file_;
};

class DirectoryBucket final : public Bucket {
 public:
  DirectoryBucket(fs::path directory, base::Descriptor descriptor, const base::Clock& clock, base::Random& random)
      : directory_(std::move(directory)), descriptor_(std::move(descriptor)), clock_(clock), random_(random) {}

  base::Result<void> put(const std::string& name, std::string_view bytes) override {
    TRY_VOID(objects::check_object_name(name));
    const std::string unfinished = std::string(unfinished_begin) + base::make_uuid(random_);
    return objects::replace_enclosed_file(descriptor_.number(), name, bytes, clock_.now(), unfinished);
  }

  base::Result<std::vector<ObjectName>> list(const std::string& prefix, std::size_t most) override {
    // Only the folder that the prefix leads into has such objects.
    const std::string folder = prefix.substr(0, prefix.rfind('/') == std::string::npos ? 0 : prefix.rfind('/'));
    if (!folder.empty()) TRY_VOID(objects::check_object_name(folder));
    std::vector<ObjectName> found;
    if (!folder.empty() && objects::meets_link(descriptor_.number(), folder)) return found;
    std::error_code error;
    fs::recursive_directory_iterator entry(directory_ / folder, error);
    if (error == std::errc::no_such_file_or_directory) return found;
    for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
      if (!fs::is_regular_file(entry->symlink_status())) continue;
      const std::string name = entry->path().lexically_relative(directory_).generic_string();
      if (!name.starts_with(prefix) || name.starts_with(unfinished_begin) || !objects::check_object_name(name))
        continue;
      std::error_code gone;
      const std::uintmax_t size = entry->file_size(gone);
      if (!gone) found.push_back({name, size});
      if (found.size() > most) return too_many(prefix, most);
    }
    if (error) return base::fail(base::ErrorCode::io, "cannot read the bucket: " + error.message());
    std::ranges::sort(found, {}, &ObjectName::name);
    return found;
  }

  base::Result<std::unique_ptr<ByteSource>> open(const std::string& name) override {
    TRY_VOID(objects::check_object_name(name));
    TRY(objects::EnclosedFile file,
        objects::open_enclosed_file(descriptor_.number(), name, std::numeric_limits<std::int64_t>::max()));
    return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(std::move(file)));
  }

 private:
  const fs::path directory_;
  const base::Descriptor descriptor_;  // paths are opened below it and cannot leave it
  const base::Clock& clock_;
  base::Random& random_;
};

class WholeSource final : public ByteSource {
 public:
  explicit WholeSource(std::string bytes) : bytes_(std::move(bytes)) {}
  base::Result<std::optional<std::string>> next() override {
    if (begin_ == bytes_.size()) return std::optional<std::string>();
    std::string part = bytes_.substr(begin_, bytes_at_a_time);
    begin_ += part.size();
    return std::optional(std::move(part));
  }

 private:
  const std::string bytes_;
  std::size_t begin_ = 0;
};

class StoredBucket final : public Bucket {
 public:
  explicit StoredBucket(std::unique_ptr<objects::ObjectStore> store) : store_(std::move(store)) {}

  base::Result<void> put(const std::string& name, std::string_view bytes) override { return store_->put(name, bytes); }

  base::Result<std::vector<ObjectName>> list(const std::string& prefix, std::size_t most) override {
    std::vector<ObjectName> found;
    std::string after;
    while (true) {
      TRY(const objects::ObjectPage page, store_->list(prefix, after, objects::most_listed));
      for (const objects::ObjectInfo& object : page.objects) found.push_back({object.name, object.size});
      if (found.size() > most) return too_many(prefix, most);
      if (!page.has_more || page.objects.empty()) return found;
      after = page.objects.back().name;
    }
  }

  base::Result<std::unique_ptr<ByteSource>> open(const std::string& name) override {
    TRY(std::string bytes, store_->get(name));
    return std::unique_ptr<ByteSource>(std::make_unique<WholeSource>(std::move(bytes)));
  }

 private:
  const std::unique_ptr<objects::ObjectStore> store_;
};

}  // namespace

base::Result<std::unique_ptr<Bucket>> DirectoryBuckets::open(const std::string& name) {
  const auto missing = [&] { return base::fail(base::ErrorCode::not_found, "The specified bucket does not exist"); };
  if (!objects::check_bucket_name(name)) return missing();
  const fs::path directory = directory_ / name;
  auto descriptor = objects::open_directory(directory.string());
  if (!descriptor) return missing();
  return std::unique_ptr<Bucket>(std::make_unique<DirectoryBucket>(directory, *std::move(descriptor), clock_, random_));
}

std::unique_ptr<Bucket> bucket_of(std::unique_ptr<objects::ObjectStore> store) {
  return std::make_unique<StoredBucket>(std::move(store));
}

}  // namespace postino::exchange
