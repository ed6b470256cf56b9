// How objects are called in a directory (directory_objects.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace postino::objects {

// "a/.b/c.json" is the file "a/\.b/=c.json".
std::string file_of(std::string_view name);
// What objects begin with that are in a folder, such as "a/.b/": the folder "a/\.b/". Empty: the directory itself.
std::string folder_of(std::string_view begin);

// What an entry of a folder adds to the names of objects: "c.json", or "b/" for a folder. nullopt for what is not ours.
std::optional<std::string> part_of_entry(const std::filesystem::directory_entry& entry);

}  // namespace postino::objects
