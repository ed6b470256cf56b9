// What access keys of DynamoDB's API may do: their policies, and what is known of their holders.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "access/policies.h"
#include "wire/endpoint.h"

namespace postino::app {

struct PolicySettings {
  // Of an access key: a file that was read with the settings, or a document that is in them.
  struct KeyPolicy {
    std::string key_id;
    std::string source;
    std::shared_ptr<const access::Policy> policy;
  };
  struct KeyValue {
    std::string key_id;
    access::KeyReference key;
    std::string value;
  };
  std::vector<KeyPolicy> policies;
  std::vector<KeyValue> principals;
};

inline constexpr std::size_t max_policies_of_key = 10;

// The policy that a file has, or that a text is that begins with a brace.
base::Result<access::Policy> read_policy(const std::string& source, access::PolicyKind kind);
// "KEY=VALUE" of a caller.
base::Result<std::pair<access::KeyReference, std::string>> parse_caller_value(std::string_view text);
// A name for IAM's ARNs: that of the key's holder, unless the settings have another.
access::Principal principal_of(const std::string& account, const std::string& key_id, const PolicySettings& settings);

// The keys with what they may do. A key without policies may do everything.
std::vector<wire::AccessKey> with_policies(std::vector<wire::AccessKey> keys, const std::string& account,
                                           const PolicySettings& settings);

}  // namespace postino::app
