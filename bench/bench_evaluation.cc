// What expressions, the item codec and policies cost by themselves: time and allocations of one operation, on one
// thread.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>

#include "access/key_policies.h"
#include "base/check.h"
#include "expr/expression.h"
#include "item/binary_codec.h"
#include "item/json_codec.h"
#include "mails.h"
#include "store/empty_store.h"
#include "wire/authorization/resource_policies.h"
#include "wire/operations/item_operations.h"

namespace {

std::uint64_t allocations = 0;  // of the one thread there is

}  // namespace

// Replaced in this program alone, to count.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace postino;

// Keeps the compiler from removing work whose result is not looked at.
template <class T>
void use(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

template <class Operation>
void measure(std::string_view name, const Operation& operation) {
  using Clock = std::chrono::steady_clock;
  constexpr int repetitions = 20'000;
  constexpr int rounds = 9;
  double best = std::numeric_limits<double>::max();
  std::uint64_t allocated = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t before = allocations;
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < repetitions; ++i) operation();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / repetitions);
    allocated = allocations - before;
  }
  std::printf("%-50.*s %10.0f ns %12.1f\n", static_cast<int>(name.size()), name.data(), best,
              static_cast<double>(allocated) / repetitions);
}

void measure_expressions(const item::Item& mail) {
  const std::string_view text = "attribute_exists(Id) AND #status = :ready AND UpdatedAt < :now";
  const expr::Placeholders placeholders{expr::Names{{"#status", "Status"}},
                                        expr::Values{{":now", std::int64_t{4'000'000'000}}, {":ready", "READY"}}};
  measure("parse a condition", [&] { use(*expr::parse_condition(text, expr::Kind::condition)); });
  measure("find a parsed condition in the cache", [&] { use(*expr::cached_condition(text, expr::Kind::condition)); });
  const expr::Condition condition = *expr::cached_condition(text, expr::Kind::condition);
  measure("bind a condition", [&] { use(*expr::Binder(placeholders).bind(condition)); });
  expr::Binder binder(placeholders);
  const auto bound = binder.bind(condition);
  measure("evaluate a condition", [&] { CHECK(bound->matches(mail)); });
  measure("all of it for one request, cached", [&] {
    const auto cached = expr::cached_condition(text, expr::Kind::condition);
    expr::Binder request(placeholders);
    CHECK(request.check_maps(true, "ConditionExpression is null"));
    const auto ready = request.bind(*cached);
    CHECK(ready && request.check_all_used() && ready->matches(mail));
  });
  const expr::Placeholders new_values{expr::Names{{"#status", "Status"}},
                                      expr::Values{{":now", std::int64_t{4'000'000'000}}, {":sent", "SENT"}}};
  expr::Binder update_binder(new_values);
  const auto update = update_binder.bind(*expr::cached_update("SET #status = :sent, UpdatedAt = :now"));
  measure("apply an update of two attributes", [&] { use(*update->apply(mail)); });
}

void measure_codecs(const item::Item& mail) {
  std::string bytes;
  item::encode(bytes, mail);
  measure("encode an item of 1 KB", [&] {
    bytes.clear();
    item::encode(bytes, mail);
  });
  measure("decode it", [&] { use(*item::decode_map(bytes)); });
  std::string json;
  measure("write it as JSON", [&] {
    json.clear();
    item::append_json(json, mail);
  });
  measure("read it from JSON", [&] { use(*item::parse_item(json)); });
}

// What a call costs more because its access key has policies: a table that the policy names, the partition that the
// caller's tag names, and hidden attributes.
void measure_policies() {
  auto policy = access::parse_policy(
      R"({"Version":"2012-10-17","Statement":[
        {"Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:Query","dynamodb:PutItem"],
         "Resource":["arn:aws:dynamodb:*:*:table/orders","arn:aws:dynamodb:*:*:table/orders/index/*"],
         "Condition":{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":"CUSTOMER#${aws:PrincipalTag/customer}*"},
                      "ForAllValues:StringEquals":{"dynamodb:Attributes":["pk","sk","amount","state","created"]},
                      "StringEqualsIfExists":{"dynamodb:Select":"SPECIFIC_ATTRIBUTES"}}},
        {"Effect":"Deny","Action":"dynamodb:*","Resource":"*",
         "Condition":{"NotIpAddress":{"aws:SourceIp":["192.0.2.0/24","10.0.0.0/8"]}}}]})",
      access::PolicyKind::identity, "bench");
  CHECK(policy);
  access::Principal principal{"123456789012", "reader", "reader"};
  principal.values.emplace_back(*access::KeyReference::parse("aws:PrincipalTag/customer"), "17");
  const auto policies = std::make_shared<const access::KeyPolicies>(
      principal, std::vector{std::make_shared<const access::Policy>(*std::move(policy))});
  store::EmptyStore store;
  wire::ResourcePolicies resource_policies;
  const http::Request request;
  store::GetItemRequest get;
  get.table_name = "orders";
  get.key.set("pk", std::string("CUSTOMER#17"));
  get.projection = store::ProjectionExpression("amount, #s, created");
  get.placeholders.names = expr::Names{{"#s", "state"}};
  measure("policies: check a GetItem by partition and attributes", [&] {
    const wire::AccessCheck check({policies, false, &request, "192.0.2.7", base::TimePoint()},
                                  {"us-east-1", "123456789012"}, store, resource_policies);
    CHECK(wire::GetItem::authorize(check, get));
  });
  store::PutItemRequest put;
  put.table_name = "invoices";
  measure("policies: deny a write to another table", [&] {
    const wire::AccessCheck check({policies, false, &request, "192.0.2.7", base::TimePoint()},
                                  {"us-east-1", "123456789012"}, store, resource_policies);
    CHECK(!check.table(access::action_named("DeleteTable"), put.table_name));
  });
}

}  // namespace

int main() {
  std::printf("%-50s %13s %12s\n", "", "time", "allocations");
  const item::Item mail = bench::make_mail(1);
  measure_expressions(mail);
  measure_codecs(mail);
  measure_policies();
}
