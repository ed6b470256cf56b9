// A store that was made by a start that failed.
#pragma once

#include <filesystem>
#include <set>

namespace postino::engine {

// Takes away what is in a data directory, except for these names: what Engine::open() has made there. The engine was
// closed since. The directory itself stays. Nothing is done while another process has it.
void remove_new_store(const std::filesystem::path& directory, const std::set<std::filesystem::path>& kept);

}  // namespace postino::engine
