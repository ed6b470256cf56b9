#include "http/server_testing.h"

#include "base/check.h"

namespace postino::http {

void echo(const Request& request, Responder respond) {
  Response response;
  response.content_type = "text/plain";
  response.body.append(request.method).append(" ").append(request.target).append(" ").append(request.body);
  response.close = request.path() == "/close";
  respond(std::move(response));
}

std::unique_ptr<Server> start_server(ServerOptions options, Handler handler) {
  if (options.threads == 0) options.threads = 2;
  auto server = Server::start(std::move(options), std::move(handler));
  CHECK(server.has_value());
  return *std::move(server);
}

std::string get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n"; }

std::string post(const std::string& target, const std::string& body) {
  return "POST " + target + " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

void WaitingRoom::Visitor::answer(std::string body) const {
  Response response;
  response.body = std::move(body);
  respond(std::move(response));
}

Handler WaitingRoom::handler() {
  return [this](const Request& request, Responder respond) {
    std::lock_guard lock(mutex_);
    visitors_.push_back({&request, std::move(respond)});
    arrived_.notify_all();
  };
}

WaitingRoom::Visitor WaitingRoom::take() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !visitors_.empty(); });
  Visitor visitor = std::move(visitors_.front());
  visitors_.pop_front();
  return visitor;
}

}  // namespace postino::http
