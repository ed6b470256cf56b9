// How many messages a queue has, as RabbitMQ's management API tells it.
#include "broker/managed_broker.h"

#include <gmock/gmock.h>

#include "base/many_threads_testing.h"
#include "shared_server.h"

namespace postino::broker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ManagementSettings management() {
  return {.url = "http://127.0.0.1:" + std::to_string(rabbitmq().management_port()),
          .user = RabbitmqServer::user,
          .password = RabbitmqServer::password};
}

std::unique_ptr<Broker> managed(const ManagementSettings& settings) {
  auto broker = ManagedBroker::create(shared_broker(), settings);
  EXPECT_TRUE(succeeded(broker));
  return broker ? *std::move(broker) : nullptr;
}

// What the broker has told in the end: its counts lag behind.
std::uint64_t depth_becomes(std::uint64_t expected, Broker& broker, const std::string& queue) {
  std::uint64_t told = ~0;
  base::eventually([&] {
    const auto depth = broker.depth(queue);
    EXPECT_TRUE(succeeded(depth));
    told = depth ? depth->ready : ~0;
    return !depth || told == expected;
  });
  return told;
}

TEST(ManagedBroker, CountsTheMessagesThatWait) {
  const auto broker = managed(management());
  for (const char* const queue : {"counted", "counted/with [odd] (characters)+*?^$.|\\", "gezählt"}) {
    SCOPED_TRACE(queue);
    rabbitmq().declare(queue);
    // A name that only looks alike.
    rabbitmq().declare(std::string(queue) + "x");
    EXPECT_EQ(depth_becomes(0, *broker, queue), 0U);
    ASSERT_TRUE(is_complete(broker->produce(queue, numbered(7), {})));
    ASSERT_TRUE(is_complete(broker->produce(std::string(queue) + "x", numbered(1), {})));
    EXPECT_EQ(depth_becomes(7, *broker, queue), 7U);
    const auto held = broker->receive(queue, at_least(2));
    ASSERT_TRUE(succeeded(held));
    EXPECT_EQ(depth_becomes(5, *broker, queue), 5U);
    ASSERT_TRUE(succeeded((*held)->release()));
    EXPECT_EQ(depth_becomes(7, *broker, queue), 7U);
  }
}

TEST(ManagedBroker, TellsWhyItDoesNotKnow) {
  EXPECT_EQ(kind_of(managed(management())->depth("nowhere")), "no such queue");
  ManagementSettings settings = management();
  settings.password = "not the password";
  const auto refused = managed(settings)->depth("counted");
  EXPECT_EQ(kind_of(refused), "refused");
  EXPECT_THAT(refused.error().message, Not(HasSubstr("not the password")));
  settings.url = "http://127.0.0.1:1";
  EXPECT_EQ(kind_of(managed(settings)->depth("counted")), "unreachable");
  settings.url = "http://broker.example:15672";
  EXPECT_EQ(kind_of(ManagedBroker::create(shared_broker(), settings)), "invalid");
  EXPECT_EQ(kind_of(shared_broker()->depth("counted")), "unsupported");
}

TEST(ManagedBroker, DoesEverythingElseAsTheBrokerDoes) {
  EXPECT_EQ(managed(management())->test()->product, "RabbitMQ");
}

}  // namespace
}  // namespace postino::broker
