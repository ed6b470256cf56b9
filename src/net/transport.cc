#include "net/transport.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

namespace postino::net {

namespace {

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int socket) : socket_(socket) {}

  bool secure() const override { return false; }
  TransferStatus handshake() override { return TransferStatus::done; }
  bool has_buffered() const override { return false; }

  Transfer read(char* buffer, std::size_t size) override {
    return outcome(::recv(socket_, buffer, size, 0), TransferStatus::want_read);
  }

  Transfer write(std::string_view first, std::string_view second) override {
    iovec parts[] = {{const_cast<char*>(first.data()), first.size()},
                     {const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = second.empty() ? 1 : 2;
    return outcome(::sendmsg(socket_, &message, MSG_NOSIGNAL), TransferStatus::want_write);
  }

  void finish() override { ::shutdown(socket_, SHUT_WR); }

 private:
  static Transfer outcome(ssize_t count, TransferStatus wanted) {
    if (count > 0) return {TransferStatus::done, static_cast<std::size_t>(count)};
    const bool later = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    return {later ? wanted : TransferStatus::closed};
  }

  const int socket_;
};

}  // namespace

std::unique_ptr<Transport> make_plain_transport(int socket) { return std::make_unique<PlainTransport>(socket); }

}  // namespace postino::net
