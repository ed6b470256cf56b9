#include "objects/directory_names.h"

namespace postino::objects {

std::string folder_of(std::string_view begin) {
  std::string path;
  while (!begin.empty()) {
    const std::size_t slash = begin.find('/');
    if (begin.front() == '.' || begin.front() == '=') path += '\\';
    path.append(begin.substr(0, slash + 1));
    begin.remove_prefix(slash + 1);
  }
  return path;
}

std::string file_of(std::string_view name) {
  const std::size_t begin = name.rfind('/') + 1;  // 0 when there is no slash
  return folder_of(name.substr(0, begin)).append("=").append(name.substr(begin));
}

std::optional<std::string> part_of_entry(const std::filesystem::directory_entry& entry) {
  std::error_code error;
  std::string name = entry.path().filename().string();
  if (entry.is_symlink(error) || error) return std::nullopt;
  if (entry.is_directory(error)) {
    if (name.starts_with('.') || name.starts_with('=')) return std::nullopt;
    if (name.starts_with('\\')) name.erase(0, 1);
    return name + "/";
  }
  if (!entry.is_regular_file(error) || !name.starts_with('=')) return std::nullopt;
  return name.substr(1);
}

}  // namespace postino::objects
