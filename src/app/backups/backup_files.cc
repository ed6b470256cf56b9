#include "app/backups/backup_files.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "objects/enclosed_file.h"

namespace postino::app {

namespace {

namespace fs = std::filesystem;

// They are of this directory and this moment, or the checkpoint has its own.
constexpr std::array<std::string_view, 3> left_out = {"STATE", "LOCK", restored_name};

constexpr std::size_t most_note_bytes = 256;

bool is_left_out(const std::string& name) {
  return std::ranges::find(left_out, name) != left_out.end() || name.ends_with(".new") || name.ends_with(".part");
}

base::Result<void> add_top_files(const fs::path& data, std::vector<backup::SourceFile>& files) {
  std::error_code error;
  for (fs::directory_iterator entry(data, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const std::string name = entry->path().filename().string();
    if (fs::is_regular_file(entry->symlink_status(gone)) && !is_left_out(name))
      files.push_back({name, entry->path(), true});
  }
  if (error) return base::fail(base::ErrorCode::io, "cannot read '" + data.string() + "': " + error.message());
  return {};
}

base::Result<void> add_folder(const fs::path& folder, const std::string& name, std::vector<backup::SourceFile>& files) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return {};
  TRY(std::vector<backup::SourceFile> found, backup::files_below(folder, name + "/"));
  std::ranges::move(found, std::back_inserter(files));
  return {};
}

}  // namespace

base::Result<std::vector<backup::SourceFile>> files_of_backup(const Settings& settings, const fs::path& checkpoint) {
  TRY(std::vector<backup::SourceFile> files, backup::files_below(checkpoint, ""));
  for (backup::SourceFile& file : files) file.may_vanish = false;
  TRY_VOID(add_top_files(settings.data, files));
  if (!settings.outbox.spool.empty() && !bucket_of_spool(settings.outbox))
    TRY_VOID(add_folder(settings.outbox.spool, "spool", files));
  if (settings.objects.bucket.empty())
    TRY_VOID(add_folder(
        settings.objects.directory.empty() ? settings.data / "objects" : fs::path(settings.objects.directory),
        "objects", files));
  std::ranges::sort(files, {}, &backup::SourceFile::path);
  return files;
}

base::Result<void> note_restored(const fs::path& data, const std::string& id) {
  TRY(const base::Descriptor directory, objects::open_directory(data.string()));
  const base::SystemClock clock;
  return objects::write_enclosed_file(directory.number(), restored_name, id + "\n", clock.now());
}

std::optional<std::string> take_restored_note(const fs::path& data) {
  const auto directory = objects::open_directory(data.string());
  if (!directory) return std::nullopt;
  auto text = objects::read_enclosed_file(directory->number(), restored_name, most_note_bytes);
  if (!text || !objects::remove_enclosed_file(directory->number(), restored_name)) return std::nullopt;
  while (text->ends_with('\n')) text->pop_back();
  return *std::move(text);
}

base::Result<std::string> store_id(const fs::path& data, base::Random& random) {
  TRY(const base::Descriptor directory, objects::open_directory(data.string()));
  auto text = objects::read_enclosed_file(directory.number(), store_id_name, most_note_bytes);
  if (!text && text.error().code != base::ErrorCode::not_found) return base::propagate(text.error());
  if (text) {
    while (text->ends_with('\n')) text->pop_back();
    return *std::move(text);
  }
  std::string made = base::make_uuid(random);
  const base::SystemClock clock;
  TRY_VOID(objects::replace_enclosed_file(directory.number(), store_id_name, made + "\n", clock.now(),
                                          std::string(store_id_name) + ".new"));
  return made;
}

}  // namespace postino::app
