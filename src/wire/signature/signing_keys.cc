#include "wire/signature/signing_keys.h"

#include <mutex>

namespace postino::wire {

namespace {

std::string name_of(const Credential& credential) {
  std::string name(credential.key_id);
  return name.append("/").append(credential.date).append("/").append(credential.region);
}

}  // namespace

std::optional<std::string> SigningKeys::find(const Credential& credential) const {
  const std::string name = name_of(credential);
  std::shared_lock lock(mutex_);
  const auto found = keys_.find(name);
  if (found == keys_.end()) return std::nullopt;
  return found->second;
}

void SigningKeys::insert(const Credential& credential, std::string signing_key) {
  std::string name = name_of(credential);
  std::unique_lock lock(mutex_);
  // Yesterday's are never asked for again: starting over is all the order that is needed.
  if (keys_.size() >= capacity) keys_.clear();
  keys_.insert_or_assign(std::move(name), std::move(signing_key));
}

}  // namespace postino::wire
