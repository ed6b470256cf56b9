// What the outbox did, for /metrics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "outbox/email/email.h"

namespace postino::outbox {

// Safe to use from any thread.
class Statistics {
 public:
  // A move that a pipeline or the rescue has written.
  void moved(const Email& before, const Email& after);
  void rescued(const Email& before);

  // Appends them in Prometheus' text format.
  void append_to(std::string& out) const;

 private:
  static constexpr std::size_t bucket_count = 12;
  static const std::array<double, bucket_count> bounds;  // in seconds

  std::array<std::atomic<std::uint64_t>, state_count> entered_{};
  std::array<std::atomic<std::uint64_t>, state_count> rescued_{};
  std::atomic<std::uint64_t> retries_ = 0;
  std::atomic<std::uint64_t> callback_failures_ = 0;
  std::atomic<std::uint64_t> dead_callbacks_ = 0;
  std::array<std::atomic<std::uint64_t>, bucket_count + 1> until_sent_{};
  std::atomic<std::uint64_t> until_sent_milliseconds_ = 0;
};

}  // namespace postino::outbox
