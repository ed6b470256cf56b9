// Slows down those who guess passwords. After some failures in a row there is a pause before the next attempt, which
// doubles with each failure: for the name, from whichever address it is tried, and for the address, whichever names it
// tries. A name's pauses stay short, an address's grow.
//
// With many addresses one could keep a name in pauses for ever, and behind one proxy all names. So where a name has
// signed in before, it is slowed down by its own failures there alone: its owner is not kept out by what others try.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"

namespace postino::access {

struct PauseRule {
  int free_failures = 5;  // in a row; after these there are pauses
  base::Milliseconds first = std::chrono::seconds(1);
  base::Milliseconds longest = std::chrono::minutes(1);
};

struct SignInRules {
  PauseRule name;
  PauseRule address{.free_failures = 20, .longest = std::chrono::minutes(15)};
  // Failures are forgotten after this time without another.
  base::Milliseconds memory = std::chrono::hours(1);
  // Of names, of addresses, and of names where they have signed in. Beyond it, the oldest are forgotten.
  std::size_t most_remembered = 10'000;
};

// Safe to use from any thread. Time is the clock's monotonic one: setting the clock shortens no pause.
class SignInLimits {
 public:
  SignInLimits(const base::Clock& clock, const SignInRules& rules)
      : clock_(clock),
        names_(rules.name, rules),
        addresses_(rules.address, rules),
        at_home_(rules.name, rules),
        homes_(rules.most_remembered) {}

  // Counts as a failure from now on, so that many attempts at once do not all pass: succeeded() takes it back.
  // Otherwise how long to wait: then nothing was counted.
  std::optional<base::Milliseconds> begin(const std::string& name, const std::string& address);
  void succeeded(const std::string& name, const std::string& address);

 private:
  class Failures {
   public:
    Failures(const PauseRule& rule, const SignInRules& rules)
        : rule_(rule), memory_(rules.memory), most_(rules.most_remembered) {}

    base::Milliseconds pause(const std::string& who, base::Milliseconds now);
    void add(const std::string& who, base::Milliseconds now);
    void forget(const std::string& who);
    void take_back(const std::string& who);

   private:
    struct Entry {
      std::string who;
      int failures = 0;
      base::Milliseconds last{};
    };
    std::list<Entry>::iterator find(const std::string& who, base::Milliseconds now);

    const PauseRule rule_;
    const base::Milliseconds memory_;
    const std::size_t most_;
    std::list<Entry> entries_;  // the one that failed last is the first
    std::map<std::string, std::list<Entry>::iterator> by_name_;
  };

  // Names with an address that they have signed in from.
  class Homes {
   public:
    explicit Homes(std::size_t most) : most_(most) {}
    bool contains(const std::string& home) const { return by_name_.contains(home); }
    void add(const std::string& home);

   private:
    const std::size_t most_;
    std::list<std::string> homes_;  // the last one that was added is the first
    std::map<std::string, std::list<std::string>::iterator> by_name_;
  };

  const base::Clock& clock_;
  std::mutex mutex_;
  Failures names_;
  Failures addresses_;
  Failures at_home_;
  Homes homes_;
};

}  // namespace postino::access
