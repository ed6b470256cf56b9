// What a built message is about, for people who look through many.
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

// The Subject header, unfolded and decoded; empty when there is none.
std::string subject_of(std::string_view message);

}  // namespace postino::mail
