// Names of resources: arn:aws:dynamodb:us-east-1:123456789012:table/tickets/index/customer-index.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/policy/pattern.h"

namespace postino::access {

// What stands between the first five colons, and all that follows.
inline constexpr std::size_t arn_part_count = 6;
using ArnParts = std::array<std::string_view, arn_part_count>;

// Colons inside ${...} do not count. nullopt: there are fewer parts, or the first is not "arn".
std::optional<ArnParts> split_arn(std::string_view text);

// Matches part by part, so that a * does not pass a colon, but within the last part.
class ArnPattern {
 public:
  // Any ARN.
  static base::Result<ArnPattern> parse(std::string_view text, bool variables);
  // What a policy can say of resources: "*", or an ARN; if it is one of DynamoDB, one that something here can have.
  // The words "region" and "account", as AWS's documents write them, stand for those of this server.
  static base::Result<ArnPattern> parse_resource(std::string_view text, bool variables);

  Pattern::Match match(std::string_view text, const Context& context) const;
  void add_keys(ContextKeySet& keys) const;

 private:
  bool everything_ = false;
  std::vector<Pattern> parts_;
};

}  // namespace postino::access
