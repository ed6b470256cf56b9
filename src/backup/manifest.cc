#include "backup/manifest.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/timestamp.h"
#include "json/document.h"
#include "json/writer.h"

namespace postino::backup {

namespace {

constexpr std::int64_t manifest_format = 1;
constexpr std::size_t chunk_name_digits = 64;

tl::unexpected<base::Error> damaged_manifest(const char* what) {
  return base::fail(base::ErrorCode::corrupt, std::string(what) + " is not in the form of backups");
}

bool is_chunk_name(std::string_view text) {
  return text.size() == chunk_name_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }

void write_pieces(json::Writer& json, const std::vector<Piece>& pieces) {
  json.begin_array();
  for (const Piece& piece : pieces)
    json.begin_array().string(piece.chunk).integer(signed_of(piece.offset)).integer(signed_of(piece.size)).end_array();
  json.end_array();
}

// Reads members; notes when one is missing or of another type.
class MemberReader {
 public:
  explicit MemberReader(json::Element object) : object_(object) {}

  std::string text(std::string_view name) {
    const auto found = object_.member(name);
    const auto text = found ? found->text() : std::nullopt;
    whole_ = whole_ && text;
    return std::string(text.value_or(""));
  }
  std::uint64_t number(std::string_view name) {
    const auto found = object_.member(name);
    return count(found ? found->integer() : std::nullopt);
  }
  base::TimePoint time(std::string_view name) {
    const auto parsed = base::parse_timestamp(text(name));
    whole_ = whole_ && parsed;
    return parsed ? *parsed : base::TimePoint();
  }
  std::vector<Piece> pieces(std::string_view name) {
    std::vector<Piece> result;
    const auto found = object_.member(name);
    whole_ = whole_ && found && found->is_array();
    if (!whole_) return result;
    for (const json::Element element : found->elements()) {
      std::vector<json::Element> parts;
      for (const json::Element part : element.elements()) parts.push_back(part);
      if (parts.size() != 3 || !is_chunk_name(parts[0].text().value_or(""))) {
        whole_ = false;
        return result;
      }
      const std::uint64_t offset = count(parts[1].integer());
      const std::uint64_t size = count(parts[2].integer());
      result.push_back({std::string(*parts[0].text()), offset, size});
    }
    return result;
  }
  bool is_whole() const { return whole_; }

 private:
  std::uint64_t count(std::optional<std::int64_t> number) {
    whole_ = whole_ && number && *number >= 0;
    return whole_ ? static_cast<std::uint64_t>(*number) : 0;
  }

  json::Element object_;
  bool whole_ = true;
};

}  // namespace

std::string encode_manifest(const Manifest& manifest) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("format").integer(manifest_format);
  json.key("id").string(manifest.id);
  json.key("store").string(manifest.store);
  json.key("number").integer(manifest.number);
  json.key("taken").string(base::format_timestamp(manifest.taken));
  json.key("finished").string(base::format_timestamp(manifest.finished));
  json.key("program").string(manifest.program);
  json.key("files").integer(signed_of(manifest.files));
  json.key("bytes").integer(signed_of(manifest.bytes));
  json.key("new_bytes").integer(signed_of(manifest.new_bytes));
  json.key("list");
  write_pieces(json, manifest.list);
  json.end_object();
  return text + "\n";
}

base::Result<Manifest> decode_manifest(std::string_view text) {
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(text, errors)) return damaged_manifest("the manifest");
  MemberReader reader(document.root());
  if (const std::uint64_t format = reader.number("format"); reader.is_whole() && format > manifest_format)
    return base::invalid("was written by a newer version of Postino");
  Manifest manifest;
  manifest.id = reader.text("id");
  manifest.store = reader.text("store");
  manifest.number = signed_of(reader.number("number"));
  manifest.taken = reader.time("taken");
  manifest.finished = reader.time("finished");
  manifest.program = reader.text("program");
  manifest.files = reader.number("files");
  manifest.bytes = reader.number("bytes");
  manifest.new_bytes = reader.number("new_bytes");
  manifest.list = reader.pieces("list");
  if (!reader.is_whole() || !is_backup_id(manifest.id)) return damaged_manifest("the manifest");
  return manifest;
}

std::string encode_file(const FileEntry& file) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("path").string(file.path);
  json.key("size").integer(signed_of(file.size));
  json.key("modified").string(base::format_timestamp(file.modified));
  json.key("pieces");
  write_pieces(json, file.pieces);
  json.end_object();
  return text + "\n";
}

base::Result<FileEntry> decode_file(std::string_view line) {
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(line, errors)) return damaged_manifest("the list of files");
  MemberReader reader(document.root());
  FileEntry file;
  file.path = reader.text("path");
  file.size = reader.number("size");
  file.modified = reader.time("modified");
  file.pieces = reader.pieces("pieces");
  std::uint64_t sum = 0;
  for (const Piece& piece : file.pieces) sum += piece.size;
  if (!reader.is_whole() || !is_inside(file.path) || sum != file.size) return damaged_manifest("the list of files");
  return file;
}

std::string make_backup_id(base::TimePoint taken, std::uint32_t distinction) {
  std::string id;
  for (const char letter : base::format_timestamp(taken).substr(0, 19))
    if (letter != '-' && letter != ':') id.push_back(letter);
  std::array<char, 9> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x", distinction);
  return id + "Z-" + digits.data();
}

bool is_backup_id(std::string_view text) {
  constexpr std::string_view form = "00000000T000000Z-xxxxxxxx";
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const std::string_view taken = form[i] == '0'   ? "0123456789"
                                   : form[i] == 'x' ? "0123456789abcdef"
                                                    : form.substr(i, 1);
    if (taken.find(text[i]) == std::string_view::npos) return false;
  }
  return true;
}

bool is_inside(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == path.size()) return true;
    path.remove_prefix(end + 1);
  }
}

}  // namespace postino::backup
