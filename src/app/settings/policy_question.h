// A question about policies, asked without a server: may this caller do that, and why?
#pragma once

#include <string>
#include <vector>

#include "access/policies.h"
#include "base/result.h"

namespace postino::app {

struct PolicyQuestion {
  std::vector<std::string> policies;           // of the caller: files; none: it may do everything
  std::vector<std::string> resource_policies;  // of what it is about
  std::string action;                          // "dynamodb:GetItem"
  std::string resource = "*";                  // an ARN, or the name of a table, an index ("orders/index/by-date")
  std::vector<std::string> context;            // "KEY=VALUE"; a key may be there several times
  std::string region = "us-east-1";
  std::string account = "123456789012";
  std::string user = "user";
};

struct PolicyAnswer {
  bool allowed = false;
  std::string text;  // of several lines
  std::string json;
};

// Fails when a policy or another part of the question breaks a rule.
base::Result<PolicyAnswer> answer(const PolicyQuestion& question);

}  // namespace postino::app
