#include "http/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>

#include "http/exchange.h"
#include "http/io_thread.h"
#include "http/response_head.h"

namespace postino::http {

namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

constexpr Tick never = std::numeric_limits<Tick>::max();

// Outside of a body no more is read at a time: what is sent ahead has to be kept.
constexpr std::size_t header_read_size = 16 << 10;

// A client that takes an answer at this rate is not slow. What the kernel holds for a client counts as taken: a few
// megabytes.
constexpr std::size_t steady_bytes_per_millisecond = (1 << 20) / 1000;

}  // namespace

Connection::Connection(IoThread& thread, base::Descriptor socket, Peer peer)
    : thread_(thread), descriptor_(thread.context()), deadline_(never), peer_(std::move(peer)) {
  error_code error;
  descriptor_.assign(socket.number(), error);
  if (error) return;
  const int number = socket.release();
  ServerState& state = thread.state();
  if (!peer_.loopback &&
      std::ranges::find(state.options.shared_addresses, peer_.address) == state.options.shared_addresses.end())
    share_ = state.shares.of(peer_.address);
  const auto tls = state.options.tls ? state.tls.get() : nullptr;
  transport_ = tls ? tls->make_transport(number) : net::make_plain_transport(number);
}

Connection::~Connection() { --thread_.state().connections; }

void Connection::start() {
  if (!transport_) return close();  // the kernel or OpenSSL had no memory for it
  enter(Stage::handshake, thread_.state().options.header_timeout);
  run();
}

void Connection::run() {
  while (step()) {
  }
}

bool Connection::step() {
  switch (stage_) {
    case Stage::handshake:
      return shake_hands();
    case Stage::idle:
    case Stage::header:
    case Stage::body:
      return read();
    case Stage::announcing:
    case Stage::writing:
      return write();
    case Stage::lingering:
      return discard();
    case Stage::handling:
    case Stage::streaming:
    case Stage::closed:
      return false;
  }
  return false;
}

bool Connection::shake_hands() {
  const net::TransferStatus status = transport_->handshake();
  return status == net::TransferStatus::done ? rest() : wait_for(status);
}

bool Connection::read() {
  const auto buffer = thread_.read_buffer();
  const std::size_t size = stage_ == Stage::body ? buffer.size() : header_read_size;
  const net::Transfer transfer = transport_->read(buffer.data(), size);
  if (transfer.status != net::TransferStatus::done) return wait_for(transfer.status);
  if (stage_ == Stage::idle) {
    borrow_exchange();
    enter(Stage::header, thread_.state().options.header_timeout);
  }
  return take(exchange_->reader.feed({buffer.data(), transfer.bytes}));
}

bool Connection::take(RequestReader::Progress progress) {
  switch (progress) {
    case RequestReader::Progress::need_more:
      return read_on();
    case RequestReader::Progress::complete:
      return handle();
    case RequestReader::Progress::refused:
      return refuse();
  }
  return false;
}

bool Connection::read_on() {
  RequestReader& reader = exchange_->reader;
  if (stage_ == Stage::header && reader.header_done()) {
    enter(Stage::body, thread_.state().options.body_timeout);
    body_deadline_ = deadline_;
    watched_bytes_ = 0;
    if (refuse_early()) return true;
  }
  if (stage_ == Stage::body) watch_body();
  if (reader.take_expectation()) {
    stage_ = Stage::announcing;
    exchange_->head = "HTTP/1.1 100 Continue\r\n\r\n";
    return true;
  }
  return transport_->has_buffered() || wait_for(net::TransferStatus::want_read);
}

bool Connection::refuse_early() {
  const auto& decide = thread_.state().options.refuse_early;
  if (!decide) return false;
  auto refusal = decide(described_request());
  if (!refusal) return false;
  refusal->close = true;  // the rest of the body is not read
  return respond(*std::move(refusal));
}

// A client that has sent much and then sends nothing holds memory that others could use.
void Connection::watch_body() {
  constexpr std::size_t least_progress = 16 << 10;
  const std::size_t bytes = exchange_->reader.body_bytes();
  if (bytes <= BodyBudget::small_body_bytes || bytes - watched_bytes_ < least_progress) return;
  watched_bytes_ = bytes;
  deadline_ = std::min(body_deadline_, thread_.deadline_after(thread_.state().options.stall_timeout));
}

const Request& Connection::described_request() {
  Request& request = exchange_->reader.request();
  request.secure = transport_->secure();
  request.from_loopback = peer_.loopback;
  request.peer = exchange_->peer = peer_.address;
  return request;
}

bool Connection::handle() {
  enter_untimed(Stage::handling);  // how long an answer takes is the handler's affair
  const Request& request = described_request();
  request_number_ = thread_.next_request_number();
  auto response =
      thread_.channel()->handle(thread_.state().handler, request, request_number_,
                                make_responder(thread_.channel(), weak_from_this(), request_number_, exchange_));
  return response && respond(*std::move(response));
}

void Connection::answer(RequestNumber number, Response response) {
  if (stage_ != Stage::handling || number != request_number_) return;
  respond(std::move(response));
  run();
}

bool Connection::refuse() {
  ServerState& state = thread_.state();
  Response response = refusal_of(exchange_->reader.refusal());
  ++(response.status == 503 ? state.overloaded : state.malformed);
  response.close = true;
  return respond(std::move(response));
}

Response Connection::refusal_of(int status) {
  const ServerOptions& options = thread_.state().options;
  Response response = options.refusal ? options.refusal(status) : Response();
  response.status = status;
  return response;
}

bool Connection::respond(Response response) {
  RequestReader& reader = exchange_->reader;
  if (response.stream && !begin_stream(response.stream)) response = refusal_of(503);
  keep_alive_ = !response.close && !thread_.state().draining && reader.keep_alive() && (!stream_ || is_chunked_);
  exchange_->head.clear();
  append_response_head(exchange_->head, response, {thread_.date(), keep_alive_, reader.is_http_1_0()});
  if (!reader.is_head() && has_body(response.status)) exchange_->body = std::move(response.body);
  if (response.memory) unread_ = std::move(*response.memory);
  reader.drop_body();
  answered_ = thread_.tick();
  enter(Stage::writing, thread_.state().options.write_timeout);
  return true;
}

bool Connection::write() {
  const std::string_view head = exchange_->head;
  const std::string_view body = exchange_->body;
  std::size_t& written = exchange_->written;
  while (written < head.size() + body.size()) {
    const std::string_view head_left = head.substr(std::min(written, head.size()));
    const std::string_view body_left = body.substr(written - std::min(written, head.size()));
    const net::Transfer transfer =
        head_left.empty() ? transport_->write(body_left, {}) : transport_->write(head_left, body_left);
    if (transfer.status != net::TransferStatus::done) return wait_to_write(transfer.status);
    written += transfer.bytes;
  }
  exchange_->drop_response();
  unread_ = {};
  if (stage_ == Stage::writing) return stream_ ? stream_on() : finish_response();
  stage_ = Stage::body;
  return read_on();
}

// False: too many answers go on already.
bool Connection::begin_stream(const std::shared_ptr<BodyStream>& stream) {
  ServerState& state = thread_.state();
  if (exchange_->reader.is_head()) return true;
  if (state.streams.fetch_add(1) >= state.options.max_streams) {
    --state.streams;
    return false;
  }
  stream_ = stream;
  is_chunked_ = !exchange_->reader.is_http_1_0();
  stream_->begin([channel = thread_.channel(), self = weak_from_this(), number = request_number_] {
    channel->wake(self, number);
  });
  return true;
}

// The client has what came before.
bool Connection::stream_on() {
  if (thread_.state().draining) {
    close();
    return false;
  }
  BodyStream::Piece piece = stream_->next();
  if (!piece.bytes.empty() || piece.is_last) {
    send_piece(std::move(piece.bytes), piece.is_last);
    return true;
  }
  enter(Stage::streaming, thread_.state().options.stream_pulse);
  watch_client();
  return false;
}

void Connection::send_piece(std::string bytes, bool is_last) {
  if (!is_chunked_) {
    exchange_->body = std::move(bytes);
  } else {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bytes.size(), 16).ptr;
    std::string& body = exchange_->body;
    body.clear();
    if (!bytes.empty()) body.append(digits.data(), end).append("\r\n").append(bytes).append("\r\n");
    if (is_last) body += "0\r\n\r\n";
  }
  if (is_last) drop_stream();
  answered_ = thread_.tick();
  enter(Stage::writing, thread_.state().options.write_timeout);
}

void Connection::wake(RequestNumber number) {
  if (stage_ != Stage::streaming || number != request_number_) return;
  if (stream_on()) run();
}

// Nothing is read from a client whose answer goes on; but if it goes, so does the answer.
void Connection::watch_client() {
  if (std::exchange(is_watched_, true)) return;
  descriptor_.async_wait(stream_descriptor::wait_read, [self = shared_from_this()](error_code error) {
    if (!error) self->look_at_client();
  });
}

void Connection::look_at_client() {
  if (!stream_) return;  // the connection may serve another request by now
  char byte = 0;
  const ssize_t count = ::recv(descriptor_.native_handle(), &byte, 1, MSG_PEEK);
  // Bytes are the next request, or the end of TLS: if the client is gone, a pulse will tell. It is not watched any
  // more.
  if (count == 0 || (count < 0 && !base::is_temporary(errno))) return close();
  if (count > 0) return;
  is_watched_ = false;
  watch_client();
}

void Connection::drop_stream() {
  if (!stream_) return;
  stream_.reset();
  is_watched_ = false;
  --thread_.state().streams;
}

bool Connection::finish_response() {
  if (!keep_alive_) return linger();
  const RequestReader::Progress progress = exchange_->reader.next();
  if (!exchange_->reader.started()) return rest();
  enter(Stage::header, thread_.state().options.header_timeout);
  return take(progress);
}

bool Connection::rest() {
  return_exchange();
  enter(Stage::idle, thread_.state().options.idle_timeout);
  if (thread_.state().draining) {
    close();
    return false;
  }
  return transport_->has_buffered() || wait_for(net::TransferStatus::want_read);
}

// To close with bytes of the client unread would reset the connection, and the response might be lost on its way.
bool Connection::linger() {
  return_exchange();
  enter(Stage::lingering, thread_.state().options.linger_timeout);
  transport_->finish();
  return true;
}

bool Connection::discard() {
  const auto buffer = thread_.read_buffer();
  const ssize_t count = ::recv(descriptor_.native_handle(), buffer.data(), buffer.size(), 0);
  const bool ended = count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  return wait_for(ended ? net::TransferStatus::closed : net::TransferStatus::want_read);
}

bool Connection::wait_for(net::TransferStatus status) {
  if (status == net::TransferStatus::closed) {
    close();
    return false;
  }
  const auto event =
      status == net::TransferStatus::want_read ? stream_descriptor::wait_read : stream_descriptor::wait_write;
  descriptor_.async_wait(event, [self = shared_from_this()](error_code error) {
    if (!error) self->run();
  });
  return false;
}

// Most answers go out at once, and are not worth counting before.
bool Connection::wait_to_write(net::TransferStatus status) {
  if (!unread_) unread_ = thread_.state().options.answers->take_anyway(exchange_->head.size() + exchange_->body.size());
  return wait_for(status);
}

bool Connection::takes_too_slowly(Tick now) const {
  if (!unread_ || stage_ != Stage::writing) return false;
  const ServerOptions& options = thread_.state().options;
  if (!options.answers->scarce()) return false;
  const auto grace = options.answers->exhausted() ? options.scarce_write_timeout / 4 : options.scarce_write_timeout;
  const std::chrono::milliseconds earned(exchange_->written / steady_bytes_per_millisecond);
  return now >= answered_ + thread_.ticks_in(grace + earned);
}

void Connection::check_deadline(Tick now) {
  const bool too_slow = takes_too_slowly(now);
  if (now < deadline_ && !too_slow) return;
  if (stage_ == Stage::streaming) {
    std::string pulse = stream_->pulse();
    if (pulse.empty()) return enter(Stage::streaming, thread_.state().options.stream_pulse);
    send_piece(std::move(pulse), false);
    return run();
  }
  if (too_slow) ++thread_.state().too_slow;
  if (stage_ != Stage::lingering) ++thread_.state().timed_out;
  if (stage_ == Stage::writing || stage_ == Stage::announcing) reset_on_close();
  close();
}

void Connection::drain() {
  if (stage_ == Stage::handshake || stage_ == Stage::idle || stage_ == Stage::streaming) close();
}

void Connection::close() {
  if (stage_ == Stage::closed) return;
  if (stage_ == Stage::handling) thread_.abandon_exchange(std::move(exchange_));
  stage_ = Stage::closed;
  deadline_ = never;
  unread_ = {};
  drop_stream();
  transport_.reset();
  error_code ignored;
  descriptor_.close(ignored);
  return_exchange();
  thread_.forget(*this);  // the last thing: it may be the end of this object
}

void Connection::reset_on_close() {
  const ::linger option{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_.native_handle(), SOL_SOCKET, SO_LINGER, &option, sizeof option);
}

void Connection::enter(Stage stage, std::chrono::milliseconds timeout) {
  stage_ = stage;
  deadline_ = thread_.deadline_after(timeout);
}

void Connection::enter_untimed(Stage stage) {
  stage_ = stage;
  deadline_ = never;
}

void Connection::borrow_exchange() {
  exchange_ = thread_.borrow_exchange();
  exchange_->reader.charge_to(share_);
}

void Connection::return_exchange() {
  if (exchange_) thread_.return_exchange(std::move(exchange_));
}

}  // namespace postino::http
