#include "support/record/attachment_name.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "json/string.h"

namespace postino::support {

namespace {

constexpr std::size_t longest_extension = 16;
constexpr std::string_view nameless = "attachment";

struct NameCharacter {
  std::uint32_t code = 0;
  std::size_t size = 1;
};

// Of text that is UTF-8.
NameCharacter first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  std::uint32_t code = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  return {code, size};
}

// What readers do not see, or what makes "gpj.exe" look like "exe.jpg".
bool is_deceptive(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0xAD || code == 0x61C || code == 0x180E ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF0 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE0FFF);
}

// With a dot or without.
bool is_device(std::string_view name) {
  const std::string stem = base::lower_case(name.substr(0, name.find('.')));
  constexpr std::array<std::string_view, 4> devices = {"con", "prn", "aux", "nul"};
  if (std::ranges::find(devices, stem) != devices.end()) return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '0' && stem[3] <= '9';
}

std::string shortened(const std::string& name) {
  if (name.size() <= longest_attachment_name) return name;
  const std::size_t dot = name.rfind('.');
  const bool has_extension = dot != std::string::npos && name.size() - dot <= longest_extension;
  const std::string extension = has_extension ? name.substr(dot) : "";
  std::size_t end = longest_attachment_name - extension.size();
  while (end > 0 && !base::starts_character(name[end])) --end;
  return name.substr(0, end) + extension;
}

}  // namespace

base::Result<std::string> clean_attachment_name(std::string_view name) {
  if (!json::is_utf8(name)) return base::invalid("must be UTF-8");
  name.remove_prefix(name.find_last_of("/\\") == std::string_view::npos ? 0 : name.find_last_of("/\\") + 1);
  std::string clean;
  while (!name.empty()) {
    const NameCharacter character = first_character(name);
    if (character.code < 0x80 && std::string_view("<>:\"|?*").find(name.front()) != std::string_view::npos)
      clean += '_';
    else if (!is_deceptive(character.code))
      clean += name.substr(0, character.size);
    name.remove_prefix(character.size);
  }
  clean = shortened(std::string(base::trim(clean, " .")));
  clean = std::string(base::trim(clean, " ."));
  if (clean.empty()) return std::string(nameless);
  return is_device(clean) ? shortened("_" + clean) : clean;
}

std::string extension_of_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : base::lower_case(name.substr(dot + 1));
}

bool is_name_of_program(std::string_view name) {
  static constexpr std::array<std::string_view, 44> extensions = {
      "exe", "com", "bat", "cmd", "scr", "pif", "msi",  "msp", "msix",  "cpl", "dll",  "sys", "vbs",   "vbe", "js",
      "jse", "mjs", "wsf", "wsh", "hta", "ps1", "psm1", "jar", "class", "lnk", "url",  "reg", "inf",   "chm", "scf",
      "sh",  "app", "dmg", "pkg", "deb", "rpm", "apk",  "iso", "img",   "vhd", "html", "htm", "xhtml", "svg"};
  return std::ranges::find(extensions, extension_of_name(name)) != extensions.end();
}

}  // namespace postino::support
