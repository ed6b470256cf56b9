// Whole files of tests, read and written at once: byte by byte, as stream iterators do it, takes a sanitizer ten times
// as long.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace postino::engine {

// "" when there is no such file.
inline std::string file_contents(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  std::string contents(error ? 0 : size, '\0');
  std::ifstream(file, std::ios::binary).read(contents.data(), static_cast<std::streamsize>(contents.size()));
  return contents;
}

inline void put_contents(const std::filesystem::path& file, std::string_view contents) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
}

}  // namespace postino::engine
