// A circuit breaker for the endpoints of brokers: one that has kept a caller waiting in vain is silent, which opens the
// circuit. Such an endpoint is probed by one caller at a time, and not at once; all others are told so without waiting.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace postino::broker {

// What is known of a broker, for those who decide how many callers may wait for it.
enum class Standing {
  at_hand,   // in this process: no caller waits for another machine
  answers,   // the last connection that was tried was made
  unproven,  // it has not answered yet, or not the last time
  silent,    // it has kept a caller waiting in vain, and no caller may ask again yet
};

// Safe to use from any thread.
class CircuitBreaker {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  // `pause`: between a caller that waited in vain and the next one who may ask.
  explicit CircuitBreaker(std::chrono::milliseconds pause, Now now = Clock::now)
      : pause_(pause), now_(std::move(now)) {}

  enum class Outcome {
    answered,
    failed,   // for another reason, such as that no broker listens there
    in_vain,  // nothing came within the time limit
    untried,  // it was not asked after all
  };
  // A caller's try to connect. It must be ended.
  struct Attempt {
    std::string endpoint;
    bool is_probe = false;  // it is the one who asks a silent endpoint
  };

  // nullopt: the endpoint is silent, and it is not this caller's turn to ask it.
  std::optional<Attempt> begin(const std::string& endpoint);
  void end(const Attempt& attempt, Outcome outcome);

  bool is_silent(const std::string& endpoint) const;
  // Of a broker with these endpoints, any of which will do.
  Standing standing(const std::vector<std::string>& endpoints) const;

 private:
  // Callers can name endpoints of their own. The ones beyond are as if they had never been tried.
  static constexpr std::size_t most_endpoints_known = 1'000;

  struct State {
    bool answers = false;
    bool silent = false;
    bool is_probing = false;
    Clock::time_point next_probe;
  };
  Standing standing_of(const std::string& endpoint) const;
  bool may_probe(const State& state) const { return !state.is_probing && now_() >= state.next_probe; }
  void make_room();

  const std::chrono::milliseconds pause_;
  const Now now_;
  mutable std::mutex mutex_;
  std::map<std::string, State, std::less<>> states_;
};

}  // namespace postino::broker
