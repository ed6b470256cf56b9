// Access keys with policies on an endpoint, and calls that are signed with them and go the whole way.
#pragma once

#include <string>
#include <vector>

#include "endpoint_testing.h"

namespace postino::wire {

class SignedCallsTest : public EndpointTest {
 protected:
  // A key besides "admin", which has no policies.
  void add_key(const std::string& id, const std::string& policy, const std::string& customer = "");
  http::Response as(const std::string& id, const std::string& operation, const std::string& body);

  static KeyPoliciesPointer policies_of(const std::string& id, const std::string& policy,
                                        const std::string& customer = "");

  // The first text of this name in an answer.
  static std::string text_of(const std::string& body, const std::string& name);

 private:
  std::vector<AccessKey> keys_ = {{"admin", "admin-secret"}};
};

}  // namespace postino::wire
