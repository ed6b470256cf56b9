// How much may go to one destination: messages at a time, and messages a second.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"

namespace postino::outbox {

struct DestinationRules {
  int concurrency = 0;  // 0: no limit
  double rate = 0;      // messages a second; 0: no limit
};

// Safe to call from any thread.
class DestinationLimits {
 public:
  explicit DestinationLimits(DestinationRules rules) : rules_(rules) {}

  // nullopt: go ahead, and call done() afterwards. Otherwise when to come again; with a limit on the rate, that moment
  // is kept free for this e-mail.
  std::optional<base::TimePoint> admit(const std::string& destination, const std::string& id, base::TimePoint now);
  void done(const std::string& destination);
  // Instead of done(): nothing was sent, and this e-mail may come again at once.
  void take_back(const std::string& destination, const std::string& id, base::TimePoint now);

 private:
  using Moment = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;
  struct Destination {
    int under_way = 0;
    Moment next_free;                                 // from here on nothing is promised
    std::map<std::string, base::TimePoint> promised;  // by e-mail
    base::TimePoint next_look;                        // at promises that are void
  };
  void forget_idle(base::TimePoint now);

  const DestinationRules rules_;
  std::mutex mutex_;
  std::map<std::string, Destination> destinations_;
};

}  // namespace postino::outbox
