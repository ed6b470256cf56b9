#include "backup/backup_reader.h"

#include <algorithm>

#include "base/timestamp.h"
#include "json/document.h"
#include "json/writer.h"

namespace postino::backup {

namespace {

constexpr std::size_t most_problems = 100;

std::string manifest_object(const std::string& id) { return std::string(manifests_folder) + id; }
std::string verdict_object(const std::string& id) { return std::string(verdicts_folder) + id; }

base::Error about_backup(const std::string& id, base::Error error) {
  error.message = "backup " + id + " " + error.message;
  return error;
}

std::string verdict_text(const Verdict& verdict) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("at").string(base::format_timestamp(verdict.at));
  json.key("sound").boolean(verdict.sound);
  json.key("problem").string(verdict.problem);
  json.end_object();
  return text + "\n";
}

std::optional<Verdict> verdict_of(std::string_view text) {
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(text, errors)) return std::nullopt;
  const auto at = document.root().member("at");
  const auto sound = document.root().member("sound");
  const auto problem = document.root().member("problem");
  if (!at || !sound || !sound->boolean() || !problem) return std::nullopt;
  const auto time = base::parse_timestamp(at->text().value_or(""));
  if (!time) return std::nullopt;
  return Verdict{*time, *sound->boolean(), std::string(problem->text().value_or(""))};
}

class Verifier {
 public:
  Verifier(BackupReader& reader, const std::function<base::Result<void>()>& step) : reader_(reader), step_(step) {}

  base::Result<Verification> run() {
    const auto listed = reader_.each_file([this](const FileEntry& file) { return look_at(file); });
    if (!listed && !is_damage(listed.error())) return base::propagate(listed.error());
    if (!listed) add(listed.error().message);
    if (!listed) TRY_VOID(find_damaged_list());
    const Manifest& manifest = reader_.manifest();
    if (listed && (result_.files != manifest.files || result_.bytes != manifest.bytes))
      add("the list of files is not that of the manifest");
    return std::move(result_);
  }

 private:
  static bool is_damage(const base::Error& error) {
    return error.code == base::ErrorCode::corrupt || error.code == base::ErrorCode::not_found ||
           error.code == base::ErrorCode::invalid;
  }

  base::Result<void> find_damaged_list() {
    for (const Piece& part : reader_.manifest().list)
      if (const auto read = reader_.read(part); !read) {
        if (!is_damage(read.error())) return base::propagate(read.error());
        result_.damaged.insert(part.chunk);
      }
    return {};
  }

  void add(std::string problem) {
    if (++result_.problem_count <= most_problems) result_.problems.push_back(std::move(problem));
  }

  base::Result<void> look_at(const FileEntry& file) {
    ++result_.files;
    result_.bytes += file.size;
    for (const Piece& piece : file.pieces) {
      if (result_.damaged.contains(piece.chunk)) {
        add(file.path + ": chunk " + piece.chunk + " is damaged");
        continue;
      }
      if (step_) TRY_VOID(step_());
      const bool is_new = seen_.insert(piece.chunk).second;
      // Once is enough for those that several files far from each other share, except for what is said of their sizes.
      const auto read = reader_.read(piece);
      if (read) {
        result_.chunks += is_new ? 1 : 0;
        continue;
      }
      if (!is_damage(read.error())) return base::propagate(read.error());
      result_.damaged.insert(piece.chunk);
      add(file.path + ": " + read.error().message);
    }
    return {};
  }

  BackupReader& reader_;
  const std::function<base::Result<void>()>& step_;
  std::set<std::string> seen_;
  Verification result_;
};

}  // namespace

base::Result<BackupReader> BackupReader::open(Place& place, const std::string& id,
                                              const std::optional<MasterKey>& master) {
  if (!is_backup_id(id)) return base::invalid("'" + id + "' is not the id of a backup; 'postino backup list' has them");
  const std::string name = manifest_object(id);
  const auto object = place.get(name);
  if (!object && object.error().code == base::ErrorCode::not_found)
    return base::fail(base::ErrorCode::not_found, "there is no backup " + id + " in this place");
  if (!object) return base::propagate(object.error());
  auto form = form_to_read(place, *object, master);
  if (!form) return base::propagate(about_backup(id, form.error()));
  const auto text = form->decode(name, *object);
  if (!text) return base::propagate(about_backup(id, text.error()));
  auto manifest = decode_manifest(*text);
  if (!manifest) return base::propagate(about_backup(id, manifest.error()));
  if (manifest->id != id)
    return base::fail(base::ErrorCode::corrupt, "backup " + id + " has the manifest of " + manifest->id);
  return BackupReader(place, *std::move(form), *std::move(manifest));
}

base::Result<void> BackupReader::each_file(const std::function<base::Result<void>(const FileEntry& file)>& visit) {
  const std::vector<Piece> list = manifest_.list;
  for (const Piece& part : list) {
    auto read_part = read(part);
    if (!read_part) {
      read_part.error().message = "the list of files: " + read_part.error().message;
      return base::propagate(read_part.error());
    }
    const std::string text(*read_part);
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      TRY(const FileEntry file, decode_file(rest.substr(0, end)));
      TRY_VOID(visit(file));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

base::Result<std::string_view> BackupReader::read(const Piece& piece) {
  if (chunk_ != piece.chunk) {
    const std::string name = chunk_object(piece.chunk);
    const auto object = place_->get(name);
    if (!object && object.error().code == base::ErrorCode::not_found)
      return base::fail(base::ErrorCode::corrupt, "chunk " + piece.chunk + " is missing");
    if (!object) return base::propagate(object.error());
    auto contents = form_.decode(piece.chunk, *object);
    if (!contents) {
      contents.error().message = "chunk " + piece.chunk + " " + contents.error().message;
      return base::propagate(contents.error());
    }
    contents_ = *std::move(contents);
    chunk_ = piece.chunk;
  }
  if (piece.offset > contents_.size() || piece.size > contents_.size() - piece.offset)
    return base::fail(base::ErrorCode::corrupt, "chunk " + piece.chunk + " is too short");
  return std::string_view(contents_).substr(piece.offset, piece.size);
}

std::optional<Verdict> BackupReader::verdict() {
  const std::string name = verdict_object(manifest_.id);
  const auto object = place_->get(name);
  if (!object) return std::nullopt;
  const auto text = form_.decode(name, *object);
  return text ? verdict_of(*text) : std::nullopt;
}

base::Result<void> BackupReader::note(const Verdict& verdict, base::Random& random) {
  const std::string name = verdict_object(manifest_.id);
  return place_->put(name, form_.encode(name, verdict_text(verdict), random));
}

base::Result<std::vector<ListedBackup>> list_backups(Place& place, const std::optional<MasterKey>& master) {
  TRY(const Place::Listing listing, place.list(manifests_folder));
  std::vector<ListedBackup> backups;
  for (const objects::ObjectInfo& object : listing.objects) {
    if (!is_backup_id(object.name)) continue;
    ListedBackup& listed = backups.emplace_back();
    listed.id = object.name;
    auto reader = BackupReader::open(place, object.name, master);
    if (!reader && (reader.error().code == base::ErrorCode::io || reader.error().code == base::ErrorCode::exhausted))
      return base::propagate(reader.error());
    if (!reader) {
      listed.problem = reader.error().message;
      continue;
    }
    listed.manifest = reader->manifest();
    listed.sealed = reader->form().is_sealed();
    listed.verdict = reader->verdict();
  }
  std::ranges::stable_sort(backups, {},
                           [](const ListedBackup& each) { return each.manifest ? each.manifest->number : -1; });
  return backups;
}

base::Result<Verification> verify_backup(Place& place, const std::string& id, const std::optional<MasterKey>& master,
                                         const std::function<base::Result<void>()>& step) {
  TRY(BackupReader reader, BackupReader::open(place, id, master));
  return Verifier(reader, step).run();
}

}  // namespace postino::backup
