// Values of a document by their place, for tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/document.h"

namespace postino::json {

// By a JSON pointer (RFC 6901): "/data/0/id". nullopt when there is nothing.
inline std::optional<Element> find_at(Element root, std::string_view pointer) {
  std::optional<Element> found = root;
  while (found && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string name(pointer.substr(0, end));
    pointer.remove_prefix(end);
    for (std::size_t at = 0; (at = name.find('~', at)) != std::string::npos; ++at)
      name.replace(at, 2, name.substr(at, 2) == "~1" ? "/" : "~");
    if (!found->is_array()) {
      found = found->member(name);
      continue;
    }
    const Elements elements = found->elements();
    const std::size_t index = std::stoul(name);
    found = index < elements.size() ? std::optional(*std::next(elements.begin(), static_cast<std::ptrdiff_t>(index)))
                                    : std::nullopt;
  }
  return found;
}

}  // namespace postino::json
