#include "long_reads.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "http_load.h"
#include "mails.h"

namespace postino::bench {

namespace {

constexpr std::uint64_t removed_items = 200'000;
constexpr std::uint64_t batch_size = 25;
constexpr int long_clients = 4;
constexpr double bar_microseconds = 5'000;

const std::string prefix = "DynamoDB_20120810.";

void expect_no_failure(const LoadResult& result, const char* what) {
  if (result.failures == 0) return;
  std::fprintf(stderr, "bench: %s failed %llu times\n", what, static_cast<unsigned long long>(result.failures));
  std::exit(1);
}

std::string key_text(std::uint64_t number) {
  return R"({"pk":{"S":"p"},"sk":{"N":")" + std::to_string(number) + R"("}})";
}

void write_all(std::uint16_t port, const char* kind, const char* member) {
  const auto batch = [&](std::uint64_t number) {
    std::string writes;
    for (std::uint64_t i = number * batch_size; i < (number + 1) * batch_size; ++i)
      writes.append(writes.empty() ? "" : ",")
          .append(R"({")")
          .append(kind)
          .append(R"(":{")")
          .append(member)
          .append(R"(":)")
          .append(key_text(i))
          .append("}}");
    return ApiRequest{prefix + "BatchWriteItem", R"({"RequestItems":{"removed":[)" + writes + "]}}"};
  };
  HttpLoad load(port, 64, batch, removed_items / batch_size);
  expect_no_failure(load.run_all(removed_items / batch_size), kind);
}

void make_removed_items(std::uint16_t port) {
  const auto create = [](std::uint64_t) {
    return ApiRequest{prefix + "CreateTable",
                      R"({"TableName":"removed","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},)"
                      R"({"AttributeName":"sk","AttributeType":"N"}],"KeySchema":[{"AttributeName":"pk",)"
                      R"("KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],)"
                      R"("BillingMode":"PAY_PER_REQUEST"})"};
  };
  expect_no_failure(HttpLoad(port, 1, create, 1).run(Duration(0)), "CreateTable");
  write_all(port, "PutRequest", "Item");
  write_all(port, "DeleteRequest", "Key");
}

// All turns in one: a turn beside long reads may have few answers.
LoadResult measure_gets(HttpLoad& load, const Plan& plan) {
  LoadResult result = load.run(plan.turn * plan.rounds);
  expect_no_failure(result, "GetItem");
  return result;
}

void print(const char* name, int connections, const LoadResult& result) {
  std::printf("%-26s %5d %10.0f p50 %6.0f us  p99 %6.0f us", name, connections, result.per_second,
              result.median_microseconds, result.p99_microseconds);
}

}  // namespace

void measure_beside_long_reads(std::uint16_t port, const Plan& plan) {
  make_removed_items(port);
  const auto get = [](std::uint64_t number) {
    return ApiRequest{prefix + "GetItem", R"({"TableName":"mails","Key":{"Id":{"S":")" + mail_id(number) + R"("}}})"};
  };
  const auto query = [](std::uint64_t) {
    return ApiRequest{prefix + "Query", R"({"TableName":"removed","KeyConditionExpression":"pk = :p",)"
                                        R"("ExpressionAttributeValues":{":p":{"S":"p"}}})"};
  };
  for (const int connections : {1, 16}) {
    HttpLoad load(port, connections, get, 1'000);
    print("GetItem alone", connections, measure_gets(load, plan));
    std::printf("\n");
    std::atomic<bool> done = false;
    LoadResult queries;
    std::thread beside([&] {
      HttpLoad long_load(port, long_clients, query, 1);
      while (!done) {
        const LoadResult part = long_load.run(Duration(100));
        expect_no_failure(part, "Query");
        if (part.median_microseconds > queries.median_microseconds) queries = part;
      }
    });
    const LoadResult result = measure_gets(load, plan);
    done = true;
    beside.join();
    print("GetItem beside 4 Queries", connections, result);
    std::printf(" (bar %.0f us %s); the Queries: p50 up to %.0f us\n", bar_microseconds,
                result.p99_microseconds <= bar_microseconds ? "ok" : "above", queries.median_microseconds);
    std::fflush(stdout);
  }
}

}  // namespace postino::bench
