// Where stores of tests live: in memory, if there is a file system for that. Opening and closing a store syncs a dozen
// times, which on a busy disk takes longer than most tests; what survives a power cut is told by PowerLossEnv.
#pragma once

#include <cstdint>
#include <filesystem>

namespace postino::engine {

// For base::TemporaryDirectory; empty, which is the usual place, when there is no room in memory.
inline std::filesystem::path memory_directory() {
  constexpr std::uintmax_t enough = 512 << 20;
  const std::filesystem::path memory = "/dev/shm";
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(memory, error);
  return !error && space.available >= enough ? memory : std::filesystem::path();
}

}  // namespace postino::engine
