// The HTTP face of the API: from a request to an operation and back, with everything that belongs to the protocol:
// signatures, compression, checksums, request ids, cross-origin requests, health and statistics.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "net/http.h"
#include "partiql/executor.h"
#include "store/store.h"
#include "wire/authentication.h"
#include "wire/fault_injection.h"
#include "wire/reply.h"
#include "wire/statistics.h"

namespace postino::wire {

struct Operation;
struct Services;

struct EndpointOptions {
  std::string region = "us-east-1";
  std::vector<AccessKey> access_keys;  // none: any well-formed key is accepted
  FaultInjection faults;
  bool log_requests = false;
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

  // Finishes the operations on tables that were taken; from now on none is.
  void stop();

  void handle(const net::Request& request, net::Responder respond);

  const Statistics& statistics() const { return statistics_; }

 private:
  void handle_call(const net::Request& request, net::Responder respond);
  void perform(const Operation& operation, std::string_view body, std::function<void(Reply)> finish);
  void log(const Operation& operation, const std::string& error, std::chrono::steady_clock::duration time,
           const net::Response& response) const;

  EndpointOptions options_;
  std::atomic<std::shared_ptr<const std::string>> address_ = std::make_shared<const std::string>("127.0.0.1:8000");
  Statistics statistics_;
  Authenticator authenticator_;
  partiql::Executor partiql_;
  FaultInjector faults_;
  static constexpr std::size_t max_waiting_control = 500;  // as many control operations as AWS lets run at a time
  base::ThreadPool control_{1, max_waiting_control};
  std::unique_ptr<const Services> services_;
};

}  // namespace postino::wire
