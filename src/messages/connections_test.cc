// Which broker a request gets, and what its failures are called.
#include "messages/connections.h"

#include <gmock/gmock.h>

#include "messages/statistics.h"

namespace postino::messages {
namespace {

using broker::FailureKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

broker::ConnectionSettings settings_of(const std::string& host) {
  broker::ConnectionSettings settings;
  settings.endpoints = {{host, 5672}};
  return settings;
}

std::unique_ptr<Connections> connections_with(ConnectionsOptions options) {
  auto connections = Connections::create(std::move(options), nullptr);
  EXPECT_TRUE(connections) << connections.error().message;
  return *std::move(connections);
}

Place manager_at(const std::string& host, std::uint16_t port = 5672) {
  return {"", QueueManager{.endpoints = {{host, port}}}};
}

TEST(Connections, AreFoundByName) {
  ConnectionsOptions options;
  options.named = {{"main", settings_of("a.example")}, {"backup", settings_of("b.example")}};
  options.default_name = "main";
  const auto connections = connections_with(options);
  EXPECT_THAT(connections->names(), ElementsAre("backup", "main"));
  const auto main = connections->find({"main", std::nullopt});
  ASSERT_TRUE(main);
  EXPECT_EQ(*connections->find({}), *main) << "the default";
  EXPECT_NE(*connections->find({"backup", std::nullopt}), *main);
  const auto unknown = connections->find({"embedded", std::nullopt});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().fields.at(0).field, "connection");
}

TEST(Connections, AreRefusedWithTheirNameWhenTheyBreakARule) {
  ConnectionsOptions options;
  options.named = {{"main", {}}};
  const auto empty = Connections::create(options, nullptr);
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("connection main: there must be at least one endpoint"));
  options.named = {{"embedded", settings_of("a.example")}};
  EXPECT_FALSE(Connections::create(options, nullptr));
}

TEST(Connections, RequestsReachNoHostUnlessItIsAllowed) {
  const auto none = connections_with({});
  EXPECT_FALSE(none->find(manager_at("localhost")));
  ConnectionsOptions options;
  options.allowed_hosts = {"Broker.example", "other.example:5671", "*.inner.example", "[::1]:5672", "10.0.0.1"};
  const auto some = connections_with(options);
  for (const auto& [host, port] : std::vector<std::pair<std::string, std::uint16_t>>{{"broker.EXAMPLE", 1},
                                                                                     {"other.example", 5671},
                                                                                     {"a.inner.example", 1},
                                                                                     {"a.b.inner.example", 1},
                                                                                     {"::1", 5672},
                                                                                     {"10.0.0.1", 1}})
    EXPECT_TRUE(some->find(manager_at(host, port))) << host;
  for (const auto& [host, port] : std::vector<std::pair<std::string, std::uint16_t>>{{"other.example", 5672},
                                                                                     {"inner.example", 1},
                                                                                     {".inner.example", 1},
                                                                                     {"evilinner.example", 1},
                                                                                     {"::1", 1},
                                                                                     {"10.0.0.10", 1},
                                                                                     {"broker.example.evil", 1},
                                                                                     {"169.254.169.254", 1},
                                                                                     {"localhost", 5672}})
    EXPECT_FALSE(some->find(manager_at(host, port))) << host;
}

TEST(Connections, EveryEndpointOfARequestMustBeAllowed) {
  ConnectionsOptions options;
  options.allowed_hosts = loopback_hosts();
  const auto connections = connections_with(options);
  EXPECT_TRUE(connections->find(manager_at("127.0.0.1")));
  EXPECT_TRUE(connections->find(manager_at("::1")));
  const auto refused =
      connections->find({"", QueueManager{.endpoints = {{"localhost", 5672}, {"internal.example", 5672}}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, FaultKind::invalid);
  EXPECT_EQ(refused.error().fields.at(0).field, "queueManager.endpoints[1].host");
  options.allowed_hosts = {"*"};
  EXPECT_TRUE(connections_with(options)->find(manager_at("anything.example")));
}

TEST(Connections, HaveALabelForPeople) {
  const auto connections = connections_with({});
  EXPECT_EQ(connections->label({}), "embedded");
  EXPECT_EQ(connections->label({"main", std::nullopt}), "main");
  EXPECT_EQ(connections->label(manager_at("::1")), "[::1]:5672");
  EXPECT_EQ(connections->label({"", QueueManager{.name = "QM1", .endpoints = {{"a", 1}}}}), "QM1");
}

TEST(Faults, SayWhatFailuresOfTheBrokerAndTheStoreMean) {
  const std::pair<FailureKind, FaultKind> failures[] = {
      {FailureKind::invalid, FaultKind::invalid},         {FailureKind::no_such_queue, FaultKind::no_such_queue},
      {FailureKind::unsupported, FaultKind::unsupported}, {FailureKind::unreachable, FaultKind::unreachable},
      {FailureKind::refused, FaultKind::broker},          {FailureKind::lost, FaultKind::broker},
      {FailureKind::rejected, FaultKind::broker},         {FailureKind::exhausted, FaultKind::exhausted},
      {FailureKind::timed_out, FaultKind::timed_out},     {FailureKind::in_doubt, FaultKind::unknown}};
  for (const auto& [kind, meaning] : failures) {
    const Fault fault = fault_of(broker::Failure{kind, "why", {{"a:1", "closed"}}});
    EXPECT_EQ(fault.kind, meaning) << name_of(kind);
    EXPECT_EQ(fault.message, "why");
    EXPECT_THAT(fault.endpoints, SizeIs(1));
    EXPECT_EQ(fault.retry_after.has_value(), broker::Failure({kind, "", {}}).is_temporary());
  }
  EXPECT_EQ(fault_of(store::Error(store::ErrorType::throttling, "")).kind, FaultKind::store);
  EXPECT_EQ(fault_of(store::Error(store::ErrorType::internal_server_error, "")).kind, FaultKind::store);
  EXPECT_EQ(fault_of(store::Error(store::ErrorType::validation, "")).kind, FaultKind::internal);
}

TEST(MessageStatistics, QueuesBeyondTheFirstHundredShareAName) {
  Statistics statistics;
  for (int i = 0; i < 150; ++i)
    statistics.count("produce", "q" + std::to_string(i), "completed", 1, base::Milliseconds(1'500));
  statistics.count("produce", "a \"quoted\\ name", "completed", 1, base::Milliseconds(0));
  std::string text;
  statistics.append_to(text);
  EXPECT_THAT(text, HasSubstr(R"(postino_messages_calls_total{operation="produce",queue="q99",result="completed"} 1)"));
  EXPECT_THAT(text, Not(HasSubstr("q100")));
  EXPECT_THAT(text,
              HasSubstr(R"(postino_messages_calls_total{operation="produce",queue="other",result="completed"} 51)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(postino_messages_seconds_total{operation="produce",queue="other",result="completed"} 75.000)"));
  EXPECT_THAT(text, HasSubstr("# TYPE postino_messages_calls_total counter"));
  Statistics quoted;
  quoted.count("consume", "a \"quoted\\ name", "completed", 1, base::Milliseconds(0));
  text.clear();
  quoted.append_to(text);
  EXPECT_THAT(text, HasSubstr(R"(queue="a \"quoted\\ name")"));
}

}  // namespace
}  // namespace postino::messages
