// Takes connections in and spreads them over the I/O threads.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "http/io_thread.h"

namespace postino::http {

// A socket that listens on this address, non-blocking. The address may be a name such as localhost.
base::Result<base::Descriptor> listen_on(const std::string& address, std::uint16_t port);

base::Result<std::uint16_t> port_of(const base::Descriptor& socket);

class Listener {
 public:
  // Runs on the first of the threads, which all outlive it.
  Listener(base::Descriptor socket, const std::vector<std::unique_ptr<IoThread>>& threads);

  // Once, before the thread runs.
  void start() { wait(); }
  // Safe to call from any thread.
  void close();

 private:
  void wait();
  void accept_all();
  bool accept_one();
  void pause();
  IoThread& least_busy() const;

  const std::vector<std::unique_ptr<IoThread>>& threads_;
  ServerState& state_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::steady_timer pause_;
};

}  // namespace postino::http
