// A service that treats requests as the test says, with a store behind it: it throttles, fails, cuts connections before
// and after what was asked for is done, and says what a proxy says.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>

#include "local_service.h"
#include "net/raw_server_testing.h"

namespace postino::remote {

enum class Treatment {
  usual,
  // Nothing is done.
  throttled,
  unavailable,
  failed,
  cut,
  page,  // of a proxy: 502 Bad Gateway
  expired_keys,
  error_as_success,  // status 200, and without a checksum
  // It is done.
  failed_afterwards,
  cut_afterwards,
  cut_in_the_answer,
  page_afterwards,  // with status 200
  wrong_checksum,
  no_checksum,
  silent,  // until the client gives up
};

// Serves one connection after the other, so it is for clients that make one call at a time.
class FalseService {
 public:
  explicit FalseService(store::Store& behind, wire::EndpointOptions options = strict_options());
  ~FalseService();

  std::uint16_t port() const { return server_.port(); }
  // How the next requests are treated, one each; those after them as usual.
  void treat_next(std::deque<Treatment> treatments);
  // All, until the next call.
  void treat_all(Treatment treatment) { usual_ = treatment; }
  int requests() const { return requests_; }

 private:
  void serve(net::RawPeer& peer);
  // False: the connection ends.
  bool treat(net::RawPeer& peer, Treatment treatment, const std::string& head, const std::string& body);
  std::string perform(const std::string& head, const std::string& body);
  Treatment next();

  wire::Endpoint endpoint_;
  std::atomic<int> requests_ = 0;
  std::atomic<Treatment> usual_ = Treatment::usual;
  std::mutex mutex_;
  std::deque<Treatment> treatments_;
  net::RawServer server_;  // the last member: its thread uses the others
};

}  // namespace postino::remote
