// How fast calls may follow each other once the service has throttled some: the adaptive mode of AWS's own clients.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"

namespace postino::remote {

// Nothing is held up before a call is throttled. Then the rate falls to a part of what was sent, and grows back with
// each success: slowly around the rate that was too much, faster away from it, and never beyond twice of what is really
// sent, or ten a second. A minute after the last refusal there is no limit any more. Times are monotonic. Used by one
// thread at a time.
class SendRate {
 public:
  static constexpr base::Milliseconds forgotten_after = std::chrono::minutes(1);

  // Takes the next turn, and says how long it is until then.
  base::Milliseconds take(base::Milliseconds now);
  // The turn was not used.
  void give_back();
  // What came of a call that was sent.
  void succeeds(base::Milliseconds now);
  void is_throttled(base::Milliseconds now);

  // Calls a second; nullopt: as many as there are.
  std::optional<double> limit() const { return limit_; }

 private:
  void measure(base::Milliseconds now);
  void refill(base::Milliseconds now);
  void set_limit(double calculated);

  std::optional<double> limit_;
  double turns_ = 0;  // that may be taken at once; below zero when some wait
  base::Milliseconds filled_at_{0};
  // What is really sent, in calls a second.
  double measured_ = 0;
  int counted_ = 0;
  std::optional<base::Milliseconds> counted_since_;
  // Where it was throttled last.
  double highest_ = 0;
  double seconds_to_highest_ = 0;
  base::Milliseconds throttled_at_{0};
};

// One for each table, because one that is throttled must not hold up the others. Safe to use from any thread.
class SendRates {
 public:
  static constexpr std::size_t most_tables = 1'000;  // more share one

  base::Milliseconds take(const std::string& table, base::Milliseconds now);
  void give_back(const std::string& table);
  void succeeds(const std::string& table, base::Milliseconds now);
  void is_throttled(const std::string& table, base::Milliseconds now);

 private:
  SendRate& of(const std::string& table);

  std::mutex mutex_;
  std::map<std::string, SendRate> rates_;
  SendRate shared_;
};

}  // namespace postino::remote
