// What is known of a request when policies are asked about it.
#pragma once

#include <array>
#include <bitset>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/policy/actions.h"
#include "access/policy/context_key.h"

namespace postino::access {

// Who calls: the user that an access key belongs to.
struct Principal {
  std::string account;  // 12 digits
  std::string name;     // of the user; an access key's id, unless its settings say otherwise
  std::string id;       // aws:userid
  // Of keys for which is_of_caller() is true.
  std::vector<std::pair<KeyReference, std::string>> values = {};

  std::string arn() const { return "arn:aws:iam::" + account + ":user/" + name; }
};

using ContextKeySet = std::bitset<context_key_count>;

// Values by their keys. A key without any values is not there.
class Context {
 public:
  Context() = default;
  // Keys that are not here are looked for in `behind`, which must outlive it: what is the same for many requests.
  explicit Context(const Context* behind) : behind_(behind) {}

  void add(ContextKey key, std::string value) { values_[static_cast<std::size_t>(key)].push_back(std::move(value)); }
  // Keys with names, too.
  void add(const KeyReference& key, std::string value);
  // Replaces what there was.
  void set(ContextKey key, std::string value) {
    auto& values = values_[static_cast<std::size_t>(key)];
    values.clear();
    values.push_back(std::move(value));
  }
  void clear(ContextKey key) { values_[static_cast<std::size_t>(key)].clear(); }

  // Views, until the context changes.
  std::span<const std::string> values(const KeyReference& key) const;

 private:
  std::array<std::vector<std::string>, context_key_count> values_;
  std::vector<std::pair<KeyReference, std::vector<std::string>>> named_;
  const Context* behind_ = nullptr;
};

// Adds what is known of the caller.
void add_principal(Context& context, const Principal& principal);

// What a caller wants to do.
struct AccessRequest {
  Action action;
  std::string resource;  // an ARN, or "*" where the action is about none
  Context context = {};
};

}  // namespace postino::access
