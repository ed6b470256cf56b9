// A second Postino in this process: a store behind an HTTP server, as DynamoDB is, and a RemoteStore that calls it.
#pragma once

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

// For a server on this port; nothing waits between attempts.
RemoteOptions options_for(std::uint16_t port);
std::unique_ptr<RemoteStore> make_remote(RemoteOptions options, const base::Clock& clock, base::Random& random);

class LocalService {
 public:
  // The store must outlive it.
  explicit LocalService(store::Store& behind);
  ~LocalService();

  store::Store& store() { return *remote_; }
  RemoteStore& remote() { return *remote_; }
  std::uint16_t port() const { return server_->port(); }

 private:
  base::SystemClock clock_;
  base::SeededRandom random_{3};
  wire::Endpoint endpoint_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<RemoteStore> remote_;
};

}  // namespace postino::remote
