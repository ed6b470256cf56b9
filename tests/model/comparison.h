// Compares what the store answered with what the model expects. Every function returns what differs, or nothing.
#pragma once

#include <string>

#include "model_pages.h"
#include "model_store.h"
#include "store/store.h"

namespace postino::model {

std::string difference(const Fault& expected, const store::Error& actual);
std::string difference(const std::optional<item::Item>& expected, const std::optional<item::Item>& actual);
std::string difference(const std::vector<std::optional<item::Item>>& expected,
                       const std::vector<std::optional<item::Item>>& actual);
std::string difference(const ExpectedPage& expected, const store::PageResponse& actual);
std::string difference(const ModelTable& expected, const store::TableDescription& actual);

// Compares errors; when both succeeded there is nothing to say yet.
template <class T, class Response>
std::string difference_of_outcome(const Expected<T>& expected, const store::Answer<Response>& actual) {
  if (expected && actual) return {};
  if (!expected && !actual) return difference(expected.error(), actual.error());
  if (expected)
    return "refused with " + std::string(store::error_name(actual.error().type)) + ": " + actual.error().message;
  return "accepted instead of refused with " + std::string(store::error_name(expected.error().type)) +
         (expected.error().messages.empty() ? "" : ": " + expected.error().messages.front());
}

}  // namespace postino::model
