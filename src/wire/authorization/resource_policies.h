// The policies that tables and streams have, read once and not for each request.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "access/policies.h"
#include "store/store.h"

namespace postino::wire {

// Any thread.
class ResourcePolicies {
 public:
  // The policy that protects what the ARN names; nullptr: none. One that cannot be read, because a later version has
  // kept it, denies everything.
  std::shared_ptr<const access::Policy> of(const store::ResourceSettings& settings, const std::string& arn);

 private:
  struct Read {
    store::ResourcePolicyPointer kept;  // what was read: the address is that of no other as long as it is here
    std::shared_ptr<const access::Policy> policy;
  };
  std::mutex mutex_;
  std::map<const store::ResourcePolicy*, Read> read_;
};

}  // namespace postino::wire
