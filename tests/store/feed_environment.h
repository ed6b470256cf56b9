// A table with a change stream on a store of a test's own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/embedded_store_testing.h"
#include "store/change_feed.h"

namespace postino::store {

inline const std::string feed_table = "changes";

class FeedEnvironment : public engine::EmbeddedStore {
 public:
  FeedEnvironment();

  base::ManualClock& time() { return *time_; }
  void put(const std::string& id);
  // Without a stream, and with another one.
  void end_stream();
  void begin_stream();
  std::string stream() { return engine().describe_table(feed_table)->latest_stream_arn.value(); }
  // Time goes by, and the stream forgets what is older than a day. In steps: the store does not believe a clock that
  // jumps.
  void pass(base::Milliseconds time);

 private:
  explicit FeedEnvironment(const std::shared_ptr<base::ManualClock>& time);
  void set_stream(bool enabled);
  const std::shared_ptr<base::ManualClock> time_;
};

// The ids of the items that were changed.
std::vector<std::string> ids_of(const std::vector<StreamRecord>& records);

}  // namespace postino::store
