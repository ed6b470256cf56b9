#include "support/record/attachment_type.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "mail/content_type.h"
#include "support/record/attachment_name.h"

namespace postino::support {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view unknown_type = "application/octet-stream";
constexpr std::string_view program_type = "application/x-executable";
constexpr std::string_view page_type = "text/html";
constexpr std::string_view drawing_type = "image/svg+xml";
constexpr std::string_view xml_type = "application/xml";
constexpr std::string_view text_type = "text/plain";
constexpr std::string_view old_office_type = "application/x-ole-storage";  // what older documents are packed in

constexpr std::size_t looked_at = 1'024;  // bytes at the beginning that tell a page

// Other names of the same types.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {
    {"image/jpg", "image/jpeg"},
    {"image/pjpeg", "image/jpeg"},
    {"image/x-png", "image/png"},
    {"application/x-zip-compressed", "application/zip"},
    {"application/x-zip", "application/zip"},
    {"application/x-gzip", "application/gzip"},
    {"application/x-pdf", "application/pdf"},
    {"audio/x-wav", "audio/wav"},
    {"audio/wave", "audio/wav"},
    {"text/xml", "application/xml"},
    {"text/json", "application/json"},
    {"text/yaml", "application/yaml"},
    {"application/x-yaml", "application/yaml"},
    {"application/csv", "text/csv"},
    {"text/rtf", "application/rtf"},
    {"binary/octet-stream", "application/octet-stream"},
};

bool begins_like_program(std::string_view bytes) {
  constexpr std::string_view beginnings[] = {
      "\x7F"
      "ELF"sv,
      "#!"sv,
      "\xFE\xED\xFA\xCE"sv,
      "\xFE\xED\xFA\xCF"sv,
      "\xCE\xFA\xED\xFE"sv,
      "\xCF\xFA\xED\xFE"sv,
      "\xCA\xFE\xBA\xBE"sv,
      "\0asm"sv};
  if (std::ranges::any_of(beginnings, [&](std::string_view begin) { return bytes.starts_with(begin); })) return true;
  // "MZ" alone may begin a text. Programs have a header of 64 bytes, and zeros in it.
  return bytes.starts_with("MZ") && bytes.size() >= 64 && bytes.substr(0, 64).find('\0') != std::string_view::npos;
}

// Text of any encoding that has ASCII in it; terminals' colours are in logs.
bool is_text(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;  // UTF-16 says so
  return std::ranges::all_of(bytes, [](char byte) {
    return !base::is_control_character(byte) || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' ||
           byte == '\v' || byte == '\b' || byte == '\x1B';
  });
}

// XML in which a browser runs scripts, whatever its elements are called: it names a namespace of pages or drawings, or
// a style sheet. Such a name can be anywhere.
std::string_view active_xml_type(std::string_view text) {
  if (!base::trim(text).starts_with('<')) return {};
  if (text.find("http://www.w3.org/2000/svg") != std::string_view::npos) return drawing_type;
  const bool is_page = text.find("http://www.w3.org/1999/xhtml") != std::string_view::npos ||
                       text.find("<?xml-stylesheet") != std::string_view::npos;
  return is_page ? page_type : std::string_view();
}

// Where a browser looks for the beginning of a page.
std::string_view markup_type(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    std::string text(bytes.substr(2));  // UTF-16: letters of ASCII have a zero beside them
    std::erase(text, '\0');
    return active_xml_type(text);
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  if (const std::string_view active = active_xml_type(bytes); !active.empty()) return active;
  std::string begin = base::lower_case(base::trim(bytes.substr(0, looked_at)));
  const bool is_xml = begin.starts_with("<?xml");
  while (begin.starts_with("<?") || begin.starts_with("<!--")) {
    const std::string_view end = begin.starts_with("<?") ? "?>" : "-->";
    const std::size_t found = begin.find(end);
    if (found == std::string::npos) break;
    begin = std::string(base::trim(std::string_view(begin).substr(found + end.size())));
  }
  constexpr std::string_view pages[] = {"<!doctype html", "<html",  "<head",   "<body", "<script", "<iframe", "<title",
                                        "<style",         "<table", "<a href", "<img",  "<h1",     "<div",    "<p>"};
  if (begin.starts_with("<svg") || begin.starts_with("<!doctype svg")) return drawing_type;
  if (std::ranges::any_of(pages, [&](std::string_view page) { return begin.starts_with(page); })) return page_type;
  return is_xml ? xml_type : std::string_view();
}

bool is_type_of_text(std::string_view type) {
  return (type.starts_with("text/") && type != page_type) || type == "application/json" || type == xml_type ||
         type == "application/yaml" || type == "application/x-ndjson";
}

base::Result<std::string> claimed_name(std::string_view claimed) {
  if (claimed.empty()) return std::string();
  const auto parsed = mail::parse_content_type(claimed);
  if (!parsed) return base::invalid(parsed.error().message);
  for (const auto& [alias, name] : aliases)
    if (parsed->name == alias) return std::string(name);
  return parsed->name;
}

// May bytes of this kind be called so? `by_name` is what they are by the name's extension and their beginning.
bool may_be(std::string_view actual, std::string_view type, std::string_view by_name) {
  if (actual == type) return true;
  if (actual == page_type || actual == drawing_type) return false;
  if (actual == text_type || actual == xml_type) return is_type_of_text(type);
  // Many types are packed in others: documents in archives.
  if (actual != unknown_type) return by_name == type;
  return !is_type_of_text(type) && !mail::is_told_by_bytes(type);
}

}  // namespace

const std::vector<std::string>& usual_attachment_types() {
  static const std::vector<std::string> types = {
      "application/gzip",
      "application/json",
      "application/msword",
      "application/octet-stream",
      "application/pdf",
      "application/rtf",
      "application/vnd.ms-excel",
      "application/vnd.ms-outlook",
      "application/vnd.ms-powerpoint",
      "application/vnd.oasis.opendocument.presentation",
      "application/vnd.oasis.opendocument.spreadsheet",
      "application/vnd.oasis.opendocument.text",
      "application/vnd.openxmlformats-officedocument.presentationml.presentation",
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      "application/x-7z-compressed",
      "application/x-bzip2",
      "application/x-ndjson",
      "application/x-tar",
      "application/x-xz",
      "application/xml",
      "application/yaml",
      "application/zip",
      "application/zstd",
      "audio/mp4",
      "audio/mpeg",
      "audio/wav",
      "image/avif",
      "image/bmp",
      "image/gif",
      "image/heic",
      "image/jpeg",
      "image/png",
      "image/tiff",
      "image/webp",
      "text/calendar",
      "text/csv",
      "text/markdown",
      "text/plain",
      "text/tab-separated-values",
      "text/vcard",
      "video/mp4",
      "video/quicktime",
  };
  return types;
}

std::string sniff_content_type(std::string_view bytes) {
  if (begins_like_program(bytes)) return std::string(program_type);
  std::string type = mail::detect_content_type(bytes, "");
  if (type != unknown_type) return type;
  if (bytes.starts_with("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")) return std::string(old_office_type);
  if (!is_text(bytes)) return type;
  const std::string_view markup = markup_type(bytes);
  return std::string(markup.empty() ? text_type : markup);
}

base::Result<std::string> decide_content_type(std::string_view bytes, std::string_view name, std::string_view claimed,
                                              const std::vector<std::string>& allowed) {
  TRY(const std::string said, claimed_name(claimed));
  const std::string actual = sniff_content_type(bytes);
  if (actual == program_type) return base::invalid("must not be a program or a script");
  const std::string by_name = mail::detect_content_type(bytes, name);
  // Of text without a claim the name tells which, as "log.csv" does; without either it is plain.
  std::string type = said;
  if (said.empty() || said == unknown_type) type = by_name == unknown_type ? actual : by_name;
  if (!may_be(actual, type, by_name))
    return base::invalid("must be what the content is: it is " + actual + ", not " + type);
  // The extension decides what opens it.
  const std::string of_extension = mail::detect_content_type("", "x." + extension_of_name(name));
  const bool is_known = of_extension != unknown_type;
  const bool is_fitting = of_extension == type || (is_type_of_text(of_extension) && is_type_of_text(type));
  if (is_known && !is_fitting)
    return base::invalid("must fit the name: " + extension_of_name(name) + " is for " + of_extension);
  if (std::ranges::find(allowed, type) == allowed.end()) return base::invalid("must not be " + type);
  return type;
}

}  // namespace postino::support
