// A line with the name of an operation, then a request's body: whatever it is, there is one answer, and it is JSON,
// also when policies ask what the request does.
#include <atomic>
#include <string>

#include "base/check.h"
#include "store/empty_store.h"
#include "targets.h"
#include "wire/authorization/resource_policies.h"
#include "wire/protocol/operation.h"

namespace postino::fuzz {

namespace {

// Of a key whose policy asks for everything that must be worked out.
std::shared_ptr<const access::KeyPolicies> curious_policies() {
  static const auto policies = [] {
    auto policy = access::parse_policy(
        R"({"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAllValues:StringNotEquals":)"
        R"({"dynamodb:LeadingKeys":"a","dynamodb:SecondPartitionKeyValues":"a","dynamodb:Attributes":"a"}}}})",
        access::PolicyKind::identity, "curious");
    CHECK(policy);
    return std::make_shared<const access::KeyPolicies>(
        access::Principal{"123456789012", "anna", "AKIAANNA"},
        std::vector{std::make_shared<const access::Policy>(*std::move(policy))});
  }();
  return policies;
}

void expect_one_answer(const wire::Operation& operation, const wire::Services& services, const wire::AccessCheck* check,
                       std::string_view body) {
  std::atomic<int> answers = 0;
  operation.perform(services, check, body, [&](const wire::Reply& reply) {
    CHECK(reply.body.empty() || wire::is_json(reply.body));
    CHECK(reply.error.empty() == (reply.status == 200));
    ++answers;
    answers.notify_all();
  });
  // Operations on tables answer from another thread.
  answers.wait(0);
  CHECK(answers == 1);
}

}  // namespace

void fuzz_request(std::string_view input) {
  static store::EmptyStore store;
  static partiql::Executor partiql(store);
  static base::ThreadPool control(1, 100);
  static const std::atomic<std::shared_ptr<const std::string>> address(std::make_shared<const std::string>("here"));
  static const wire::Services services{&store, &partiql, &control, "us-east-1", &address};

  const std::size_t line_end = input.find('\n');
  if (line_end == std::string_view::npos) return;
  const std::string name(input.substr(0, line_end));
  const std::string_view body = input.substr(line_end + 1);
  const wire::Operation* operation = wire::find_operation("DynamoDB_20120810." + name);
  if (operation == nullptr) operation = wire::find_operation("DynamoDBStreams_20120810." + name);
  if (operation == nullptr) return;

  expect_one_answer(*operation, services, nullptr, body);
  static const http::Request request;
  static wire::ResourcePolicies resource_policies;
  const wire::AccessCheck check({curious_policies(), false, &request, "192.0.2.7", base::TimePoint()},
                                {"us-east-1", "123456789012"}, store, resource_policies);
  expect_one_answer(*operation, services, &check, body);
}

}  // namespace postino::fuzz
