#include "http/response_channel.h"

#include <atomic>
#include <boost/asio/post.hpp>

#include "http/connection.h"
#include "http/exchange.h"

namespace postino::http {

namespace {

// The channel whose thread this is, while it runs a handler.
thread_local const ResponseChannel* handling_channel = nullptr;

// The right to answer one request.
class Ticket {
 public:
  Ticket(std::shared_ptr<ResponseChannel> channel, std::weak_ptr<Connection> connection, RequestNumber number,
         std::shared_ptr<Exchange> exchange)
      : channel_(std::move(channel)),
        connection_(std::move(connection)),
        number_(number),
        exchange_(std::move(exchange)) {}
  ~Ticket() {
    Response failure;
    failure.status = 500;
    failure.close = true;
    answer(std::move(failure));
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  void answer(Response response) {
    if (answered_.exchange(true)) return;
    exchange_.reset();
    channel_->deliver(std::move(connection_), number_, std::move(response));
  }

 private:
  const std::shared_ptr<ResponseChannel> channel_;
  std::weak_ptr<Connection> connection_;
  const RequestNumber number_;
  std::shared_ptr<Exchange> exchange_;
  std::atomic<bool> answered_ = false;
};

}  // namespace

Responder make_responder(std::shared_ptr<ResponseChannel> channel, std::weak_ptr<Connection> connection,
                         RequestNumber number, std::shared_ptr<Exchange> exchange) {
  auto ticket = std::make_shared<Ticket>(std::move(channel), std::move(connection), number, std::move(exchange));
  return [ticket = std::move(ticket)](Response response) { ticket->answer(std::move(response)); };
}

std::optional<Response> ResponseChannel::handle(const Handler& handler, const Request& request, RequestNumber number,
                                                Responder responder) {
  handling_channel = this;
  handling_ = number;
  handler(request, std::move(responder));
  handling_channel = nullptr;
  return std::exchange(answered_, std::nullopt);
}

void ResponseChannel::deliver(std::weak_ptr<Connection> connection, RequestNumber number, Response response) {
  if (handling_channel == this && handling_ == number) {
    answered_ = std::move(response);
    return;
  }
  send({std::move(connection), number, std::move(response)});
}

void ResponseChannel::wake(std::weak_ptr<Connection> connection, RequestNumber number) {
  send({std::move(connection), number, std::nullopt});
}

void ResponseChannel::send(Letter letter) {
  std::lock_guard lock(mutex_);
  if (context_ == nullptr) return;
  letters_.push_back(std::move(letter));
  // Letters that arrive until the first is handed out share its delivery.
  if (letters_.size() == 1) boost::asio::post(*context_, [this] { hand_out(); });
}

void ResponseChannel::hand_out() {
  {
    std::lock_guard lock(mutex_);
    opened_.swap(letters_);
  }
  for (Letter& letter : opened_) {
    const auto connection = letter.connection.lock();
    if (connection && letter.response) connection->answer(letter.number, *std::move(letter.response));
    if (connection && !letter.response) connection->wake(letter.number);
  }
  opened_.clear();
}

void ResponseChannel::close() {
  std::vector<Letter> dropped;
  std::lock_guard lock(mutex_);
  context_ = nullptr;
  dropped.swap(letters_);
}

}  // namespace postino::http
