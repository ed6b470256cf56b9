// The name that a user may have meant who misspelt it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace postino::app {

// The known name that is closest to the word; empty when none is close.
std::string closest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean --smtp?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace postino::app
