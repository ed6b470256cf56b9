#include "remote/credentials/profile_files.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace postino::remote {

namespace {

std::string_view without_quotes(std::string_view name) {
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front())
    return name.substr(1, name.size() - 2);
  return name;
}

// The profile of a section; nullopt when it is something else.
std::optional<std::string> profile_name(std::string_view line, ProfileFile kind) {
  const std::size_t end = line.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view section = base::trim(line.substr(1, end - 1));
  if (kind == ProfileFile::credentials || section == "default") return std::string(without_quotes(section));
  constexpr std::string_view mark = "profile";
  if (!section.starts_with(mark) || section.size() == mark.size()) return std::nullopt;
  const std::string_view name = section.substr(mark.size());
  if (name.front() != ' ' && name.front() != '\t') return std::nullopt;
  return std::string(without_quotes(base::trim(name)));
}

}  // namespace

void read_profiles(std::string_view text, ProfileFile kind, Profiles& profiles) {
  Profile* profile = nullptr;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view content = base::trim(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') continue;
    if (line.front() == '[') {
      const auto name = profile_name(line, kind);
      profile = name ? &profiles[*name] : nullptr;
      continue;
    }
    const std::size_t equals = line.find('=');
    const bool is_indented = line.front() == ' ' || line.front() == '\t';
    if (profile == nullptr || is_indented || equals == std::string_view::npos) continue;
    (*profile)[base::lower_case(base::trim(line.substr(0, equals)))] = base::trim(line.substr(equals + 1));
  }
}

}  // namespace postino::remote
