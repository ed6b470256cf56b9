#include "lossy_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/check.h"

namespace postino::mysql {

namespace {

sockaddr_un address_of_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CHECK(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

int new_socket() {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(socket >= 0);
  return socket;
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Empty at the end of the connection.
std::string receive(int socket) {
  std::string bytes(65'536, '\0');
  const ssize_t length = ::recv(socket, bytes.data(), bytes.size(), 0);
  bytes.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return bytes;
}

}  // namespace

LossyProxy::LossyProxy(ServerOptions server) : server_(std::move(server)), listener_(new_socket()) {
  CHECK(!server_.socket.empty() && ::pipe(end_) == 0);
  const sockaddr_un address = address_of_socket(options().socket);
  CHECK(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(::listen(listener_, 64) == 0);
  acceptor_ = std::thread([this] { accept_all(); });
}

LossyProxy::~LossyProxy() {
  let_go();
  ::close(end_[1]);
  acceptor_.join();
  ::close(end_[0]);
  ::close(listener_);
}

ServerOptions LossyProxy::options() const {
  ServerOptions options = server_;
  options.socket = directory_.path() / "socket";
  return options;
}

void LossyProxy::lose_answer_to(const std::string& words) {
  const std::lock_guard lock(mutex_);
  lost_words_ = words;
}

void LossyProxy::hold_back(const std::string& words) {
  const std::lock_guard lock(mutex_);
  late_words_ = words;
  late_ones_may_go_ = false;
}

void LossyProxy::let_go() {
  {
    const std::lock_guard lock(mutex_);
    late_ones_may_go_ = true;
  }
  changed_.notify_all();
}

bool LossyProxy::takes(std::string& words, std::string_view request) {
  constexpr std::size_t head = 4;        // length and number of the packet
  constexpr char statement_as_text = 3;  // the command
  const std::lock_guard lock(mutex_);
  if (words.empty() || request.size() <= head || request[head] != statement_as_text ||
      !request.substr(head + 1).starts_with(words))
    return false;
  words.clear();
  return true;
}

void LossyProxy::accept_all() {
  for (;;) {
    pollfd events[] = {{listener_, POLLIN, 0}, {end_[0], POLLIN, 0}};
    ::poll(events, 2, -1);
    if (events[1].revents != 0) break;
    if (const int client = ::accept(listener_, nullptr, nullptr); client >= 0)
      conversations_.emplace_back([this, client] { serve(client); });
  }
  for (std::thread& conversation : conversations_) conversation.join();
}

void LossyProxy::serve(int client) {
  const int server = new_socket();
  const sockaddr_un address = address_of_socket(server_.socket);
  bool open = ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  for (bool cut = false; open;) {
    pollfd events[] = {{client, POLLIN, 0}, {server, POLLIN, 0}, {end_[0], POLLIN, 0}};
    ::poll(events, 3, -1);
    if (events[2].revents != 0) break;
    if (events[1].revents != 0) {
      const std::string answer = receive(server);
      if (cut) ++lost_;
      open = !cut && !answer.empty() && send_all(client, answer);
    } else if (events[0].revents != 0) {
      open = pass_request(client, server, cut);
    }
  }
  ::close(client);
  ::close(server);
}

bool LossyProxy::pass_request(int client, int server, bool& cut) {
  const std::string request = receive(client);
  if (takes(late_words_, request)) {
    finish_late(client, server, request);
    return false;
  }
  if (takes(lost_words_, request)) cut = true;
  return !request.empty() && send_all(server, request);
}

void LossyProxy::finish_late(int client, int server, const std::string& request) {
  ::shutdown(client, SHUT_RDWR);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return late_ones_may_go_; });
  lock.unlock();
  if (send_all(server, request)) receive(server);
}

}  // namespace postino::mysql
