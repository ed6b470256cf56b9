// A second Postino in this process: a store behind an HTTP server, as DynamoDB is, and a RemoteStore that calls it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "http/server.h"
#include "remote/remote_store.h"
#include "wire/endpoint.h"

namespace postino::remote {

inline const std::string service_region = "eu-central-1";
inline const signature::AccessKeys service_keys{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};

// Signatures count.
wire::EndpointOptions strict_options();

// For a server on this port. Waits between attempts are those of the hurried clock.
RemoteOptions options_for(std::uint16_t port);
std::unique_ptr<RemoteStore> make_remote(RemoteOptions options, const base::Clock& clock, base::Random& random);

// The system's clock, but for waits: they are over at once, and the monotonic time is then later by as much.
class HurriedClock final : public base::Clock {
 public:
  base::TimePoint now() const override { return system_.now(); }
  base::Milliseconds monotonic() const override { return system_.monotonic() + base::Milliseconds(waited_.load()); }
  void wait(base::Milliseconds time) { waited_ += time.count(); }

 private:
  const base::SystemClock system_;
  std::atomic<std::int64_t> waited_ = 0;
};
HurriedClock& hurried_clock();

class LocalService {
 public:
  // The store must outlive it.
  explicit LocalService(store::Store& behind);
  ~LocalService();

  store::Store& store() { return *remote_; }
  RemoteStore& remote() { return *remote_; }
  std::uint16_t port() const { return server_->port(); }

 private:
  base::SeededRandom random_{3};
  wire::Endpoint endpoint_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<RemoteStore> remote_;
};

}  // namespace postino::remote
