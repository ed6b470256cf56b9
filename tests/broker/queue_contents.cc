#include "queue_contents.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/many_threads_testing.h"

namespace postino::broker {

namespace {

constexpr std::string_view marker_prefix = "marker of the test ";

bool is_marker(const Message& message) { return message.id.starts_with(marker_prefix); }

std::string send_marker(Broker& broker, const std::string& queue) {
  static std::atomic<int> number = 0;
  std::string id = std::string(marker_prefix) + std::to_string(++number);
  const ProduceReport report = broker.produce(queue, Messages::of({{.id = id, .body = "marker"}}), {});
  EXPECT_TRUE(report.complete()) << (report.failure ? report.failure->message : "");
  return id;
}

// Null when nothing came, which fails the test.
std::unique_ptr<Held> receive(Broker& broker, const std::string& queue, const ReceiveOptions& options) {
  auto held = broker.receive(queue, options);
  EXPECT_TRUE(held) << held.error().message;
  if (!held) return nullptr;
  EXPECT_FALSE((*held)->messages().empty()) << "nothing came from " << queue;
  return (*held)->messages().empty() ? nullptr : *std::move(held);
}

void acknowledge(Held& held) {
  const auto settled = held.acknowledge();
  EXPECT_TRUE(settled) << settled.error().message;
}

}  // namespace

std::vector<Message> drain_queue(Broker& broker, const std::string& queue, std::size_t known) {
  std::vector<Message> all;
  std::string marker;
  for (bool is_whole = false; !is_whole;) {
    const std::size_t missing = known > all.size() ? known - all.size() : 0;
    if (missing == 0 && marker.empty()) marker = send_marker(broker, queue);
    const auto held = receive(broker, queue,
                              {.max_messages = missing > 0 ? missing : 100'000,
                               .wait = base::test_patience,
                               .linger = missing > 0 ? Milliseconds(base::test_patience) : Milliseconds(0)});
    if (!held) return all;
    for (const Message& message : held->messages()) {
      if (!is_marker(message)) all.push_back(message);
      is_whole |= message.id == marker;
    }
    acknowledge(*held);
  }
  return all;
}

bool is_empty(Broker& broker, const std::string& queue) {
  const std::string marker = send_marker(broker, queue);
  while (true) {
    const auto held = receive(broker, queue, {.max_messages = 1, .wait = base::test_patience});
    if (!held) return false;
    const Message& message = held->messages().front();
    if (!is_marker(message)) {
      EXPECT_TRUE(held->release());
      return false;
    }
    acknowledge(*held);
    if (message.id == marker) return true;
  }
}

bool has_nothing_to_give(Broker& broker, const std::string& queue) {
  const auto held = broker.receive(queue, {});
  EXPECT_TRUE(held) << held.error().message;
  if (!held || (*held)->messages().empty()) return true;
  EXPECT_TRUE((*held)->release());
  return false;
}

}  // namespace postino::broker
