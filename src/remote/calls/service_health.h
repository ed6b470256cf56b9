// Whether the service does what it is asked, as calls find it: what /readyz tells of.
//
// One call that fails says little: the next one may succeed. Trouble is what has lasted, without a success in between.
// Data and streams are counted apart, because they may have endpoints of their own; so is each table and operation that
// is refused, because others may go on.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "net/trouble.h"
#include "remote/calls/verdict.h"

namespace postino::remote {

// The tables that the program lives by, and what it does with each: PutItem, Query, ... What is refused of others
// concerns those who have asked for it.
using NeededTables = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// A call with all of its attempts. Times are monotonic.
struct FinishedCall {
  Api api = Api::data;
  std::string_view operation;
  std::string_view table;
  base::Milliseconds begun{0};
  base::Milliseconds ended{0};
  Trouble trouble = Trouble::none;
  std::string_view why = {};  // of trouble
};

// Safe to use from any thread. A call that succeeds while nothing is wrong takes no lock.
class ServiceHealth {
 public:
  static constexpr base::Milliseconds patience{5'000};
  // When callers do not ask for a table any more, a refusal of it has no recovery.
  static constexpr base::Milliseconds forgotten_after = std::chrono::minutes(2);
  // What is throttled comes again soon, or is over.
  static constexpr base::Milliseconds throttling_forgotten_after = std::chrono::seconds(30);
  static constexpr std::size_t most_refusals = 100;

  ServiceHealth(std::string data_endpoint, std::string streams_endpoint, NeededTables needed);

  void note(const FinishedCall& call);
  // Is it one that the program needs? Then its trouble is a failure of the service.
  bool is_needed(Api api, std::string_view operation, std::string_view table, Trouble trouble) const;

  // What is wrong, in words; empty: nothing.
  std::vector<std::string> problems(Api api, base::Milliseconds now) const;

 private:
  // Failures in a row.
  struct Failures {
    base::Milliseconds since{0};
    base::Milliseconds last{0};
    std::string why = {};

    bool has_lasted() const { return last - since >= patience; }
  };
  struct Endpoint {
    std::string name;
    std::atomic<bool> has_failed = false;
    std::atomic<std::int64_t> last_success{0};  // in milliseconds
    Failures failures = {};                     // under the mutex
    net::LastingTrouble told = {};
  };
  using Kind = std::tuple<Api, Trouble>;
  using Refusal = std::tuple<Api, Trouble, std::string, std::string>;  // with operation and table

  Endpoint& endpoint(Api api) { return api == Api::data ? data_ : streams_; }
  const Endpoint& endpoint(Api api) const { return api == Api::data ? data_ : streams_; }
  void note_answer(const FinishedCall& call);
  void note_failure(const FinishedCall& call);
  void note_refusal(const FinishedCall& call);
  void forget_refusals(const FinishedCall& call);
  void tell_end(const Kind& kind);
  std::string text_of(const Refusal& refusal, const Failures& failures) const;

  Endpoint data_;
  Endpoint streams_;
  const NeededTables needed_;
  std::atomic<bool> has_refusals_ = false;
  mutable std::mutex mutex_;
  std::map<Refusal, Failures> refusals_;
  std::map<Kind, net::LastingTrouble> told_;  // of refusals
};

}  // namespace postino::remote
