// The contract of broker::Broker, for every implementation: what services rely on.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "broker/broker.h"

namespace postino::messages {

// A broker, with queues that can be made.
class BrokerUnderTest {
 public:
  virtual ~BrokerUnderTest() = default;

  // Each is what another process would have.
  virtual std::unique_ptr<broker::Broker> connect() = 0;

  // A queue that no other test uses, and the queue for what consumers reject.
  struct Queues {
    std::string queue;
    std::string grave;
  };
  virtual Queues fresh_queues() = 0;
  // Makes a queue of this name usable.
  virtual void declare(const std::string& queue) = 0;
};

struct BrokerChoice {
  std::string name;
  std::function<std::unique_ptr<BrokerUnderTest>()> make;
};

class BrokerConformance : public ::testing::TestWithParam<BrokerChoice> {
 protected:
  std::string fresh_queue() { return subject_->fresh_queues().queue; }
  // With these messages in it, or numbered ones, each once.
  BrokerUnderTest::Queues queues_with(const broker::Messages& messages);
  std::string queue_with(std::size_t count);

  const std::unique_ptr<BrokerUnderTest> subject_ = GetParam().make();
  const std::unique_ptr<broker::Broker> broker_ = subject_->connect();
  const std::unique_ptr<broker::Broker> other_ = subject_->connect();
};

inline std::string name_of_choice(const ::testing::TestParamInfo<BrokerChoice>& info) { return info.param.name; }

}  // namespace postino::messages
