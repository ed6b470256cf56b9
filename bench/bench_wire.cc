// The DynamoDB API over HTTP, beside dynalite and beside our own HTTP server with a handler that does nothing.
//
//   bench_wire [--quick] [--dynalite SCRIPT] [operation...]      operations by name, "beside" or "watch"; all by
//   default
//
// All servers are processes of their own on this machine; one client thread keeps 1, 16 or 64 connections busy.
// dynalite does not sync its writes; ours does. Without --dynalite its columns stay empty. Missing a bar is no failure,
// because the machine is never quiet.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "base/temporary_directory.h"
#include "http/server.h"
#include "http_load.h"
#include "item/json_codec.h"
#include "long_reads.h"
#include "mails.h"
#include "net/local_ports_testing.h"
#include "raw_store.h"
#include "server_process.h"
#include "watch_race.h"

namespace postino::bench {
namespace {

constexpr std::uint64_t loaded_mails = 5'000;
constexpr std::uint64_t page_size = 25;
constexpr std::size_t distinct_requests = 5'000;

std::string target(const char* operation) { return std::string("DynamoDB_20120810.") + operation; }

std::string key_of(std::uint64_t number) { return R"({"Id":{"S":")" + mail_id(number) + R"("}})"; }

// The handler that does nothing: an answer of the size that GetItem has.
void serve_bare(std::uint16_t port) {
  const std::string body = R"({"Item":)" + item::to_json(make_mail(1)) + "}";
  http::ServerOptions options;
  options.port = port;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const auto server = http::Server::start(options, [&](const http::Request&, const http::Responder& respond) {
    http::Response response;
    response.content_type = "application/x-amz-json-1.0";
    response.body = body;
    respond(std::move(response));
  });
  if (!server) std::exit(1);
  int signal = 0;
  sigwait(&signals, &signal);
}

// Requests of one kind.
struct Case {
  const char* name;
  RequestSource source;
  bool in_dynalite = true;
};

// A mail that is not there yet, whenever it is sent.
std::string fresh_mail(std::uint64_t number) {
  item::Item mail = make_mail(number);
  mail.set("Id", std::string(fresh_number));
  return item::to_json(mail);
}

std::vector<Case> make_cases() {
  return {
      {"GetItem",
       [](std::uint64_t number) {
         return ApiRequest{target("GetItem"), R"({"TableName":"mails","Key":)" + key_of(number % loaded_mails) + "}"};
       }},
      {"PutItem",
       [](std::uint64_t number) {
         return ApiRequest{target("PutItem"), R"({"TableName":"mails","Item":)" + fresh_mail(number) + "}"};
       }},
      {"UpdateItem with condition",
       [](std::uint64_t number) {
         return ApiRequest{target("UpdateItem"),
                           R"({"TableName":"mails","Key":)" + key_of(number % loaded_mails) +
                               R"(,"UpdateExpression":"SET attempts = if_not_exists(attempts, :zero) + :one",)"
                               R"-("ConditionExpression":"attribute_exists(Id)",)-"
                               R"("ExpressionAttributeValues":{":zero":{"N":"0"},":one":{"N":"1"}}})"};
       }},
      {"Query of 25",
       [](std::uint64_t number) {
         return ApiRequest{target("Query"), R"({"TableName":"pages","KeyConditionExpression":"page = :page",)"
                                            R"("ExpressionAttributeValues":{":page":{"N":")" +
                                                std::to_string(number % (loaded_mails / page_size)) + R"("}}})"};
       }},
      {"TransactWriteItems of 3",
       [](std::uint64_t number) {
         std::string actions;
         for (int i = 0; i < 3; ++i)
           actions += std::string(i > 0 ? "," : "") + R"({"Put":{"TableName":"mails","Item":)" + fresh_mail(number) +
                      R"-(,"ConditionExpression":"attribute_not_exists(Gone)"}})-";
         return ApiRequest{target("TransactWriteItems"), R"({"TransactItems":[)" + actions + "]}"};
       },
       false},
  };
}

void expect_success(const LoadResult& result, const char* what) {
  if (result.failures == 0) return;
  std::fprintf(stderr, "bench: %s failed %llu times\n", what, static_cast<unsigned long long>(result.failures));
  std::exit(1);
}

void call_all(std::uint16_t port, const std::vector<ApiRequest>& requests, const char* what) {
  for (const ApiRequest& request : requests) {
    HttpLoad load(
        port, 1, [&](std::uint64_t) { return request; }, 1);
    expect_success(load.run(Duration(0)), what);
  }
}

// dynalite's tables take a moment to become active.
void wait_for_table(std::uint16_t port, const std::string& table) {
  const std::string body = R"({"TableName":")" + table + R"(","Key":)" +
                           (table == "mails" ? key_of(0) : R"({"page":{"N":"0"},"place":{"N":"0"}})") + "}";
  for (int attempt = 0; attempt < 10'000; ++attempt) {
    HttpLoad load(
        port, 1,
        [&](std::uint64_t) {
          return ApiRequest{target("GetItem"), body};
        },
        1);
    load.be_quiet();
    if (load.run(Duration(0)).failures == 0) return;
  }
  std::fprintf(stderr, "bench: the table %s did not become active\n", table.c_str());
  std::exit(1);
}

void fill(std::uint16_t port) {
  call_all(port,
           {{target("CreateTable"),
             R"({"TableName":"mails","AttributeDefinitions":[{"AttributeName":"Id","AttributeType":"S"}],)"
             R"("KeySchema":[{"AttributeName":"Id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})"},
            {target("CreateTable"),
             R"({"TableName":"pages","AttributeDefinitions":[{"AttributeName":"page","AttributeType":"N"},)"
             R"({"AttributeName":"place","AttributeType":"N"}],"KeySchema":[{"AttributeName":"page","KeyType":"HASH"},)"
             R"({"AttributeName":"place","KeyType":"RANGE"}],"BillingMode":"PAY_PER_REQUEST"})"}},
           "CreateTable");
  wait_for_table(port, "mails");
  wait_for_table(port, "pages");
  for (std::uint64_t first = 0; first < loaded_mails; first += page_size) {
    std::string mails;
    std::string pages;
    for (std::uint64_t i = first; i < first + page_size; ++i) {
      const std::string comma = i > first ? "," : "";
      item::Item mail = make_mail(i);
      mails += comma + R"({"PutRequest":{"Item":)" + item::to_json(mail) + "}}";
      mail.set("page", static_cast<std::int64_t>(first / page_size));
      mail.set("place", static_cast<std::int64_t>(i));
      pages += comma + R"({"PutRequest":{"Item":)" + item::to_json(mail) + "}}";
    }
    call_all(port,
             {{target("BatchWriteItem"), R"({"RequestItems":{"mails":[)" + mails + "]}}"},
              {target("BatchWriteItem"), R"({"RequestItems":{"pages":[)" + pages + "]}}"}},
             "BatchWriteItem");
  }
}

struct Best {
  double per_second = 0;
  double p99_microseconds = 0;
};

// The best of some turns.
Best measure(std::uint16_t port, int connections, const Case& kind, const Plan& plan) {
  Best best;
  HttpLoad load(port, connections, kind.source, distinct_requests);
  for (int round = 0; round < plan.rounds; ++round) {
    const LoadResult result = load.run(plan.turn);
    expect_success(result, kind.name);
    if (result.per_second > best.per_second) best = {result.per_second, result.p99_microseconds};
  }
  return best;
}

void print_ratio(double ratio, std::optional<double> bar) {
  std::printf(" %8.2f", ratio);
  if (bar) std::printf(" (bar %.2f %s)", *bar, ratio >= *bar ? "ok" : "below");
}

struct Contest {
  std::uint16_t postino = 0;
  std::optional<std::uint16_t> dynalite;
  std::uint16_t bare = 0;
  Plan plan;
  Pace raw_puts;  // durable, 64 threads
};

void run_case(const Contest& contest, const Case& kind, int connections) {
  const bool at_the_bar = connections == 64;
  const std::string_view name = kind.name;
  const Best bare = measure(contest.bare, connections, kind, contest.plan);
  const Best ours = measure(contest.postino, connections, kind, contest.plan);
  std::printf("%-26s %5d %10.0f %9.0f %10.0f", kind.name, connections, ours.per_second, ours.p99_microseconds,
              bare.per_second);
  const bool get = name == "GetItem";
  const bool put = name == "PutItem";
  print_ratio(ours.per_second / bare.per_second, get && at_the_bar ? std::optional(0.35) : std::nullopt);
  if (contest.dynalite && kind.in_dynalite) {
    const Best other = measure(*contest.dynalite, connections, kind, contest.plan);
    std::printf(" %10.0f", other.per_second);
    std::optional<double> bar;
    if (at_the_bar && (get || put)) bar = get ? 6 : 5;
    print_ratio(ours.per_second / other.per_second, bar);
  }
  if (put && at_the_bar) {
    std::printf("  raw RocksDB, 64 threads: %.0f", contest.raw_puts.per_second);
    print_ratio(ours.per_second / contest.raw_puts.per_second, 0.5);
  }
  std::printf("\n");
  std::fflush(stdout);
}

// Before anything has threads: the bare server is a fork of this process.
int run(bool quick, const std::string& dynalite, const std::vector<std::string_view>& names) {
  const auto home = std::filesystem::canonical("/proc/self/exe").parent_path();
  const base::TemporaryDirectory directory(home);
  const std::uint16_t bare_port = net::free_port();
  const ServerProcess bare([&] { serve_bare(bare_port); }, bare_port);
  const std::uint16_t port = net::free_port();
  const ServerProcess postino({(home / "postino").string(), "serve", "--no-outbox", "--data",
                               (directory.path() / "data").string(), "--dynamodb", "127.0.0.1:" + std::to_string(port)},
                              port);
  std::printf("start to first answer: %.1f ms; idle memory: %.1f MB\n", postino.start_time().count(),
              postino.resident_megabytes());
  std::unique_ptr<ServerProcess> other;
  if (!dynalite.empty()) {
    const std::uint16_t other_port = net::free_port();
    other = std::make_unique<ServerProcess>(
        std::vector<std::string>{"node", dynalite, "--port", std::to_string(other_port), "--path",
                                 (directory.path() / "dynalite").string(), "--createTableMs", "0"},
        other_port);
  }
  fill(port);
  if (other) fill(other->port());

  Contest contest{port, other ? std::optional(other->port()) : std::nullopt, bare_port, {}, {}};
  contest.plan = {.rounds = quick ? 2 : 5, .turn = Duration(quick ? 300 : 800)};
  RawStore raw(directory.path() / "raw");
  contest.raw_puts = compete(contest.plan, {by_threads(64, [&] { return raw.inserting(); })}).front();
  std::printf("%-26s %5s %10s %9s %10s %8s", "", "conn.", "postino/s", "p99 us", "bare/s", "ratio");
  std::printf(other ? " %10s %8s\n" : "\n", "dynalite/s", "ratio");
  for (const Case& kind : make_cases()) {
    const std::string_view name = std::string_view(kind.name).substr(0, std::string_view(kind.name).find(' '));
    if (!names.empty() && std::ranges::find(names, name) == names.end()) continue;
    for (const int connections : {1, 16, 64}) run_case(contest, kind, connections);
  }
  if (names.empty() || std::ranges::find(names, "beside") != names.end()) measure_beside_long_reads(port, contest.plan);
  if (names.empty() || std::ranges::find(names, "watch") != names.end()) {
    std::vector<std::pair<std::string, RequestSource>> watched;
    for (const Case& kind : make_cases()) watched.emplace_back(kind.name, kind.source);
    measure_watch(home / "postino", directory.path(), contest.plan, fill, watched);
  }
  std::printf("memory after the run: %.1f MB\n", postino.resident_megabytes());
  return 0;
}

}  // namespace
}  // namespace postino::bench

int main(int count, char** arguments) {
  bool quick = false;
  std::string dynalite;
  std::vector<std::string_view> names;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--quick") {
      quick = true;
    } else if (word == "--dynalite" && i + 1 < count) {
      dynalite = arguments[++i];
    } else if (word.starts_with("-")) {
      std::fprintf(stderr, "usage: bench_wire [--quick] [--dynalite SCRIPT] [operation...]\n");
      return 2;
    } else {
      names.push_back(word);
    }
  }
  return postino::bench::run(quick, dynalite, names);
}
