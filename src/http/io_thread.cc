#include "http/io_thread.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "http/exchange.h"

namespace postino::http {

namespace {

namespace asio = boost::asio;

constexpr std::size_t read_buffer_size = 64 << 10;
constexpr std::size_t max_spare_exchanges = 64;

}  // namespace

IoThread::IoThread(ServerState& state)
    : state_(state),
      sweep_interval_(state.sweep_interval()),
      channel_(std::make_shared<ResponseChannel>(context_)),
      read_buffer_(read_buffer_size) {}

IoThread::~IoThread() { channel_->close(); }

void IoThread::run() {
  sweep_later();
  thread_ = std::thread([this] { context_.run(); });
}

void IoThread::adopt(base::Descriptor socket, Peer peer) {
  ++state_.connections;
  ++connection_count_;
  asio::dispatch(context_, [this, peer = std::move(peer), socket = std::move(socket)]() mutable {
    welcome(std::move(socket), std::move(peer));
  });
}

void IoThread::welcome(base::Descriptor socket, Peer peer) {
  if (ended_ || state_.draining) {
    --state_.connections;
    --connection_count_;
    return;
  }
  const auto connection = std::make_shared<Connection>(*this, std::move(socket), std::move(peer));
  connection->place = connections_.size();
  connections_.push_back(connection);
  connection->start();
}

void IoThread::forget(const Connection& connection) {
  const std::size_t place = connection.place;
  connections_.back()->place = place;
  connections_[place].swap(connections_.back());
  connections_.pop_back();
  --connection_count_;
}

Tick IoThread::ticks_in(std::chrono::milliseconds time) const {
  return static_cast<Tick>((time + sweep_interval_ - std::chrono::milliseconds(1)) / sweep_interval_) + 1;
}

void IoThread::sweep_later() {
  timer_.expires_after(sweep_interval_);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) sweep();
  });
}

void IoThread::sweep() {
  ++tick_;
  // From the end: what is forgotten is replaced by one that has been looked at.
  for (std::size_t i = connections_.size(); i > 0; --i) {
    const std::shared_ptr<Connection> connection = connections_[i - 1];
    connection->check_deadline(tick_);
  }
  if (!ended_) sweep_later();
}

std::shared_ptr<Exchange> IoThread::borrow_exchange() {
  ++lent_exchanges_;
  if (spare_exchanges_.empty())
    return std::make_shared<Exchange>(RequestLimits{state_.options.max_header_bytes, state_.options.max_body_bytes},
                                      state_.budget);
  std::shared_ptr<Exchange> exchange = std::move(spare_exchanges_.back());
  spare_exchanges_.pop_back();
  return exchange;
}

void IoThread::return_exchange(std::shared_ptr<Exchange> exchange) {
  if (spare_exchanges_.size() < max_spare_exchanges) {
    exchange->reset();
    spare_exchanges_.push_back(exchange);
  }
  abandon_exchange(std::move(exchange));
}

void IoThread::abandon_exchange(std::shared_ptr<Exchange> exchange) {
  exchange.reset();
  --lent_exchanges_;
  report_if_drained();
}

void IoThread::drain(std::function<void()> drained) {
  asio::post(context_, [this, drained = std::move(drained)]() mutable {
    drained_ = std::move(drained);
    for (std::size_t i = connections_.size(); i > 0; --i) {
      const std::shared_ptr<Connection> connection = connections_[i - 1];
      connection->drain();
    }
    report_if_drained();
  });
}

void IoThread::report_if_drained() {
  if (drained_ && lent_exchanges_ == 0) std::exchange(drained_, nullptr)();
}

void IoThread::shut_down() {
  asio::post(context_, [this] { end(); });
}

void IoThread::end() {
  ended_ = true;
  channel_->close();
  while (!connections_.empty()) {
    const std::shared_ptr<Connection> connection = connections_.back();
    connection->close();
  }
  timer_.cancel();
  work_.reset();
}

void IoThread::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace postino::http
