#include "false_service.h"

#include <ctime>
#include <future>

#include "base/text.h"
#include "http/date.h"

namespace postino::remote {

namespace {

// The request as the endpoint wants it: views into the head.
http::Request request_of(std::string_view head, std::string_view body) {
  http::Request request;
  request.method = head.substr(0, head.find(' '));
  request.target = "/";
  request.body = body;
  for (std::size_t begin = head.find("\r\n") + 2; begin < head.size();) {
    const std::size_t end = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, end - begin);
    begin = end + 2;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) break;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    request.headers.emplace_back(line.substr(0, colon), value);
  }
  return request;
}

std::string response_text(int status, const std::string& type, const std::string& body,
                          const std::string& more_headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " Status\r\nContent-Type: " + type +
         "\r\nDate: " + http::format_date(std::time(nullptr)) + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + more_headers + "\r\n" + body;
}

std::string exception_text(int status, const std::string& type) {
  return response_text(status, "application/x-amz-json-1.0", R"({"__type":"x#)" + type + R"(","message":"by order"})");
}

std::string page_text(int status) {
  return response_text(status, "text/html; charset=utf-8", "<html><body><h1>Gateway</h1></body></html>");
}

}  // namespace

FalseService::FalseService(store::Store& behind, wire::EndpointOptions options)
    : endpoint_(behind, std::move(options)), server_([this](net::RawPeer& peer) { serve(peer); }) {}

FalseService::~FalseService() { endpoint_.stop(); }

void FalseService::treat_next(std::deque<Treatment> treatments) {
  const std::lock_guard lock(mutex_);
  treatments_ = std::move(treatments);
}

Treatment FalseService::next() {
  const std::lock_guard lock(mutex_);
  if (treatments_.empty()) return usual_;
  const Treatment treatment = treatments_.front();
  treatments_.pop_front();
  return treatment;
}

std::string FalseService::perform(const std::string& head, const std::string& body) {
  const http::Request request = request_of(head, body);
  std::promise<http::Response> promise;
  endpoint_.handle(request, [&](http::Response response) { promise.set_value(std::move(response)); });
  const http::Response response = promise.get_future().get();
  std::string headers;
  for (const auto& [name, value] : response.headers) headers.append(name).append(": ").append(value).append("\r\n");
  return response_text(response.status, response.content_type, response.body, headers);
}

bool FalseService::treat(net::RawPeer& peer, Treatment treatment, const std::string& head, const std::string& body) {
  switch (treatment) {
    case Treatment::usual:
      return peer.send(perform(head, body));
    case Treatment::throttled:
      return peer.send(exception_text(400, "ProvisionedThroughputExceededException"));
    case Treatment::unavailable:
      return peer.send(exception_text(503, "ServiceUnavailable"));
    case Treatment::failed:
      return peer.send(exception_text(500, "InternalServerError"));
    case Treatment::cut:
      return false;
    case Treatment::page:
      return peer.send(page_text(502));
    case Treatment::expired_keys:
      return peer.send(exception_text(400, "ExpiredTokenException"));
    case Treatment::error_as_success:
      return peer.send(exception_text(200, "ThrottlingException"));
    case Treatment::failed_afterwards:
      perform(head, body);
      return peer.send(exception_text(500, "InternalServerError"));
    case Treatment::cut_afterwards:
      perform(head, body);
      return false;
    case Treatment::cut_in_the_answer: {
      const std::string answer = perform(head, body);
      peer.send(answer.substr(0, answer.size() - 1));
      return false;
    }
    case Treatment::page_afterwards:
      perform(head, body);
      return peer.send(page_text(200));
    case Treatment::wrong_checksum: {
      std::string answer = perform(head, body);
      const std::size_t checksum = answer.find("x-amz-crc32: ");
      answer.replace(checksum, answer.find("\r\n", checksum) - checksum, "x-amz-crc32: 7");
      return peer.send(answer);
    }
    case Treatment::no_checksum: {
      std::string answer = perform(head, body);
      const std::size_t checksum = answer.find("x-amz-crc32: ");
      answer.erase(checksum, answer.find("\r\n", checksum) + 2 - checksum);
      return peer.send(answer);
    }
    case Treatment::silent:
      perform(head, body);
      peer.wait_for_end();
      return false;
  }
  return false;
}

void FalseService::serve(net::RawPeer& peer) {
  while (true) {
    const std::string head = peer.receive_head();
    if (!head.ends_with("\r\n\r\n")) return;
    const std::string length(request_of(head, "").header("content-length"));
    const std::string body = peer.receive(std::stoul(length));
    ++requests_;
    if (!treat(peer, next(), head, body)) return;
  }
}

}  // namespace postino::remote
