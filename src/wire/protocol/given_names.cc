#include "wire/protocol/given_names.h"

#include <algorithm>

namespace postino::wire {

GivenNames GivenNamesBuilder::take() && {
  const bool all_plain = std::ranges::all_of(names_, [](const auto& entry) { return entry.first == entry.second; });
  if (all_plain) return nullptr;
  return std::make_shared<const std::vector<std::pair<std::string, std::string>>>(std::move(names_));
}

const std::string& NamesInOrder::next(const std::string& table) {
  if (names_ == nullptr) return table;
  while (position_ < names_->size()) {
    const auto& [name, given] = (*names_)[position_++];
    if (name == table) return given;
  }
  return table;
}

}  // namespace postino::wire
