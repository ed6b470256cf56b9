#include "wire/operations/policy_operations.h"

#include "store/constraints.h"
#include "wire/operations/kept_settings.h"

namespace postino::wire {

namespace {

constexpr std::size_t max_arn_length = 1'283;
constexpr std::size_t max_revision_length = 255;

store::Answer<void> check_resource(const ResourcePolicyInput& input, bool has_policy) {
  store::Constraints constraints;
  if (has_policy) constraints.check_not_null("policy", input.policy.has_value());
  constraints.check_not_null("resourceArn", input.resource_arn.has_value());
  if (input.resource_arn) constraints.check_length("resourceArn", *input.resource_arn, 1, max_arn_length);
  if (input.expected_revision)
    constraints.check_length("expectedRevisionId", *input.expected_revision, 1, max_revision_length);
  return constraints.outcome();
}

void write_revision(JsonWriter& json, const std::string& revision) { json.key("RevisionId").string(revision); }

}  // namespace

store::Answer<access::Policy> read_resource_policy(std::string_view text) {
  auto policy = access::parse_policy(text, access::PolicyKind::resource, "the resource's policy");
  if (!policy) return store::refuse_invalid("Invalid policy document: " + policy.error().message);
  return *std::move(policy);
}

store::Answer<PutResourcePolicy::Request> PutResourcePolicy::decode(Input input) {
  TRY_VOID(check_resource(input, true));
  TRY(access::Policy policy, read_resource_policy(*input.policy));
  return Request{*std::move(input.resource_arn), *std::move(input.policy),
                 std::make_shared<const access::Policy>(std::move(policy)), std::move(input.expected_revision),
                 input.confirm_remove_self_access.value_or(false)};
}

store::Answer<void> PutResourcePolicy::authorize(const AccessCheck& check, const Request& request) {
  TRY_VOID(check.resource(access::action_named(name), request.arn));
  if (request.confirm_remove_self_access) return {};
  return check.keeps_own_access(*request.policy, request.arn);
}

void PutResourcePolicy::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  change_kept_setting<Response>(services, done, [request](store::ResourceSettings& settings) {
    return settings.put_policy(request.arn, request.text, request.expected_revision);
  });
}

void PutResourcePolicy::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object();
  write_revision(json, response);
  json.end_object();
}

store::Answer<std::string> GetResourcePolicy::decode(Input input) {
  TRY_VOID(check_resource(input, false));
  return *std::move(input.resource_arn);
}

void GetResourcePolicy::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(read_kept_setting<Response>(services,
                                   [&](store::ResourceSettings& settings) { return settings.get_policy(request); }));
}

void GetResourcePolicy::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("Policy").string(response->text);
  write_revision(json, response->revision);
  json.end_object();
}

store::Answer<DeleteResourcePolicy::Request> DeleteResourcePolicy::decode(Input input) {
  TRY_VOID(check_resource(input, false));
  return Request{*std::move(input.resource_arn), std::move(input.expected_revision)};
}

void DeleteResourcePolicy::run(const Services& services, const Request& request,
                               const store::Completion<Response>& done) {
  change_kept_setting<Response>(services, done, [request](store::ResourceSettings& settings) {
    return settings.delete_policy(request.arn, request.expected_revision);
  });
}

void DeleteResourcePolicy::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object();
  if (response) write_revision(json, *response);
  json.end_object();
}

}  // namespace postino::wire
