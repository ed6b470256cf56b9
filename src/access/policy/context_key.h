// Condition keys: what a policy can ask of a request and of its caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::access {

enum class ContextKey : std::uint8_t {
  // Of the request. The first six can have several values.
  leading_keys,
  first_partition_key_values,
  second_partition_key_values,
  third_partition_key_values,
  fourth_partition_key_values,
  attributes,
  select,
  return_values,
  return_consumed_capacity,
  enclosing_operation,
  full_table_scan,
  // Of the call.
  source_ip,
  secure_transport,
  user_agent,
  current_time,
  epoch_time,
  requested_region,
  // Of the caller.
  principal_arn,
  principal_account,
  principal_type,
  user_id,
  user_name,
  principal_tag,  // with the name of the tag
  identity,       // what another service told of a person: "cognito-identity.amazonaws.com:sub"
};
inline constexpr std::size_t context_key_count = static_cast<std::size_t>(ContextKey::identity) + 1;

// A key as a policy names it. Letters count in either case.
struct KeyReference {
  ContextKey key = ContextKey::leading_keys;
  std::string name = {};  // in lower case: of the tag, or the whole key of an identity; empty for other keys

  // Fails with the rule when no such key is known.
  static base::Result<KeyReference> parse(std::string_view text);
  std::string text() const;

  friend bool operator==(const KeyReference&, const KeyReference&) = default;
};

// Requests can have several values of it, so that conditions must say whether all or any of them count.
constexpr bool has_several_values(ContextKey key) { return key <= ContextKey::attributes; }
// What settings can say of the holder of an access key.
constexpr bool is_of_caller(ContextKey key) { return key >= ContextKey::user_id; }

}  // namespace postino::access
