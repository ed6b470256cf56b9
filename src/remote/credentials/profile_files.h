// The files in which AWS keeps profiles: sections of names and values. Pure code.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace postino::remote {

using Profile = std::map<std::string, std::string, std::less<>>;  // names in lower case
using Profiles = std::map<std::string, Profile, std::less<>>;     // by name

enum class ProfileFile {
  credentials,  // [prod]
  config,       // [profile prod], and [default]
};

// Adds what the text says to `profiles`, over what they have. As AWS's own programs read it: a line that begins with
// # or ; is a comment, an indented one belongs to the value above it and is passed over, and of two values the last
// counts. What cannot be understood is passed over, and so are other sections.
void read_profiles(std::string_view text, ProfileFile kind, Profiles& profiles);

}  // namespace postino::remote
