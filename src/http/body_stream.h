// A body that comes piece by piece for as long as it lasts: for answers that tell of what happens.
//
// The connection asks for a piece when the client has taken the one before. So nothing is gathered for a client that
// reads slowly: the source of the pieces says what is true when it is asked, not everything that was true meanwhile.
#pragma once

#include <functional>
#include <string>

namespace postino::http {

class BodyStream {
 public:
  struct Piece {
    std::string bytes;     // empty: there is nothing now
    bool is_last = false;  // the answer ends with it
  };

  // When the client has gone, or the server ends.
  virtual ~BodyStream() = default;

  // Called once, before the first piece is asked for. `wake` has the connection ask again; it may be called from any
  // thread and at any time, also when the connection is gone.
  virtual void begin(std::function<void()> wake) = 0;

  // Called on the connection's I/O thread; must not block for long.
  virtual Piece next() = 0;

  // What is sent when nothing came for ServerOptions::stream_pulse, so that each side learns when the other has gone.
  virtual std::string pulse() { return {}; }
};

}  // namespace postino::http
