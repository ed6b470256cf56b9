#include "engine/storage/manifest.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/bytes.h"
#include "engine/storage/whole_file.h"

namespace postino::engine {

namespace {

// The fields of a change of the list of files, by their tags.
enum ManifestTag : std::uint32_t {
  tag_comparator = 1,
  tag_log_number = 2,
  tag_next_file_number = 3,
  tag_last_sequence = 4,
  tag_compact_cursor = 5,
  tag_deleted_file = 6,
  tag_previous_log_number = 9,
  tag_first_log_to_keep = 10,
  tag_new_file = 103,
  tag_family = 200,
  tag_family_added = 201,
  tag_family_dropped = 202,
  tag_last_family = 203,
  tag_in_atomic_group = 300,
  tag_ignorable = 1 << 13,  // set in tags of fields that older versions may skip
};

constexpr std::uint64_t new_file_end = 1;  // of the list of optional fields of a new file

// One record: a change to the files of one column family, which is named near its end.
struct ManifestEdit {
  std::uint64_t family = 0;
  bool family_dropped = false;
  std::optional<std::uint64_t> log_number;
  std::optional<std::uint64_t> first_log_to_keep;
  std::vector<std::uint64_t> deleted;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> added;  // number and size
};

bool skip_sized(base::ByteReader& reader) {
  const auto size = reader.varint();
  return size && reader.take(*size);
}

bool skip_varint(base::ByteReader& reader) { return reader.varint().has_value(); }

bool read_new_file(base::ByteReader& reader, ManifestEdit& edit) {
  const auto level = reader.varint();
  const auto number = reader.varint();
  const auto size = reader.varint();
  const bool keys = skip_sized(reader) && skip_sized(reader);
  const bool sequences = skip_varint(reader) && skip_varint(reader);
  if (!level || !number || !size || !keys || !sequences) return false;
  edit.added.emplace_back(*number, *size);
  while (true) {
    const auto field = reader.varint();
    if (!field) return false;
    if (*field == new_file_end) return true;
    if (!skip_sized(reader)) return false;
  }
}

bool read_deleted_file(base::ByteReader& reader, ManifestEdit& edit) {
  const auto level = reader.varint();
  const auto number = reader.varint();
  if (!level || !number) return false;
  edit.deleted.push_back(*number);
  return true;
}

// False when the field cannot be understood.
bool read_field(base::ByteReader& reader, ManifestEdit& edit) {
  const auto tag = reader.varint();
  if (!tag) return false;
  if ((*tag & tag_ignorable) != 0) return skip_sized(reader);
  switch (*tag) {
    case tag_comparator:
    case tag_family_added:
      return skip_sized(reader);
    case tag_next_file_number:
    case tag_last_sequence:
    case tag_previous_log_number:
    case tag_last_family:
    case tag_in_atomic_group:
      return skip_varint(reader);
    case tag_compact_cursor:
      return skip_varint(reader) && skip_sized(reader);
    case tag_log_number:
      edit.log_number = reader.varint();
      return edit.log_number.has_value();
    case tag_first_log_to_keep:
      edit.first_log_to_keep = reader.varint();
      return edit.first_log_to_keep.has_value();
    case tag_deleted_file:
      return read_deleted_file(reader, edit);
    case tag_new_file:
      return read_new_file(reader, edit);
    case tag_family: {
      const auto family = reader.varint();
      edit.family = family.value_or(0);
      return family.has_value();
    }
    case tag_family_dropped:
      edit.family_dropped = true;
      return true;
    default:
      return false;
  }
}

class ManifestReader {
 public:
  void read(std::string_view record) {
    base::ByteReader reader(record);
    ManifestEdit edit;
    while (understood_ && !reader.empty()) understood_ = read_field(reader, edit);
    if (understood_) apply(edit);
  }

  base::Result<void> take(Manifest& manifest) const {
    if (!understood_) return base::fail(base::ErrorCode::corrupt, "a record cannot be understood");
    std::optional<std::uint64_t> oldest;
    for (const auto& [id, family] : families_) {
      manifest.tables.insert(family.tables.begin(), family.tables.end());
      for (const auto& [number, size] : family.tables) manifest.families[number] = id;
      manifest.first_logs[id] = family.log_number;
      oldest = std::min(oldest.value_or(family.log_number), family.log_number);
    }
    manifest.first_log = std::max(first_log_to_keep_, oldest.value_or(0));
    return {};
  }

 private:
  struct FamilyFiles {
    std::uint64_t log_number = 0;                   // older logs have nothing that is not in its tables
    std::map<std::uint64_t, std::uint64_t> tables;  // sizes by number
  };

  void apply(const ManifestEdit& edit) {
    first_log_to_keep_ = edit.first_log_to_keep.value_or(first_log_to_keep_);
    if (edit.family_dropped) {
      families_.erase(edit.family);
      return;
    }
    FamilyFiles& family = families_[edit.family];
    family.log_number = edit.log_number.value_or(family.log_number);
    for (const std::uint64_t number : edit.deleted) family.tables.erase(number);
    for (const auto& [number, size] : edit.added) family.tables[number] = size;
  }

  bool understood_ = true;
  std::uint64_t first_log_to_keep_ = 0;
  std::map<std::uint64_t, FamilyFiles> families_;
};

}  // namespace

base::Result<Manifest> read_manifest(const std::filesystem::path& file) {
  ManifestReader reader;
  Manifest manifest;
  TRY(manifest.scan, scan_log(file, LogKind::manifest, [&](std::string_view record) { reader.read(record); }));
  TRY_VOID(reader.take(manifest));
  return manifest;
}

base::Result<std::string> current_manifest(const std::filesystem::path& store_directory) {
  TRY(const std::string text, read_whole_file(store_directory / "CURRENT"));
  constexpr std::string_view prefix = "MANIFEST-";
  if (!text.starts_with(prefix) || !text.ends_with('\n') || text.find('\n') != text.size() - 1 ||
      text.find_first_not_of("0123456789", prefix.size()) != text.size() - 1 || text.size() < prefix.size() + 2)
    return base::fail(base::ErrorCode::corrupt, "does not name a manifest");
  return text.substr(0, text.size() - 1);
}

std::optional<std::uint64_t> file_number(const std::string& name, std::string_view ending) {
  if (!name.ends_with(ending)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const digits_end = name.data() + name.size() - ending.size();
  const auto [end, error] = std::from_chars(name.data(), digits_end, number);
  if (error != std::errc() || end != digits_end) return std::nullopt;
  return number;
}

std::string numbered_file(std::uint64_t number, std::string_view ending) {
  std::string digits = std::to_string(number);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return digits.append(ending);
}

}  // namespace postino::engine
