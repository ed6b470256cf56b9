// JSON from a file of the user: one object, a list of them, or one on each line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::app {

// How the objects are called.
struct JsonFileWords {
  std::string_view list;  // the member of an object around them that holds them: "data"
  std::string_view one;   // "an e-mail"
  std::string_view many;  // "e-mails"
};

// Each as JSON of its own, one at least. They need not be good ones. Fails with the line where it is no JSON.
base::Result<std::vector<std::string>> read_json_file(std::string_view text, const JsonFileWords& words);

}  // namespace postino::app
