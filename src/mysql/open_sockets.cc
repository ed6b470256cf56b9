#include "mysql/open_sockets.h"

#include "net/borrowed_socket.h"

namespace postino::mysql {

bool OpenSockets::add(int socket) {
  const std::lock_guard lock(mutex_);
  if (is_broken_off_) return false;
  sockets_.insert(socket);
  return true;
}

void OpenSockets::remove(int socket) {
  const std::lock_guard lock(mutex_);
  sockets_.erase(socket);
}

void OpenSockets::break_off() {
  const std::lock_guard lock(mutex_);
  is_broken_off_ = true;
  for (const int socket : sockets_) net::BorrowedSocket(socket).shut_down();
}

bool SocketEntry::set(int socket) {
  if (!sockets_) return true;
  // Also when the number is the same: a host has several addresses, and the library may have closed one socket and
  // opened another.
  clear();
  own_ = net::BorrowedSocket(socket).duplicate();
  if (own_ && sockets_->add(own_.number())) return true;
  own_.reset();
  return false;
}

void SocketEntry::clear() {
  if (own_) sockets_->remove(own_.number());
  own_.reset();
}

}  // namespace postino::mysql
