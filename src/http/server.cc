#include "http/server.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.h"
#include "http/io_thread.h"
#include "http/listener.h"
#include "http/server_state.h"

namespace postino::http {

namespace {

// Lets one thread wait until others have done their part.
class Countdown {
 public:
  explicit Countdown(std::size_t count) : count_(count) {}

  void done() {
    std::lock_guard lock(mutex_);
    if (--count_ == 0) reached_.notify_all();
  }
  void wait_for(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    reached_.wait_for(lock, timeout, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable reached_;
  std::size_t count_;
};

std::size_t thread_count(const ServerOptions& options) {
  if (options.threads > 0) return static_cast<std::size_t>(options.threads);
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

struct Server::Impl {
  Impl(ServerOptions options, Handler handler) : state(std::move(options), std::move(handler)) {}

  base::Result<void> start();
  void stop(std::chrono::milliseconds grace);

  ServerState state;
  std::vector<std::unique_ptr<IoThread>> threads;
  std::unique_ptr<Listener> listener;
  std::uint16_t port = 0;
  std::mutex stop_mutex;
  bool stopped = false;
};

base::Result<void> Server::Impl::start() {
  if (state.options.tls) {
    TRY(std::shared_ptr<const net::TlsContext> loaded, net::TlsContext::load(*state.options.tls));
    state.tls.set(std::move(loaded));
  }
  TRY(base::Descriptor socket, listen_on(state.options.address, state.options.port));
  TRY(port, port_of(socket));
  try {
    for (std::size_t i = 0; i < thread_count(state.options); ++i) threads.push_back(std::make_unique<IoThread>(state));
    listener = std::make_unique<Listener>(std::move(socket), threads);
  } catch (const std::exception& problem) {
    return base::fail(base::ErrorCode::exhausted, std::string("cannot start to serve: ") + problem.what());
  }
  listener->start();
  for (const auto& thread : threads) thread->run();
  return {};
}

void Server::Impl::stop(std::chrono::milliseconds grace) {
  std::lock_guard lock(stop_mutex);
  if (std::exchange(stopped, true)) return;
  state.draining = true;
  listener->close();
  Countdown drained(threads.size());
  for (const auto& thread : threads) thread->drain([&drained] { drained.done(); });
  drained.wait_for(grace);
  for (const auto& thread : threads) thread->shut_down();
  for (const auto& thread : threads) thread->join();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { stop(std::chrono::milliseconds(0)); }

base::Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler));
  TRY_VOID(impl->start());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }

void Server::set_tls(std::shared_ptr<const net::TlsContext> tls) {
  CHECK(tls && impl_->state.options.tls);
  impl_->state.tls.set(std::move(tls));
}

std::uint16_t Server::port() const { return impl_->port; }

ServerCounts Server::counts() const {
  const ServerState& state = impl_->state;
  return {state.connections, state.streams,   state.accepted,   state.refused,        state.timed_out,
          state.too_slow,    state.malformed, state.overloaded, state.accept_failures};
}

}  // namespace postino::http
