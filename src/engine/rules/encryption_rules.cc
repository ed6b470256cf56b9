#include "engine/rules/encryption_rules.h"

#include "base/hash.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

constexpr std::string_view service_key = "alias/aws/dynamodb";

// Stands for the key behind an alias, which only its owner could tell us. Always the same for the same alias.
std::string key_of_alias(std::string_view alias) {
  const std::string hex = base::to_hex(base::sha256(alias));
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20, 12);
}

}  // namespace

store::Answer<void> check_encryption(const store::EncryptionSpecification& specification) {
  if (!specification.enabled) {
    if (specification.type) return store::refuse_parameter("SSEType can not be specified if Enabled is false");
    if (specification.key_id) return store::refuse_parameter("KMSMasterKeyId can not be specified if Enabled is false");
    return {};
  }
  if (specification.type && *specification.type != "KMS")
    return store::refuse_parameter("SSEType " + *specification.type + " is not supported");
  if (specification.key_id && !specification.type)
    return store::refuse_parameter("SSEType KMS is required if KMSMasterKeyId is specified");
  return {};
}

store::EncryptionSpecification resolve_encryption(const store::EncryptionSpecification& specification,
                                                  const Options& options) {
  std::string key(specification.key_id.value_or(std::string(service_key)));
  if (!key.starts_with("arn:")) {
    if (key.starts_with("alias/")) key = key_of_alias(key);
    key = "arn:aws:kms:" + options.region + ":" + options.account + ":key/" + key;
  }
  return {true, "KMS", std::move(key)};
}

}  // namespace postino::engine
