// Policies of access keys, as a letter for whose they are (r: of a resource) and a document. What is read decides about
// a request, and a Deny of everything keeps it from allowing anything.
#include "access/policies.h"
#include "base/check.h"
#include "targets.h"

namespace postino::fuzz {

void fuzz_policy(std::string_view input) {
  if (input.empty()) return;
  const auto kind = input.front() == 'r' ? access::PolicyKind::resource : access::PolicyKind::identity;
  const auto policy = access::parse_policy(input.substr(1), kind, "fuzz");
  if (!policy) {
    CHECK(!policy.error().message.empty());
    return;
  }
  CHECK(!policy->statements.empty());
  const access::Principal principal{"123456789012", "anna", "AKIAANNA"};
  access::AccessRequest request{access::action_named("GetItem"),
                                "arn:aws:dynamodb:us-east-1:123456789012:table/orders/index/by-date"};
  add_principal(request.context, principal);
  request.context.add(access::ContextKey::leading_keys, "CUSTOMER#17");
  request.context.add(access::ContextKey::source_ip, "192.0.2.7");
  const auto denying = access::parse_policy(R"({"Statement":{"Effect":"Deny","Action":"*","Resource":"*"}})",
                                            access::PolicyKind::identity, "denying");
  CHECK(denying);
  const access::Decision decision = decide({&*policy}, request, principal);
  CHECK(!decide({&*policy, &*denying}, request, principal).allowed());
  CHECK(decision.allowed() || !denial_text(decision, request.action, request.resource, principal).empty());
  could_allow({&*policy}, request.action, request.resource, principal);
  CHECK(explain({&*policy}, request, principal).size() == policy->statements.size());
}

}  // namespace postino::fuzz
