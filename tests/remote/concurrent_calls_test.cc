#include <atomic>
#include <future>

#include "base/many_threads_testing.h"
#include "net/raw_server_testing.h"
#include "tested_store.h"

namespace postino::remote {
namespace {

using store::ErrorType;

class ConcurrentCallsTest : public StoreTest {
 protected:
  ConcurrentCallsTest() { create_table("things"); }
};

TEST_P(ConcurrentCallsTest, ClaimEachItemOnce) {
  constexpr int items = 20;
  std::atomic<int> claimed = 0;
  base::run_threads(4, [&](int thread) {
    for (int i = 0; i < items; ++i) {
      store::PutItemRequest request = put("things", {{"pk", std::to_string(i)}, {"owner", thread}});
      request.condition = "attribute_not_exists(pk)";
      const auto answer = store().put_item(request);
      if (answer) ++claimed;
      if (!answer) EXPECT_EQ(answer.error().type, ErrorType::conditional_check_failed) << answer.error().message;
    }
  });
  EXPECT_EQ(claimed, items);
}

TEST_P(ConcurrentCallsTest, AreAllAnswered) {
  constexpr int writes = 60;
  std::atomic<int> answered = 0;
  std::promise<void> all;
  for (int i = 0; i < writes; ++i)
    store().put_item(put("things", {{"pk", std::to_string(i)}}), [&](auto answer) {
      EXPECT_TRUE(answer);
      if (++answered == writes) all.set_value();
    });
  all.get_future().wait();
  store::ScanRequest scan;
  scan.table_name = "things";
  EXPECT_EQ(store().scan(scan)->count, writes);
}

ON_STORES_WITH(ConcurrentCallsTest, Ability::many_threads);

// A service that takes requests and never answers.
TEST(ConcurrentSilence, EndsWithTheProcess) {
  std::promise<void> reached;
  net::RawServer server([&](net::RawPeer& peer) {
    peer.receive_head();
    if (peer.number() == 1) reached.set_value();
    peer.wait_for_end();
  });
  const base::SystemClock clock;
  base::SeededRandom random(6);
  const auto shutdown = std::make_shared<net::ShutdownDeadline>();
  RemoteOptions options = options_for(server.port());
  options.most_calls = 1;
  options.shutdown_deadline = shutdown;
  const auto store = make_remote(std::move(options), clock, random);
  constexpr int writes = 1'200;
  std::atomic<int> refused = 0, answered = 0;
  for (int i = 0; i < writes; ++i)
    store->put_item(put("things", {{"pk", "a"}}), [&](auto answer) {
      ASSERT_FALSE(answer);
      if (answer.error().message == "too many writes are waiting for DynamoDB") ++refused;
      ++answered;
    });
  EXPECT_GE(refused, writes - 1'002) << "at once";
  reached.get_future().wait();
  shutdown->begin_at(net::deadline_in(std::chrono::milliseconds(0)));
  EXPECT_TRUE(base::eventually([&] { return answered == writes; }));
}

}  // namespace
}  // namespace postino::remote
