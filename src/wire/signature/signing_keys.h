// Signing keys that have been derived before: four hashes fewer for each request.
#pragma once

#include <cstddef>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "wire/signature/signature_fields.h"

namespace postino::wire {

// Safe to use from any thread.
class SigningKeys {
 public:
  static constexpr std::size_t capacity = 256;  // a day has one per access key and region

  std::optional<std::string> find(const Credential& credential) const;
  // Only for requests that proved to be right: others could fill it with whatever they make up.
  void insert(const Credential& credential, std::string signing_key);

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::string> keys_;
};

}  // namespace postino::wire
