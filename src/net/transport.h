// How bytes get in and out of a connection: as they are, or through TLS. Nothing here waits.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace postino::net {

enum class TransferStatus {
  done,
  want_read,   // try again when the socket is readable
  want_write,  // try again when the socket is writable
  closed,      // by the peer, or broken
};

struct Transfer {
  TransferStatus status = TransferStatus::done;
  std::size_t bytes = 0;  // at least one when done
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual bool secure() const = 0;
  // To be called until done, before anything else.
  virtual TransferStatus handshake() = 0;
  virtual Transfer read(char* buffer, std::size_t size) = 0;
  // Are there bytes to read that have left the socket already?
  virtual bool has_buffered() const = 0;
  // Writes as much as possible of `first` and then `second`, together not empty. After want_read or want_write the same
  // bytes have to be offered again.
  virtual Transfer write(std::string_view first, std::string_view second) = 0;
  // Tells the peer that nothing more will come. Best effort.
  virtual void finish() = 0;
};

// The socket is non-blocking and stays the caller's.
std::unique_ptr<Transport> make_plain_transport(int socket);

}  // namespace postino::net
