#include "net/tls_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "base/descriptor.h"

namespace postino::net {

namespace {

int socket_of(BIO* bio) { return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); }

int write_bytes(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto count = ::send(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (count < 0 && base::is_temporary(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

int read_bytes(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto count = ::recv(socket_of(bio), bytes, static_cast<std::size_t>(size), 0);
  if (count < 0 && base::is_temporary(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(count);
}

long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* socket_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (made == nullptr) return made;
    BIO_meth_set_write(made, write_bytes);
    BIO_meth_set_read(made, read_bytes);
    BIO_meth_set_ctrl(made, control);
    return made;
  }();
  return method;
}

}  // namespace

BIO* make_socket_bio(int socket) {
  const BIO_METHOD* const method = socket_method();
  BIO* const bio = method == nullptr ? nullptr : BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace postino::net
