// The target of a request, decoded: the segments of its path, and the parameters of its query.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/protocol/problem.h"

namespace postino::api {

// Undoes percent-encoding; a plus sign stands for itself. nullopt for a broken escape and for control characters.
std::optional<std::string> percent_decode(std::string_view text);

// "/emails/a%2Fb" -> {"emails", "a/b"}.
base::Result<std::vector<std::string>, Problem> split_path(std::string_view path);

class Query {
 public:
  // Each name at most once.
  static base::Result<Query, Problem> parse(std::string_view text);

  const std::string* find(std::string_view name) const;  // nullptr when it is not given
  const std::vector<std::pair<std::string, std::string>>& parameters() const { return parameters_; }

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace postino::api
