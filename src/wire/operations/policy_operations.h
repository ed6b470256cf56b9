// Resource policies: PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy.
#pragma once

#include "wire/operations/table_operations.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

struct ResourcePolicyInput {
  std::optional<std::string> resource_arn;
  std::optional<std::string> policy;
  std::optional<std::string> expected_revision;
  std::optional<bool> confirm_remove_self_access;
};
template <>
struct Shape<ResourcePolicyInput> {
  static constexpr std::string_view name = "PutResourcePolicyInput";
  using T = ResourcePolicyInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::resource_arn>("ResourceArn"),
      member<T, &T::policy>("Policy"),
      member<T, &T::expected_revision>("ExpectedRevisionId"),
      member<T, &T::confirm_remove_self_access>("ConfirmRemoveSelfResourceAccess"),
  });
};

// Is the text a policy for a resource? Fails with each place that breaks a rule.
store::Answer<access::Policy> read_resource_policy(std::string_view text);

struct PutResourcePolicy {
  static constexpr std::string_view name = "PutResourcePolicy";
  using Input = ResourcePolicyInput;
  struct Request {
    std::string arn;
    std::string text;
    std::shared_ptr<const access::Policy> policy;  // the same, read
    std::optional<std::string> expected_revision;
    bool confirm_remove_self_access = false;
  };
  using Response = std::string;  // the revision
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct GetResourcePolicy {
  static constexpr std::string_view name = "GetResourcePolicy";
  using Input = ResourcePolicyInput;
  using Request = std::string;
  using Response = store::ResourcePolicyPointer;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct DeleteResourcePolicy {
  static constexpr std::string_view name = "DeleteResourcePolicy";
  using Input = ResourcePolicyInput;
  struct Request {
    std::string arn;
    std::optional<std::string> expected_revision;
  };
  using Response = std::optional<std::string>;  // the revision that went
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request.arn);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
