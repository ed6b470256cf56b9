// The tables of the services as texts for those who make them with other tools, and the rights that a server needs.
// Pure code.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/table_setup.h"

namespace postino::app {

// A template for AWS CloudFormation, in YAML.
std::string cloudformation_text(const std::vector<store::TableSetup>& tables);
// Resources for Terraform.
std::string terraform_text(const std::vector<store::TableSetup>& tables);

struct PolicyScope {
  std::string region;
  std::string account;
  std::set<std::string> followed;  // tables whose change streams are read; others than those given, too
  bool changes_tables = false;     // also what is needed to make them
};

// A policy for IAM with what a server does, and nothing else, on these tables, their indexes and streams.
std::string iam_policy_text(const std::vector<store::TableSetup>& tables, const PolicyScope& scope);

}  // namespace postino::app
