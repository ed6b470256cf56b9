// Which access key signs a request, and for which region: as the request says, whether it is so or not.
#pragma once

#include <optional>
#include <string>

#include "http/message.h"

namespace postino::wire {

struct CallerScope {
  std::string key;
  std::string region;

  friend auto operator<=>(const CallerScope&, const CallerScope&) = default;
};

// nullopt for a request that is not signed, or says neither.
std::optional<CallerScope> scope_of(const http::Request& request);

}  // namespace postino::wire
