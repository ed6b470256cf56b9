// A store of a test's own, with queues in it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "broker/broker.h"
#include "engine/embedded_store_testing.h"
#include "messages/store_queue.h"

namespace postino::messages {

inline constexpr base::TimePoint test_start = engine::embedded_start;

class MessageStore : public engine::EmbeddedStore {
 public:
  using EmbeddedStore::EmbeddedStore;

  // Each is what another process would have.
  std::unique_ptr<StoreQueue> make_queue(StoreQueueOptions options = {});

  // How many messages stand on shelves: those that are there, in whatever state.
  std::size_t count_messages();
};

// Messages of a text, with the ids "<prefix>0", "<prefix>1" and so on.
broker::Messages numbered(std::size_t count, const std::string& prefix = "message-");
std::vector<std::string> ids_of(const std::vector<broker::Message>& messages);
// Takes and acknowledges everything in a queue of the store, which knows what it has: there is nothing to wait for.
std::vector<broker::Message> take_all(broker::Broker& broker, const std::string& queue);

// Expects success, and tells the failure otherwise.
template <class T>
::testing::AssertionResult succeeded(const broker::Result<T>& answer) {
  if (answer) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << name_of(answer.error().kind) << ": " << answer.error().message;
}
::testing::AssertionResult is_complete(const broker::ProduceReport& report);
// "" when there was no failure.
template <class T>
std::string kind_of(const broker::Result<T>& answer) {
  return answer ? "" : std::string(name_of(answer.error().kind));
}
std::string kind_of(const broker::ProduceReport& report);

}  // namespace postino::messages
