// What a store over HTTP has and the embedded one has not, in services: tables that take few units a second, and
// transactions of at most 4 MB.
#include <set>

#include "local_service.h"
#include "message_store.h"
#include "tested_store.h"

namespace postino::remote {
namespace {

using messages::is_complete;
using messages::StoreQueue;
using messages::succeeded;
using testing::SizeIs;

// A service that holds its tables to their throughput. Whoever waits finds that the time has passed.
class DifferencesTest : public testing::Test {
 protected:
  DifferencesTest() { open(true); }

  void open(bool enforces) {
    queue_.reset();
    remote_.reset();
    service_.reset();
    engine_.reset();
    engine::Options options;
    options.directory = directory_.path();
    options.clock = clock_;
    options.enforce_throughput = enforces;
    auto opened = engine::Engine::open(std::move(options));
    CHECK(opened.has_value());
    engine_ = *std::move(opened);
    service_ = std::make_unique<LocalService>(*engine_);
    RemoteOptions remote = options_for(service_->port());
    remote.sleep = [this](base::Milliseconds time) { wait(time); };
    remote_ = make_remote(std::move(remote), hurried_clock(), random_);
    queue_ = std::make_unique<StoreQueue>(*remote_, *clock_, random_,
                                          store::Retry(random_, [this](base::Milliseconds time) { wait(time); }),
                                          messages::StoreQueueOptions{.lease = std::chrono::hours(24)});
  }

  void wait(base::Milliseconds time) {
    hurried_clock().wait(time);
    clock_->advance(time);
  }
  // A unit a second each way.
  void make_narrow(const std::string& table) {
    store::UpdateTableRequest request;
    request.table_name = table;
    request.billing_mode = store::BillingMode::provisioned;
    request.throughput = store::Throughput{1, 1};
    ASSERT_EQ(refusal_of(engine_->update_table(request)), "");
  }
  void make_wide(const std::string& table) {
    store::UpdateTableRequest request;
    request.table_name = table;
    request.billing_mode = store::BillingMode::pay_per_request;
    ASSERT_EQ(refusal_of(engine_->update_table(request)), "");
  }
  std::uint64_t throttled() {
    std::uint64_t sum = 0;
    for (const RemoteCounts& each : remote_->counts()) sum += each.throttled;
    return sum;
  }

  const base::TemporaryDirectory directory_{engine::memory_directory()};
  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  std::unique_ptr<engine::Engine> engine_;
  base::SeededRandom random_{7};
  std::unique_ptr<LocalService> service_;
  std::unique_ptr<RemoteStore> remote_;
  std::unique_ptr<StoreQueue> queue_;
};

TEST_F(DifferencesTest, WritesToATableOfOneUnitWaitAndAreAllDone) {
  constexpr int writes = 400;
  constexpr int saved_up = 300;  // what a table may use at once of what it did not use before
  store::CreateTableRequest request = store::CreateTableRequest();
  request.table_name = "narrow";
  request.attribute_definitions = {{"pk", item::Type::string}};
  request.key_schema = {{"pk", store::KeyRole::hash}};
  request.billing_mode = store::BillingMode::provisioned;
  request.throughput = store::Throughput{1, 1};
  ASSERT_EQ(refusal_of(remote_->create_table(request)), "");
  const base::TimePoint begin = clock_->now();
  for (int i = 0; i < writes; ++i)
    ASSERT_EQ(refusal_of(remote_->put_item(put("narrow", {{"pk", std::to_string(i)}}))), "") << i;
  EXPECT_GT(throttled(), 0U);
  EXPECT_GE(clock_->now() - begin, std::chrono::seconds(writes - saved_up - 1));
  EXPECT_THAT(remote_->problems(), testing::IsEmpty());
  store::ScanRequest scan;
  scan.table_name = "narrow";
  EXPECT_EQ(engine_->scan(scan)->count, writes);
}

// Transactions need more units at once than there are, again and again: the caller is told, and goes on where it was.
TEST_F(DifferencesTest, MessagesOfATableOfOneUnitAreThereOnce) {
  constexpr std::size_t count = 90, window = 5;
  ASSERT_TRUE(is_complete(queue_->produce("q", messages::numbered(1, "first-"), {}, nullptr)));
  make_narrow("messages");
  std::size_t done = 0;
  int refusals = 0;
  while (done < count && refusals < 10'000) {
    const auto report = queue_->produce("q", messages::numbered(count), {.first = done, .window = window}, nullptr);
    ASSERT_GE(report.prefix, done);
    done = report.prefix;
    if (is_complete(report)) continue;
    ASSERT_EQ(messages::kind_of(report), "exhausted") << "it is known that nothing more was done";
    ++refusals;
    wait(std::chrono::seconds(1));
  }
  EXPECT_EQ(done, count);
  EXPECT_GT(refusals, 0);
  EXPECT_GT(throttled(), 0U);
  make_wide("messages");
  EXPECT_EQ(queue_->depth("q").value_or(broker::Depth{}).ready, count + 1) << "counted once";
  const auto ids = messages::ids_of(messages::take_all(*queue_, "q"));
  EXPECT_THAT(ids, SizeIs(count + 1));
  EXPECT_THAT(std::set(ids.begin(), ids.end()), SizeIs(count + 1)) << "each is there once";
}

TEST_F(DifferencesTest, MessagesThatAreMoreThanATransactionTakesAreWrittenInSeveral) {
  open(false);  // a queue is one partition, which could not take so much at once
  constexpr std::size_t count = 40, bytes = 200'000;
  const broker::Messages large(count, [](std::size_t position) {
    broker::Message message;
    message.id = std::to_string(position);
    message.body = std::string(bytes, 'x');
    return message;
  });
  ASSERT_TRUE(is_complete(queue_->produce("q", large, {.window = count}, nullptr)));
  const auto held = queue_->receive("q", {.max_messages = count});
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(count));
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
  EXPECT_EQ(queue_->depth("q").value_or(broker::Depth{99}).ready, 0U);
}

}  // namespace
}  // namespace postino::remote
