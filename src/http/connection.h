// One client connection: reads a request, has it handled, writes the response, and goes on.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "base/memory_budget.h"
#include "http/message.h"
#include "http/request_reader.h"
#include "http/response_channel.h"
#include "net/transport.h"

namespace postino::http {

class IoThread;
struct Exchange;

// Who is at the other end.
struct Peer {
  std::string address;  // an IP address
  bool loopback = false;
};

// Counts the sweeps of an I/O thread: the unit of deadlines.
using Tick = std::uint64_t;

// Belongs to one I/O thread, and is only touched there.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(IoThread& thread, base::Descriptor socket, Peer peer);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // The response to a request; ignored unless this is the request in hand and has not been answered.
  void answer(RequestNumber number, Response response);
  // There may be a next piece of the response to a request.
  void wake(RequestNumber number);
  // Ends the connection if its time is up.
  void check_deadline(Tick now);
  // Ends it unless it is in the middle of a request or response; then after that.
  void drain();
  void close();

  std::size_t place = 0;  // in the list of the I/O thread, which keeps it

 private:
  enum class Stage {
    handshake,
    idle,        // waiting for the first byte of a request
    header,      // reading
    body,        // reading
    announcing,  // writing that the body may come
    handling,    // waiting for the handler
    writing,
    streaming,  // waiting for the next piece of a response
    lingering,  // waiting for the client to close
    closed,
  };

  // Does what can be done without waiting.
  void run();
  // One step of it; false when something has to be waited for.
  bool step();
  bool shake_hands();
  bool read();
  bool take(RequestReader::Progress progress);
  bool read_on();
  // Of a request whose body is to come.
  bool refuse_early();
  void watch_body();
  const Request& described_request();
  bool handle();
  bool refuse();
  Response refusal_of(int status);
  bool respond(Response response);
  bool write();
  bool begin_stream(const std::shared_ptr<BodyStream>& stream);
  bool stream_on();
  void send_piece(std::string bytes, bool is_last);
  void watch_client();
  void look_at_client();
  void drop_stream();
  bool finish_response();
  bool rest();
  bool linger();
  bool discard();
  bool wait_for(net::TransferStatus status);
  bool wait_to_write(net::TransferStatus status);
  // Does it hold memory that others need, and takes its answer too slowly?
  bool takes_too_slowly(Tick now) const;

  void enter(Stage stage, std::chrono::milliseconds timeout);
  void enter_untimed(Stage stage);
  void borrow_exchange();
  void return_exchange();
  // Drops what the kernel still holds for the client.
  void reset_on_close();

  IoThread& thread_;
  boost::asio::posix::stream_descriptor descriptor_;
  std::unique_ptr<net::Transport> transport_;
  std::shared_ptr<Exchange> exchange_;  // nullptr while idle or lingering
  std::shared_ptr<BodyStream> stream_;  // of the response, while it goes on
  base::MemoryBudget::Share unread_;    // an answer that the client has not taken yet
  Tick deadline_;
  Tick answered_ = 0;  // when the response began to be written
  RequestNumber request_number_ = 0;
  Stage stage_ = Stage::handshake;
  const Peer peer_;
  std::shared_ptr<AddressShare> share_;  // nullptr where the address does not matter
  Tick body_deadline_ = 0;
  std::size_t watched_bytes_ = 0;  // of the body, when its sender was last found to be at it
  bool keep_alive_ = true;
  bool is_chunked_ = false;  // the response that goes on
  bool is_watched_ = false;  // the client, while nothing is sent to it
};

}  // namespace postino::http
