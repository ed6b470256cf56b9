// The tables of the services as texts for those who make them with other tools, and the rights that a server needs.
// Pure code.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/store/table_uses.h"
#include "store/table_setup.h"

namespace postino::app {

// A template for AWS CloudFormation, in YAML.
std::string cloudformation_text(const std::vector<store::TableSetup>& tables);
// Resources for Terraform.
std::string terraform_text(const std::vector<store::TableSetup>& tables);

// What IAM takes as one managed policy, and how many a policy has: characters without spaces and line ends.
inline constexpr std::size_t largest_policy = 6'144;
std::size_t characters_of_policy(std::string_view text);

struct PolicyScope {
  std::string region;
  std::string account;
  std::set<std::string> followed;  // tables whose change streams are read; others than those given, too
  bool changes_tables = false;     // also what is needed to make them
  std::map<std::string, TableUse, std::less<>> uses = {};  // what is done with each table
  std::set<std::string> buckets = {};                      // of objects, and of payloads and messages
};

// A policy for IAM with what a server does, and nothing else: on each of these tables what its services do with it, on
// their indexes, streams and buckets.
std::string iam_policy_text(const std::vector<store::TableSetup>& tables, const PolicyScope& scope);

}  // namespace postino::app
