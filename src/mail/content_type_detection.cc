// detect_content_type, and the tables it looks at.
#include <algorithm>

#include "base/text.h"
#include "mail/content_type.h"

namespace postino::mail {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view unknown = "application/octet-stream";

// Formats that many others are made of: there the name says more.
constexpr std::string_view zip = "application/zip";
constexpr std::string_view compound_file = "application/x-ole-storage";

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view type;
};

constexpr Signature signatures[] = {
    {0, "\x89PNG\r\n\x1A\n"sv, "image/png"},
    {0, "\xFF\xD8\xFF"sv, "image/jpeg"},
    {0, "GIF87a"sv, "image/gif"},
    {0, "GIF89a"sv, "image/gif"},
    {8, "WEBP"sv, "image/webp"},
    {8, "WAVE"sv, "audio/wav"},
    {0, "II*\0"sv, "image/tiff"},
    {0, "MM\0*"sv, "image/tiff"},
    {4, "ftypavif"sv, "image/avif"},
    {4, "ftypheic"sv, "image/heic"},
    {4, "ftypM4A "sv, "audio/mp4"},
    {4, "ftypqt  "sv, "video/quicktime"},
    {4, "ftyp"sv, "video/mp4"},
    {0, "%PDF-"sv, "application/pdf"},
    {0, "PK\x03\x04"sv, zip},
    {0, "PK\x05\x06"sv, zip},
    {0, "\x1F\x8B\x08"sv, "application/gzip"},
    {0, "BZh"sv, "application/x-bzip2"},
    {0, "\xFD\x37zXZ\0"sv, "application/x-xz"},
    {0, "\x28\xB5\x2F\xFD"sv, "application/zstd"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "application/x-7z-compressed"},
    {0, "Rar!\x1A\x07"sv, "application/vnd.rar"},
    {0, "OggS"sv, "application/ogg"},
    {0, "ID3"sv, "audio/mpeg"},
    {0, "{\\rtf"sv, "application/rtf"},
    {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, compound_file},
};

struct Extension {
  std::string_view name;
  std::string_view type;
  std::string_view container = {};  // what its first bytes say
};

constexpr Extension extensions[] = {
    {"7z", "application/x-7z-compressed"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"doc", "application/msword", compound_file},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", zip},
    {"epub", "application/epub+zip", zip},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"heic", "image/heic"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar"},
    {"jar", "application/java-archive", zip},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"log", "text/plain"},
    {"md", "text/markdown"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"msg", "application/vnd.ms-outlook", compound_file},
    {"odp", "application/vnd.oasis.opendocument.presentation", zip},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet", zip},
    {"odt", "application/vnd.oasis.opendocument.text", zip},
    {"p7m", "application/pkcs7-mime"},
    {"p7s", "application/pkcs7-signature"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"ppt", "application/vnd.ms-powerpoint", compound_file},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", zip},
    {"rtf", "application/rtf"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tgz", "application/gzip"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"vcf", "text/vcard"},
    {"wav", "audio/wav"},
    {"webp", "image/webp"},
    {"xls", "application/vnd.ms-excel", compound_file},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", zip},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", zip},
};

const Extension* extension_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return nullptr;
  const std::string extension = base::lower_case(name.substr(dot + 1));
  const auto* found = std::ranges::find(extensions, extension, &Extension::name);
  return found == std::end(extensions) ? nullptr : found;
}

std::string_view type_of_bytes(std::string_view bytes) {
  for (const Signature& signature : signatures) {
    // Both formats with a word at 8 are kinds of RIFF.
    if (signature.offset == 8 && !bytes.starts_with("RIFF")) continue;
    if (bytes.size() >= signature.offset && bytes.substr(signature.offset).starts_with(signature.bytes))
      return signature.type;
  }
  return {};
}

}  // namespace

std::string detect_content_type(std::string_view bytes, std::string_view name) {
  const std::string_view type = type_of_bytes(bytes);
  const Extension* extension = extension_of(name);
  if (type.empty()) return std::string(extension != nullptr ? extension->type : unknown);
  if (extension != nullptr && extension->container == type) return std::string(extension->type);
  return std::string(type == compound_file ? unknown : type);
}

bool is_told_by_bytes(std::string_view type) {
  // MPEG audio has its signature only where a tag comes first.
  if (type == "audio/mpeg") return false;
  return std::ranges::find(signatures, type, &Signature::type) != std::end(signatures) ||
         std::ranges::any_of(extensions, [&](const Extension& extension) {
           return extension.type == type && !extension.container.empty();
         });
}

}  // namespace postino::mail
