// A store of a test's own, with queues in it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/temporary_directory.h"
#include "broker/broker.h"
#include "engine/engine.h"
#include "messages/store_queue.h"

namespace postino::messages {

// 2026-01-02T03:04:05Z
inline constexpr base::TimePoint test_start = base::TimePoint(std::chrono::seconds(1'767'323'045));

class MessageStore {
 public:
  // The test ends when it cannot be opened.
  explicit MessageStore(std::shared_ptr<base::Clock> clock);

  engine::Engine& engine() { return *engine_; }
  const base::Clock& clock() const { return *clock_; }
  base::Random& random() { return random_; }
  // Delays are for others to get on; here they are through in an instant.
  store::Patience patience();

  // Each is what another process would have.
  std::unique_ptr<StoreQueue> make_queue(StoreQueueOptions options = {});

  // Every item of a table.
  std::vector<item::Item> scan(const std::string& table);
  // How many of them stand on shelves: messages that are there, in whatever state.
  std::size_t count_messages();

 private:
  base::TemporaryDirectory directory_;
  const std::shared_ptr<base::Clock> clock_;
  base::SeededRandom random_{1};
  std::unique_ptr<engine::Engine> engine_;
};

// Messages of a text, with the ids "<prefix>0", "<prefix>1" and so on.
broker::Messages numbered(std::size_t count, const std::string& prefix = "message-");
std::vector<std::string> ids_of(const std::vector<broker::Message>& messages);
// Takes all there is and acknowledges it; waits for the first if told to.
std::vector<broker::Message> take_all(broker::Broker& broker, const std::string& queue,
                                      base::Milliseconds wait = base::Milliseconds(0));

// Expects success, and tells the failure otherwise.
template <class T>
::testing::AssertionResult succeeded(const broker::Answer<T>& answer) {
  if (answer) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << name_of(answer.error().kind) << ": " << answer.error().message;
}
::testing::AssertionResult is_complete(const broker::ProduceReport& report);
// "" when there was no failure.
template <class T>
std::string kind_of(const broker::Answer<T>& answer) {
  return answer ? "" : std::string(name_of(answer.error().kind));
}
std::string kind_of(const broker::ProduceReport& report);

}  // namespace postino::messages
