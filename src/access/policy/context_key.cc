#include "access/policy/context_key.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace postino::access {

namespace {

constexpr auto key_names = std::to_array<std::string_view>({
    "dynamodb:LeadingKeys",
    "dynamodb:FirstPartitionKeyValues",
    "dynamodb:SecondPartitionKeyValues",
    "dynamodb:ThirdPartitionKeyValues",
    "dynamodb:FourthPartitionKeyValues",
    "dynamodb:Attributes",
    "dynamodb:Select",
    "dynamodb:ReturnValues",
    "dynamodb:ReturnConsumedCapacity",
    "dynamodb:EnclosingOperation",
    "dynamodb:FullTableScan",
    "aws:SourceIp",
    "aws:SecureTransport",
    "aws:UserAgent",
    "aws:CurrentTime",
    "aws:EpochTime",
    "aws:RequestedRegion",
    "aws:PrincipalArn",
    "aws:PrincipalAccount",
    "aws:PrincipalType",
    "aws:userid",
    "aws:username",
});
static_assert(key_names.size() == static_cast<std::size_t>(ContextKey::principal_tag));

constexpr std::string_view tag_prefix = "aws:PrincipalTag/";
constexpr std::size_t longest_tag_name = 128;

// What AWS's examples of fine-grained access tell customers apart by.
constexpr auto identity_names = std::to_array<std::string_view>({
    "cognito-identity.amazonaws.com:sub",
    "cognito-identity.amazonaws.com:aud",
    "cognito-identity.amazonaws.com:amr",
    "www.amazon.com:user_id",
    "www.amazon.com:app_id",
    "graph.facebook.com:id",
    "graph.facebook.com:app_id",
    "accounts.google.com:sub",
    "accounts.google.com:aud",
    "accounts.google.com:oaud",
    "accounts.google.com:email",
});

}  // namespace

base::Result<KeyReference> KeyReference::parse(std::string_view text) {
  for (std::size_t i = 0; i < key_names.size(); ++i)
    if (base::equal_ignoring_case(key_names[i], text)) return KeyReference{static_cast<ContextKey>(i)};
  const std::string lower = base::lower_case(text);
  if (base::equal_ignoring_case(text.substr(0, tag_prefix.size()), tag_prefix)) {
    std::string name = lower.substr(tag_prefix.size());
    if (name.empty() || name.size() > longest_tag_name) return base::invalid("a tag has a name of 1 to 128 letters");
    return KeyReference{ContextKey::principal_tag, std::move(name)};
  }
  if (std::ranges::find(identity_names, lower) != identity_names.end())
    return KeyReference{ContextKey::identity, lower};
  return base::invalid("is no condition key that is known here");
}

std::string KeyReference::text() const {
  if (key == ContextKey::principal_tag) return std::string(tag_prefix) + name;
  if (key == ContextKey::identity) return name;
  return std::string(key_names.at(static_cast<std::size_t>(key)));
}

}  // namespace postino::access
