// What tests of workers share: e-mails at the beginning of their way, and workers that wait for the test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "base/check.h"
#include "outbox/email/state_machine.h"

namespace postino::outbox {

inline constexpr base::TimePoint test_start{base::Milliseconds(1'794'735'000'000)};  // 2026-11-15T09:30:00Z

inline const std::string test_message = "Subject: hello\r\n\r\nhello\r\n";

// The e-mail after what happens next; the test ends when its state forbids it.
inline Change happens(Change change, Event event, const Policy& policy, base::TimePoint now = test_start) {
  auto next = then(std::move(change), std::move(event), policy, now);
  CHECK(next.has_value());
  return *std::move(next);
}

inline Change accepted(const std::string& id, const Policy& policy, base::TimePoint now = test_start) {
  Change change;
  change.after.id = id;
  change.after.sender = "ann@example.com";
  change.after.recipients = {{"bob@example.com", RecipientState::pending, ""}};
  return happens(std::move(change), event::Accepted{}, policy, now);
}

inline Change ready(const std::string& id, const Policy& policy, base::TimePoint now = test_start) {
  return happens(accepted(id, policy, now), event::MessageBuilt{test_message}, policy, now);
}

inline Change processing(const std::string& id, const Policy& policy, base::TimePoint now = test_start) {
  return happens(ready(id, policy, now), event::Claimed{"worker"}, policy, now);
}

// The same for all recipients.
inline smtp::SendResult result_for(const Email& email, smtp::Severity severity, const smtp::Reply& reply) {
  smtp::SendResult result;
  result.severity = severity;
  result.reply = reply;
  for (const Recipient& recipient : email.recipients) result.recipients.push_back({recipient.address, severity, reply});
  return result;
}

inline smtp::SendResult delivered(const Email& email) {
  return result_for(email, smtp::Severity::success, {250, "2.0.0", "250 2.0.0 ok"});
}

// Keeps workers waiting until the test lets them go. Safe to use from any thread.
class Gate {
 public:
  // A worker comes, and waits until it is let through.
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    EXPECT_TRUE(changed_.wait_for(lock, longest_wait, [this] { return is_open_ || passed_ < admitted_; }));
    ++passed_;
  }
  // Waits until so many have come; false when that takes too long.
  bool await(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, longest_wait, [&] { return arrived_ >= count; });
  }
  void let_through(int count) {
    const std::lock_guard lock(mutex_);
    admitted_ += count;
    changed_.notify_all();
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr std::chrono::seconds longest_wait{120};  // only a test that fails waits so long

  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int admitted_ = 0;
  int passed_ = 0;
  bool is_open_ = false;
};

}  // namespace postino::outbox
