// A socket that a library has opened and keeps: for waiting on the library's behalf, and for a look at what the peer
// says before the library answers.
#pragma once

#include <cstddef>
#include <string>

#include "base/descriptor.h"
#include "net/client_stream.h"

namespace postino::net {

class BorrowedSocket {
 public:
  explicit BorrowedSocket(int descriptor) : descriptor_(descriptor) {}

  struct Events {
    bool readable = false;
    bool writable = false;
  };
  // Which of the wanted events there are; none when the deadline has passed. An error of the socket counts as all.
  Events wait_for(Events wanted, Deadline deadline) const;

  // At least so many of the bytes that have come, which stay there for the library. Fewer when the connection is broken
  // or the deadline has passed.
  std::string peek(std::size_t least, Deadline deadline) const;

  // From here on nothing leaves it. The library will find a broken connection.
  void shut_down() const;

  // The same connection with an owner of its own, who may shut it down whatever the library has done with its socket.
  // None when there is no socket, or no descriptor left.
  base::Descriptor duplicate() const;

 private:
  int descriptor_;
};

}  // namespace postino::net
