#include "backup/retention.h"

#include <algorithm>
#include <set>

namespace postino::backup {

namespace {

base::Result<void> add_chunks(BackupReader& reader, std::set<std::string>& used) {
  for (const Piece& part : reader.manifest().list) used.insert(part.chunk);
  return reader.each_file([&used](const FileEntry& file) -> base::Result<void> {
    for (const Piece& piece : file.pieces) used.insert(piece.chunk);
    return {};
  });
}

// What backups use. A reason when that cannot be told of all of them.
base::Result<std::string> find_used(Place& place, const std::optional<MasterKey>& master, std::set<std::string>& used) {
  TRY(const Place::Listing manifests, place.list(manifests_folder));
  for (const objects::ObjectInfo& object : manifests.objects) {
    auto reader = BackupReader::open(place, object.name, master);
    // Those that were written before there was a master key count, whatever they are worth.
    if (!reader && master && reader.error().code == base::ErrorCode::invalid)
      reader = BackupReader::open(place, object.name, std::nullopt);
    const auto read = reader ? add_chunks(*reader, used) : base::Result<void>(base::propagate(reader.error()));
    if (read) continue;
    if (read.error().code == base::ErrorCode::io || read.error().code == base::ErrorCode::exhausted)
      return base::propagate(read.error());
    return read.error().message;
  }
  return std::string();
}

}  // namespace

std::vector<std::string> expired_backups(const std::vector<ListedBackup>& backups, base::TimePoint now,
                                         base::Milliseconds keep) {
  std::vector<const ListedBackup*> readable;
  for (const ListedBackup& each : backups)
    if (each.manifest) readable.push_back(&each);
  std::ranges::stable_sort(readable, {}, [](const ListedBackup* each) { return each->manifest->number; });
  const auto sound = std::find_if(readable.rbegin(), readable.rend(),
                                  [](const ListedBackup* each) { return each->verdict && each->verdict->sound; });
  std::vector<std::string> expired;
  for (std::size_t i = 0; i + least_kept_backups < readable.size(); ++i)
    if (readable[i]->manifest->taken + keep < now && (sound == readable.rend() || readable[i] != *sound))
      expired.push_back(readable[i]->id);
  return expired;
}

base::Result<Removal> remove_backups(Place& place, const std::vector<std::string>& ids,
                                     const std::optional<MasterKey>& master,
                                     const std::function<base::Result<void>()>& step) {
  Removal removal;
  for (const std::string& id : ids) {
    TRY_VOID(step());
    TRY_VOID(place.remove(std::string(manifests_folder) + id));
    TRY_VOID(place.remove(std::string(verdicts_folder) + id));
    removal.backups.push_back(id);
  }
  std::set<std::string> used;
  TRY(removal.left_because, find_used(place, master, used));
  if (!removal.left_because.empty()) return removal;
  TRY(const Place::Listing chunks, place.list(chunks_folder));
  for (const objects::ObjectInfo& object : chunks.objects) {
    if (used.contains(object.name.substr(std::min(object.name.find('/') + 1, object.name.size())))) continue;
    TRY_VOID(step());
    TRY_VOID(place.remove(std::string(chunks_folder) + object.name));
    ++removal.chunks;
  }
  return removal;
}

}  // namespace postino::backup
