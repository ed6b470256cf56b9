// The HTTP face of the API: from a request to an operation and back, with everything that belongs to the protocol:
// signatures, compression, checksums, request ids, cross-origin requests, health and statistics.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/audit.h"
#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/swappable.h"
#include "base/thread_pool.h"
#include "exchange/exchange.h"
#include "http/message.h"
#include "http/origin_policy.h"
#include "partiql/executor.h"
#include "store/store.h"
#include "wire/authorization/access_check.h"
#include "wire/fault_injection.h"
#include "wire/protocol/long_calls.h"
#include "wire/protocol/reply.h"
#include "wire/signature/authentication.h"
#include "wire/statistics.h"

namespace postino::wire {

struct Operation;
struct Services;

struct EndpointOptions {
  std::string region = "us-east-1";
  std::string account = "000000000000";  // both as the ARNs of the store have them
  std::vector<AccessKey> access_keys;    // none: any well-formed key is accepted, from this machine
  bool keys_only = false;                // also without access keys: then no caller is accepted
  http::OriginPolicy origin_policy;      // where any key is accepted; and which web pages may call
  FaultInjection faults;
  bool log_requests = false;
  exchange::Exchange* exchange = nullptr;  // must outlive the endpoint; without one, there are no exports and imports
  access::Audit* audit = nullptr;          // must outlive the endpoint; without one, nothing is written down
  OpenToken open_token;                    // of session tokens; without it no temporary key counts
  // The store is on other machines: every call waits for it, on a thread for long calls.
  bool all_calls_are_long = false;
  int long_call_threads = 0;                 // 0: one per core, but at least two
  std::size_t max_waiting_long_calls = 256;  // more are refused with RequestLimitExceeded
  // Of the server: while it is exhausted, reads that may have a large answer are refused with RequestLimitExceeded.
  std::shared_ptr<base::MemoryBudget> answers;
  // For reading large requests: while there is too little left, they are refused with RequestLimitExceeded.
  std::shared_ptr<base::MemoryBudget> reading;
  std::shared_ptr<const base::Clock> clock = std::make_shared<base::SystemClock>();
};

// Safe to use from any thread. It ends in this order: the HTTP server stops, stop() is called, the store goes (which
// answers every write it has taken), the endpoint goes.
class Endpoint {
 public:
  Endpoint(store::Store& store, EndpointOptions options);
  ~Endpoint();

  // Where it can be reached, as DescribeEndpoints tells it: known when the server listens.
  void set_address(std::string address) { address_ = std::make_shared<const std::string>(std::move(address)); }

  // Finishes the operations on tables that were taken, and the long calls that run; from now on none is taken.
  void stop();

  void handle(const http::Request& request, http::Responder respond);

  // Is it a call of an operation, and may its caller call? As far as that can be told without the store: what is not is
  // answered by handle() without asking the store.
  bool admits(const http::Request& request) const;

  // For a request whose body has not come yet: the answer if it will be refused whatever the body is. What has a small
  // body is left to handle(), where errors come in DynamoDB's order.
  std::optional<http::Response> refuse_early(const http::Request& request);

  // From now on these keys count, and no others. Without any, `keys_only` says that no caller is accepted. Safe to call
  // from any thread.
  void set_access_keys(std::vector<AccessKey> keys, bool keys_only);

  const Statistics& statistics() const { return statistics_; }
  const LongCalls& long_calls() const { return long_calls_; }

 private:
  void handle_call(const Services& services, const http::Request& request, http::Responder respond);
  void handle_long_call(const http::Request& request, const http::Responder& respond);
  std::shared_ptr<base::MemoryBudget::Share> memory_for(std::string_view body) const;
  std::optional<http::Response> refuse_foreign(const http::Request& request, const Authenticator& authenticator);
  // Adds what every response with a body has.
  void complete(const http::Request& request, http::Response& response) const;
  http::Response api_response(const http::Request& request, Reply reply, std::string_view content_type) const;
  http::Response not_an_api_call(const http::Request& request) const;
  http::Response preflight(const http::Request& request) const;
  http::Response health(const http::Request& request) const;
  void perform(const Services& services, const Operation& operation, const AccessCheck* check, std::string_view body,
               std::function<void(Reply)> finish);
  // Nothing for a key without policies, as long as no resource has one.
  std::optional<AccessCheck> access_of(const http::Request& request, KeyPoliciesPointer policies,
                                       store::Store& store) const;
  void log(const Operation& operation, const std::string& error, std::chrono::steady_clock::duration time,
           const http::Response& response) const;
  void tell_refusal(const http::Request& request, const Operation& operation,
                    const AuthenticationFailure& denied) const;
  void tell_failure(const http::Request& request, const Operation& operation, const Signer& signer,
                    const std::string& error) const;

  EndpointOptions options_;
  std::atomic<std::shared_ptr<const std::string>> address_ = std::make_shared<const std::string>("127.0.0.1:8000");
  Statistics statistics_;
  base::Swappable<Authenticator> authenticator_;
  KeyPoliciesPointer owner_;  // of callers with a key without policies, or without any key where none is needed
  mutable ResourcePolicies resource_policies_;
  partiql::Executor partiql_;
  FaultInjector faults_;
  static constexpr std::size_t max_waiting_control = 500;  // as many control operations as AWS lets run at a time
  base::ThreadPool control_{1, max_waiting_control};
  LongCalls long_calls_;
  std::unique_ptr<const Services> services_;       // for I/O threads
  std::unique_ptr<const Services> long_services_;  // for the threads of long calls
};

}  // namespace postino::wire
