// Trouble with those whom this process calls, in the log: a line for each outage and each recovery, however many calls
// meet it.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

namespace postino::net {

// Whether a server that this process needs does what is asked, as the last attempt found it. Safe to use from any
// thread.
class PartnerHealth {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds pause{60};  // between two outages that are told, at least

  // `part` of the program tells it: "outbox" of "the mail server" and "mail.example:25".
  PartnerHealth(std::string part, std::string what, std::string name)
      : part_(std::move(part)), what_(std::move(what)), name_(std::move(name)) {}

  // What came of an attempt. The beginning and the end of an outage are told; the next one is not told before the pause
  // is over, if it lasts as long.
  void works();
  void fails(const std::string& why, Instant now);

  bool is_up() const { return !is_down_; }
  const std::string& name() const { return name_; }
  // "the mail server mail.example:25 could not be used at the last attempt: connection refused"
  std::optional<std::string> problem() const;

 private:
  const std::string part_;
  const std::string what_;
  const std::string name_;
  std::atomic<bool> is_down_ = false;
  mutable std::mutex mutex_;
  std::string why_;
  bool is_told_ = false;
  std::optional<Instant> told_at_;
};

}  // namespace postino::net
