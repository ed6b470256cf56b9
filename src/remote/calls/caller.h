// Calls of the service: signed, on kept connections, tried again where that may help.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/random.h"
#include "http/client.h"
#include "remote/calls/call_counts.h"
#include "remote/calls/call_limit.h"
#include "remote/calls/retry_budget.h"
#include "remote/calls/send_rate.h"
#include "remote/calls/service_clock.h"
#include "remote/calls/service_health.h"
#include "remote/calls/verdict.h"
#include "remote/credentials/credentials.h"

namespace postino::remote {

struct CallerOptions {
  net::Url endpoint;
  net::Url streams_endpoint;
  std::string region;
  std::shared_ptr<Credentials> credentials;
  net::ClientTlsOptions tls;
  std::chrono::milliseconds call_time{10'000};
  int attempts = 8;
  int most_calls = 64;
  NeededTables needed;
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline;  // may be null
  base::Backoff backoff{std::chrono::milliseconds(50), std::chrono::seconds(5)};
  std::function<void(base::Milliseconds)> sleep;
};

struct Call {
  Api api = Api::data;
  std::string_view operation;  // "PutItem"
  std::string table;           // for counts and for the rate; empty where there is none
  std::string body;
  // May it be sent again when it is not known of an attempt whether it was done?
  bool is_repeatable = true;
  // What is sent then instead; may be null.
  std::function<std::string()> body_of_repeat;
};

struct Outcome {
  store::Answer<void> answer;
  // It is not known of an earlier attempt whether it was done. When the answer is a refusal, that attempt may be why.
  bool may_be_done = false;
  Trouble trouble = Trouble::none;  // at the last attempt
};

// Safe to use from any thread.
class Caller {
 public:
  // Sends nothing yet. invalid when an option breaks a rule. `clock` and `random` must outlive it.
  static base::Result<std::unique_ptr<Caller>> create(CallerOptions options, const base::Clock& clock,
                                                      base::Random& random);

  // Ends within the time of a call. `take` gets the body of an answer; malformed of it counts as an answer that was
  // damaged on the way. The error is internal_server_error when it is not known whether it was done, and
  // service_unavailable when it was surely not, because it could not be sent.
  using Take = std::function<base::Result<void>(std::string body)>;
  Outcome call(const Call& call, const Take& take);

  // Waits before work is tried again: true unless the process ends.
  bool pause(base::Milliseconds time) const;

  std::vector<std::string> problems(Api api) const { return health_.problems(api, clock_.monotonic()); }
  const ServiceClock& service_clock() const { return service_clock_; }
  CallCounts& counts() { return counts_; }
  const CallCounts& counts() const { return counts_; }
  const CallerOptions& options() const { return options_; }
  const RetryBudget& budget() const { return budget_; }

 private:
  // What has come of a call so far.
  struct Progress;

  Caller(CallerOptions options, std::unique_ptr<http::Client> client, const base::Clock& clock, base::Random& random);

  bool is_ending() const;
  std::optional<CallLimit::Place> wait_for_place(net::Deadline end);
  Outcome attempt_until_done(const Call& call, const Take& take);
  // Is it a failure of the service, or of what it was given?
  bool has_failed(const Call& call, const Outcome& outcome) const;
  // Waits for its turn, and sends.
  Verdict attempt(const Call& call, const Take& take, Progress& progress);
  Verdict send(const Call& call, const Take& take, const Progress& progress);
  Verdict judge(const Call& call, http::ClientResponse response, const Take& take);
  // What the verdict means for the calls to come.
  void note(const Call& call, const Verdict& verdict, Progress& progress);
  // Prepares the next attempt; false when there is none.
  bool may_go_on(const Call& call, const Verdict& verdict, Progress& progress);

  Acquaintance acquaintance(Api api) const {
    return (api == Api::data ? data_has_answered_ : streams_have_answered_) ? Acquaintance::known : Acquaintance::none;
  }
  void note_answered(Api api) { (api == Api::data ? data_has_answered_ : streams_have_answered_) = true; }

  const CallerOptions options_;
  const std::unique_ptr<http::Client> client_;
  const base::Clock& clock_;
  base::Random& random_;
  ServiceClock service_clock_;
  std::atomic<bool> data_has_answered_ = false;
  std::atomic<bool> streams_have_answered_ = false;
  std::atomic<bool> data_tells_checksums_ = false;
  std::atomic<bool> streams_tell_checksums_ = false;
  CallLimit limit_;
  RetryBudget budget_;
  SendRates rates_;
  CallCounts counts_;
  ServiceHealth health_;
};

}  // namespace postino::remote
