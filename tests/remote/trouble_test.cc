// What a service, its keys, clocks and networks can do to a store that is called over HTTP.
#include <future>

#include "base/many_threads_testing.h"
#include "false_service.h"
#include "net/certificates_testing.h"
#include "remote/calls/caller.h"
#include "remote/calls/retry_budget.h"
#include "remote/calls/send_rate.h"
#include "store/caller_patience.h"
#include "store/forwarding_store.h"
#include "store/retry.h"
#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Item;
using store::ErrorType;

// Keys that can be exchanged, as a role's are.
class ChangingCredentials final : public Credentials {
 public:
  explicit ChangingCredentials(std::vector<signature::AccessKeys> keys) : keys_(std::move(keys)) {}
  base::Result<signature::AccessKeys> keys() override { return keys_.at(static_cast<std::size_t>(position_)); }
  void refused() override {
    ++refusals_;
    if (position_ + 1 < static_cast<int>(keys_.size())) ++position_;
  }
  std::string describe() const override { return "keys of a test"; }
  int refusals() const { return refusals_; }

 private:
  const std::vector<signature::AccessKeys> keys_;
  std::atomic<int> position_ = 0;
  std::atomic<int> refusals_ = 0;
};

// Leaves out all but the first of what a batch has.
class StingyStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override {
    store::BatchGetItemRequest first = request;
    first.tables.resize(1);
    first.tables[0].keys.resize(1);
    auto answer = inner().batch_get_item(first);
    if (answer) answer->unprocessed = rest_of(request.tables, &store::BatchGetTable::keys);
    return answer;
  }
  void batch_write_item(const store::BatchWriteItemRequest& request,
                        store::Completion<store::BatchWriteItemResponse> done) override {
    store::BatchWriteItemRequest first = request;
    first.tables.resize(1);
    first.tables[0].writes.resize(1);
    auto answer = inner().batch_write_item(first);
    if (answer) answer->unprocessed = rest_of(request.tables, &store::BatchWriteTable::writes);
    done(std::move(answer));
  }

 private:
  template <class Table, class Entries>
  static std::vector<Table> rest_of(std::vector<Table> tables, Entries Table::*entries) {
    (tables.front().*entries).erase((tables.front().*entries).begin());
    if ((tables.front().*entries).empty()) tables.erase(tables.begin());
    return tables;
  }
};

class TroubleTest : public testing::Test {
 protected:
  TroubleTest() {
    store::CreateTableRequest request = store::CreateTableRequest();
    request.table_name = "things";
    request.attribute_definitions = {{"pk", item::Type::string}};
    request.key_schema = {{"pk", store::KeyRole::hash}};
    request.billing_mode = store::BillingMode::pay_per_request;
    EXPECT_TRUE(engine().create_table(request));
  }

  engine::Engine& engine() { return embedded_.engine(); }
  std::unique_ptr<RemoteStore> remote(RemoteOptions options) {
    return make_remote(std::move(options), hurried_clock(), random_);
  }

  engine::EmbeddedStore embedded_{std::make_shared<base::ManualClock>(engine::embedded_start)};
  base::SystemClock clock_;
  base::SeededRandom random_{5};
};

TEST_F(TroubleTest, AWrongClockIsCorrectedByTheService) {
  FalseService service(engine());
  for (const base::Milliseconds wrong :
       {base::Milliseconds(std::chrono::hours(5)), -base::Milliseconds(std::chrono::hours(30))}) {
    const base::ManualClock ours(clock_.now() + wrong);
    const auto store = make_remote(options_for(service.port()), ours, random_);
    const int before = service.requests();
    EXPECT_EQ(refusal_of(store->put_item(put("things", {{"pk", "a"}}))), "");
    EXPECT_EQ(service.requests(), before + 2) << "the first was refused";
    EXPECT_LT(std::chrono::abs(store->now_there() - clock_.now()), std::chrono::minutes(10));
    EXPECT_EQ(refusal_of(store->put_item(put("things", {{"pk", "a"}}))), "");
    EXPECT_EQ(service.requests(), before + 3) << "from now on requests are dated by the service's clock";
    EXPECT_THAT(store->problems(), testing::IsEmpty());
  }
}

TEST_F(TroubleTest, KeysThatExpireAreRenewed) {
  FalseService service(engine());
  const auto credentials =
      std::make_shared<ChangingCredentials>(std::vector<signature::AccessKeys>{{"AKIDOLD", "gone", ""}, service_keys});
  RemoteOptions options = options_for(service.port());
  options.credentials = credentials;
  const auto store = remote(std::move(options));
  EXPECT_EQ(refusal_of(store->put_item(put("things", {{"pk", "a"}}))), "");
  EXPECT_EQ(credentials->refusals(), 1);
  service.treat_next({Treatment::expired_keys});
  EXPECT_EQ(refusal_of(store->put_item(put("things", {{"pk", "b"}}))), "");
  EXPECT_EQ(credentials->refusals(), 2);
}

TEST_F(TroubleTest, KeysThatAreRevokedAreTold) {
  FalseService service(engine());
  RemoteOptions options = options_for(service.port());
  const auto credentials =
      std::make_shared<ChangingCredentials>(std::vector<signature::AccessKeys>{{service_keys.id, "wrong", ""}});
  options.credentials = credentials;
  const auto store = remote(std::move(options));
  const auto refused = store->put_item(put("things", {{"pk", "a"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().type, ErrorType::access_denied);
  EXPECT_THAT(refused.error().message,
              testing::StartsWith("the access key, or its secret, is refused: InvalidSignatureException: "));
  EXPECT_EQ(service.requests(), 2) << "once more, in case there are new ones";
  EXPECT_THAT(store->problems(), testing::IsEmpty()) << "it may pass";
  hurried_clock().wait(ServiceHealth::patience);
  EXPECT_FALSE(store->put_item(put("things", {{"pk", "a"}})));
  ASSERT_EQ(store->problems().size(), 1U);
  EXPECT_THAT(store->problems()[0], testing::HasSubstr("InvalidSignatureException"));
  EXPECT_THAT(store->problems()[0], testing::Not(testing::HasSubstr("wrong")));
}

TEST_F(TroubleTest, ATableThatIsMissingIsNamed) {
  FalseService service(engine());
  const auto store = remote(options_for(service.port()));
  const auto refused = store->get_item(get("nowhere", {{"pk", "a"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "Requested resource not found") << "as DynamoDB says it";
  EXPECT_EQ(store::as_error(refused.error()).message,
            "ResourceNotFoundException: Requested resource not found: table nowhere");
  EXPECT_TRUE(store::is_of_missing_table(store::as_error(refused.error())));
}

TEST_F(TroubleTest, AServiceThatIsAwayHasDoneNothing) {
  const auto store = remote([] {
    RemoteOptions options = options_for(1);
    options.attempts = 3;
    return options;
  }());
  const auto refused = store->update_item(update("things", {{"pk", "a"}}, "ADD hits :one", {{":one", 1}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().type, ErrorType::service_unavailable);
  EXPECT_EQ(refused.error().message, "DynamoDB could not be called: cannot connect to 127.0.0.1:1: connection refused");
  ASSERT_EQ(store->counts().size(), 1U);
  EXPECT_EQ(store->counts()[0].attempts, 3U);
  EXPECT_EQ(store->counts()[0].failed, 1U);
  hurried_clock().wait(ServiceHealth::patience);
  EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_THAT(store->problems(), testing::ElementsAre(testing::HasSubstr("connection refused")));
}

TEST_F(TroubleTest, ANameThatResolvesToNothingIsTold) {
  RemoteOptions options = options_for(1);
  options.endpoint = net::Url::parse("http://does-not-exist.invalid:8000").value();
  options.attempts = 2;
  const auto store = remote(std::move(options));
  const auto refused = store->put_item(put("things", {{"pk", "a"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().type, ErrorType::service_unavailable) << "nothing was sent";
  EXPECT_EQ(store->counts().at(0).attempts, 2U) << "it may resolve later";
  hurried_clock().wait(ServiceHealth::patience);
  EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_THAT(store->problems(), testing::ElementsAre(testing::HasSubstr("does-not-exist.invalid")));
}

TEST_F(TroubleTest, AFalseServerIsNotTrusted) {
  const base::TemporaryDirectory directory, other_directory;
  net::TestAuthority authority(directory.path()), other(other_directory.path());
  wire::Endpoint endpoint(engine(), strict_options());
  http::ServerOptions server_options;
  server_options.threads = 1;
  server_options.tls = authority.issue("DNS:localhost");
  const auto server = http::Server::start(server_options, [&](const http::Request& request, http::Responder respond) {
    endpoint.handle(request, std::move(respond));
  });
  ASSERT_TRUE(server);
  RemoteOptions options = options_for(1);
  options.endpoint = net::Url::parse("https://localhost:" + std::to_string((*server)->port())).value();
  options.tls = {.verify = true, .certificate_file = authority.certificate_file()};
  EXPECT_EQ(refusal_of(remote(options)->put_item(put("things", {{"pk", "a"}}))), "");
  options.tls.certificate_file = other.certificate_file();
  const auto refused = remote(options)->put_item(put("things", {{"pk", "b"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().type, ErrorType::service_unavailable) << "nothing was sent";
  EXPECT_THAT(refused.error().message, testing::HasSubstr("certificate is not accepted"));
  (*server)->stop(std::chrono::milliseconds(0));
  endpoint.stop();
}

TEST_F(TroubleTest, ThatPassesIsForgotten) {
  FalseService service(engine());
  const auto store = remote(options_for(service.port()));
  service.treat_all(Treatment::page);
  const auto refused = store->get_item(get("things", {{"pk", "a"}}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("does not speak DynamoDB: it has answered with status 502"));
  hurried_clock().wait(ServiceHealth::patience);
  EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_THAT(store->problems(), testing::ElementsAre(testing::HasSubstr("status 502, text/html")));
  service.treat_all(Treatment::usual);
  EXPECT_EQ(refusal_of(store->get_item(get("things", {{"pk", "a"}}))), "");
  EXPECT_THAT(store->problems(), testing::IsEmpty());
}

// Nothing is wrong with a call that succeeds in the end, nor with one that fails among others that do not.
TEST_F(TroubleTest, OneFailureIsNoProblem) {
  FalseService service(engine());
  RemoteOptions options = options_for(service.port());
  options.attempts = 1;
  const auto store = remote(std::move(options));
  for (int i = 0; i < 3; ++i) {
    service.treat_next({Treatment::failed});
    EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
    EXPECT_THAT(store->problems(), testing::IsEmpty());
    hurried_clock().wait(ServiceHealth::patience);
    EXPECT_EQ(refusal_of(store->get_item(get("things", {{"pk", "a"}}))), "");
  }
}

TEST_F(TroubleTest, ATableThatIsDeletedIsAProblemOfThoseWhoNeedIt) {
  FalseService service(engine());
  RemoteOptions options = options_for(service.port());
  options.needed = {{"things", {"GetItem"}}, {"gone", {"GetItem"}}};
  const auto store = remote(std::move(options));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(store->get_item(get("gone", {{"pk", "a"}})));
    EXPECT_FALSE(store->get_item(get("foreign", {{"pk", "a"}})));
    EXPECT_TRUE(store->get_item(get("things", {{"pk", "a"}})));
    hurried_clock().wait(ServiceHealth::patience);
  }
  EXPECT_THAT(store->problems(), testing::ElementsAre(testing::HasSubstr("has no table gone")));
  for (const RemoteCounts& each : store->counts()) EXPECT_EQ(each.failed, each.table == "gone" ? 2U : 0U) << each.table;
}

TEST_F(TroubleTest, ThrottlingThatLastsIsAProblem) {
  FalseService service(engine());
  RemoteOptions options = options_for(service.port());
  options.needed = {{"things", {"GetItem"}}};
  options.attempts = 2;
  const auto store = remote(std::move(options));
  service.treat_all(Treatment::throttled);
  EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_THAT(store->problems(), testing::IsEmpty());
  hurried_clock().wait(ServiceHealth::patience);
  EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_THAT(store->problems(), testing::ElementsAre(testing::HasSubstr("throttles GetItem of table things")));
  EXPECT_EQ(store->counts()[0].failed, 2U);
  service.treat_all(Treatment::usual);
  hurried_clock().wait(SendRate::forgotten_after);
  EXPECT_TRUE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_THAT(store->problems(), testing::IsEmpty());
}

TEST_F(TroubleTest, AServiceThatHangsEndsACallInTime) {
  FalseService service(engine());
  EXPECT_TRUE(base::with_enough_time([&](std::chrono::milliseconds limit) {
    RemoteOptions options = options_for(service.port());
    options.call_time = 2 * limit;
    const auto store = remote(std::move(options));
    service.treat_next({Treatment::silent});
    store::PutItemRequest request = put("things", {{"pk", "hung" + std::to_string(limit.count())}});
    request.condition = "attribute_not_exists(pk)";
    return store->put_item(request).has_value();  // by the second attempt, which had half of the time
  }));
}

// What a server has begun when it is told to end must be written down.
TEST_F(TroubleTest, CallsGoOnUntilTheProcessEnds) {
  FalseService service(engine());
  RemoteOptions options = options_for(service.port());
  const auto shutdown = std::make_shared<net::ShutdownDeadline>();
  options.shutdown_deadline = shutdown;
  const auto store = remote(std::move(options));
  shutdown->begin_at(net::deadline_in(std::chrono::minutes(10)));
  EXPECT_EQ(refusal_of(store->put_item(put("things", {{"pk", "a"}}))), "");
  service.treat_next({Treatment::failed});
  EXPECT_EQ(refusal_of(store->put_item(put("things", {{"pk", "b"}}))), "") << "by the second attempt";
}

// Who reads another stream, or the table itself, is not held up.
TEST_F(TroubleTest, AStreamThatIsThrottledIsTheOnlyOne) {
  FalseService service(engine());
  RemoteOptions options = options_for(service.port());
  options.attempts = 1;
  base::Milliseconds waited{0};
  options.sleep = [&waited](base::Milliseconds time) {
    waited += time;
    hurried_clock().wait(time);
  };
  const auto store = remote(std::move(options));
  const auto read = [&](const std::string& table) {
    store::GetRecordsRequest request;
    request.shard_iterator = "arn:aws:dynamodb:eu-central-1:1:table/" + table + "/stream/2026|1|AAAA";
    return store->get_records(request);
  };
  service.treat_next({Treatment::throttled});
  EXPECT_EQ(read("things").error().type, ErrorType::provisioned_throughput_exceeded);
  EXPECT_FALSE(read("others"));
  EXPECT_TRUE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_EQ(waited, base::Milliseconds(0));
  EXPECT_FALSE(read("things"));
  EXPECT_GT(waited, base::Milliseconds(0));
  std::map<std::string, std::uint64_t> throttled;
  for (const RemoteCounts& each : store->counts()) throttled[each.operation + " " + each.table] = each.throttled;
  EXPECT_THAT(throttled,
              testing::ElementsAre(testing::Pair("GetItem things", 0U), testing::Pair("GetRecords others", 0U),
                                   testing::Pair("GetRecords things", 1U)));
}

// A request that needs many calls does not wait the time of one for each of them.
TEST_F(TroubleTest, WhoWaitsDoesNotWaitForManyCallsThatHang) {
  FalseService service(engine());
  RemoteOptions options = options_for(service.port());
  options.call_time = std::chrono::milliseconds(200);
  const auto store = remote(std::move(options));
  service.treat_all(Treatment::silent);
  {
    const store::CallerPatience patience;
    EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
    const int before = service.requests();
    const auto refused = store->get_item(get("things", {{"pk", "a"}}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().type, ErrorType::service_unavailable) << "nothing was done";
    EXPECT_THAT(refused.error().message, testing::HasSubstr("has not answered earlier calls of this request"));
    EXPECT_EQ(service.requests(), before);
  }
  const int before = service.requests();
  EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_GT(service.requests(), before) << "those for whom nobody waits have the time of a call each";
}

// A call that came to no place has used no turn: the next one has it.
TEST_F(TroubleTest, ATurnIsGivenBackWhenNoPlaceIsFree) {
  FalseService service(engine());
  CallerOptions options;
  options.endpoint = options.streams_endpoint = options_for(service.port()).endpoint;
  options.region = service_region;
  options.credentials = fixed_credentials(service_keys);
  options.tls.verify = false;
  options.call_time = std::chrono::milliseconds(3'000);  // more than one turn takes, and less than two
  options.attempts = 1;
  options.most_calls = 1;
  options.sleep = [](base::Milliseconds time) { hurried_clock().wait(time); };
  const auto caller = Caller::create(std::move(options), hurried_clock(), random_);
  ASSERT_TRUE(caller);
  const auto call_of = [](const std::string& table) {
    return Call{.operation = "DescribeTable", .table = table, .body = R"({"TableName":"things"})"};
  };
  const auto nothing = [](const std::string&) { return base::Result<void>(); };
  service.treat_next({Treatment::throttled});
  EXPECT_FALSE((*caller)->call(call_of("busy"), nothing).answer);
  std::optional<Outcome> without_place;
  EXPECT_TRUE((*caller)
                  ->call(call_of("idle"),
                         [&](const std::string&) {
                           without_place = (*caller)->call(call_of("busy"), nothing);  // this one has the only place
                           return base::Result<void>();
                         })
                  .answer);
  ASSERT_TRUE(without_place && !without_place->answer);
  EXPECT_EQ(without_place->answer.error().message, "too many calls of DynamoDB are waiting");
  EXPECT_EQ(refusal_of((*caller)->call(call_of("busy"), nothing).answer), "");
}

TEST_F(TroubleTest, RepeatsEndWithTheirBudget) {
  FalseService service(engine());
  const auto store = remote(options_for(service.port()));
  service.treat_all(Treatment::failed);
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(store->get_item(get("things", {{"pk", "a"}})));
  EXPECT_EQ(service.requests(), 40 + RetryBudget::capacity / RetryBudget::repeat_cost)
      << "each call once, and as many repeats as the budget has";
}

TEST_F(TroubleTest, WhatAServiceLeavesOutIsAskedForAgain) {
  StingyStore stingy(engine());
  FalseService service(stingy);
  const auto store = remote(options_for(service.port()));
  store::BatchWriteItemRequest write;
  write.tables = {{"things", {}}};
  store::BatchGetItemRequest read;
  read.tables.resize(1);
  read.tables[0].table_name = "things";
  for (int i = 0; i < 6; ++i) {
    write.tables[0].writes.emplace_back(store::BatchPut{{{"pk", std::to_string(i)}}});
    read.tables[0].keys.push_back({{"pk", std::to_string(i)}});
  }
  write.report.consumed_capacity = read.return_consumed_capacity = store::ReturnConsumedCapacity::total;
  const auto written = store->batch_write_item(write);
  ASSERT_EQ(refusal_of(written), "");
  EXPECT_TRUE(written->unprocessed.empty());
  ASSERT_EQ(written->consumed_capacity.size(), 1U);
  EXPECT_DOUBLE_EQ(written->consumed_capacity[0].total, 6);
  const auto found = store->batch_get_item(read);
  ASSERT_EQ(refusal_of(found), "");
  EXPECT_TRUE(found->unprocessed.empty());
  ASSERT_EQ(found->tables.size(), 1U);
  EXPECT_EQ(found->tables[0].items.size(), 6U);
  EXPECT_DOUBLE_EQ(found->consumed_capacity.at(0).total, 3);

  for (int i = 6; i < 15; ++i) read.tables[0].keys.push_back({{"pk", std::to_string(i)}});
  const auto part = store->batch_get_item(read);
  ASSERT_EQ(refusal_of(part), "");
  ASSERT_EQ(part->unprocessed.size(), 1U) << "after as many rounds as there are attempts the rest is told";
  EXPECT_EQ(part->unprocessed[0].keys.size(), 7U);
}

TEST_F(TroubleTest, ReadsAreNotForThreadsWhereOthersWait) {
  FalseService service(engine());
  const auto store = remote(options_for(service.port()));
  store::ReadAllowance allowance(1'000'000, 1'000'000'000);
  store::GetItemRequest request = get("things", {{"pk", "a"}});
  request.allowance = &allowance;
  EXPECT_FALSE(store->get_item(request));
  EXPECT_TRUE(allowance.exhausted());
  EXPECT_EQ(service.requests(), 0);
}

TEST_F(TroubleTest, CapacityIsCountedWhetherOrNotItIsAskedFor) {
  FalseService service(engine());
  const auto store = remote(options_for(service.port()));
  service.treat_next({Treatment::throttled});
  ASSERT_TRUE(store->put_item(put("things", {{"pk", "a"}, {"text", std::string(3'000, 'x')}})));
  ASSERT_TRUE(store->get_item(get("things", {{"pk", "a"}})));
  const auto counts = store->counts();
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].operation, "GetItem");
  EXPECT_EQ(counts[0].table, "things");
  EXPECT_DOUBLE_EQ(counts[0].read_units, 1);
  EXPECT_EQ(counts[1].operation, "PutItem");
  EXPECT_EQ(counts[1].calls, 1U);
  EXPECT_EQ(counts[1].attempts, 2U);
  EXPECT_EQ(counts[1].throttled, 1U);
  EXPECT_EQ(counts[1].failed, 0U);
  EXPECT_DOUBLE_EQ(counts[1].write_units, 3);
}

TEST_F(TroubleTest, OptionsMustMakeSense) {
  const auto refused = [&](const std::function<void(RemoteOptions&)>& change) {
    RemoteOptions options = options_for(1);
    change(options);
    const auto made = RemoteStore::create(std::move(options), clock_, random_);
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(refused([](RemoteOptions&) {}), "");
  EXPECT_EQ(refused([](RemoteOptions& options) { options.region.clear(); }), "region must not be empty");
  EXPECT_EQ(refused([](RemoteOptions& options) { options.credentials = nullptr; }), "credentials must be given");
  EXPECT_NE(refused([](RemoteOptions& options) { options.attempts = 0; }), "");
  EXPECT_NE(refused([](RemoteOptions& options) { options.most_calls = 0; }), "");
}

}  // namespace
}  // namespace postino::remote
