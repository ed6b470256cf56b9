#include "http/request_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "http/chunk_reader.h"
#include "http/header_parser.h"

namespace postino::http {

namespace {

namespace beast = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

constexpr std::size_t max_headers = 128;
constexpr std::size_t max_reserved_request_body = 1 << 20;  // before anything of it has arrived
constexpr std::size_t kept_bytes = 64 << 10;                // larger buffers are not kept for the next request

void clear(std::string& text) {
  text.clear();
  if (text.capacity() > kept_bytes) std::string().swap(text);
}

}  // namespace

// What is known of the request so far.
struct RequestReader::Message {
  explicit Message(std::shared_ptr<BodyBudget> body_budget) : budget(std::move(body_budget)) {}

  void clear() {
    http::clear(text);
    clear_body();
    request.headers.clear();
    started = header_done = http_1_0 = expects_continue = transfer_encoding = false;
    hosts = 0;
    header_bytes = 0;
    refusal = 0;
  }
  void clear_body() {
    budget->give_back(body.size(), address.get());
    http::clear(body);
    request.body = {};
  }
  Progress refuse(int status) {
    refusal = status;
    expects_continue = false;
    return Progress::refused;
  }

  std::shared_ptr<BodyBudget> budget;
  std::shared_ptr<AddressShare> address;
  std::string text;  // method, target, then names and values of headers: what the views of the request look at
  std::string body;
  Request request;
  bool started = false;
  bool header_done = false;
  bool http_1_0 = false;
  bool expects_continue = false;
  bool transfer_encoding = false;
  int hosts = 0;
  std::size_t header_bytes = 0;  // parsed so far
  int refusal = 0;
};

class RequestReader::Parser final : public HeaderParser<true> {
 public:
  explicit Parser(Message& message) : message_(message) {}

 private:
  void refuse(int status, error_code& error) {
    message_.refusal = status;
    error = beast::error::bad_value;
  }

  // Until the header is complete, views have their sizes but not yet their places: the text may still move.
  std::string_view keep(string_view part) {
    message_.text.append(part.data(), part.size());
    return part;
  }

  void place_views() {
    const char* place = message_.text.data();
    const auto put = [&place](std::string_view& view) {
      view = {place, view.size()};
      place += view.size();
    };
    put(message_.request.method);
    put(message_.request.target);
    for (auto& [name, value] : message_.request.headers) {
      put(name);
      put(value);
    }
  }

  void on_request_impl(beast::verb /*method*/, string_view method, string_view target, int version,
                       error_code& /*error*/) override {
    message_.http_1_0 = version == 10;
    message_.request.method = keep(method);
    message_.request.target = keep(target);
  }

  void on_field_impl(beast::field field, string_view name, string_view value, error_code& error) override {
    if (message_.request.headers.size() == max_headers) return refuse(431, error);
    const std::string_view kept_name = keep(name);
    const std::string_view kept_value = keep(value);
    message_.request.headers.emplace_back(kept_name, kept_value);
    if (field == beast::field::host) ++message_.hosts;
    if (field == beast::field::expect) {
      if (!base::equal_ignoring_case(value, "100-continue")) return refuse(417, error);
      message_.expects_continue = true;
    }
    if (field == beast::field::transfer_encoding) {
      if (!base::equal_ignoring_case(value, "chunked")) return refuse(501, error);
      message_.transfer_encoding = true;
    }
  }

  void on_header_impl(error_code& error) override {
    message_.header_done = true;
    place_views();
    if (message_.hosts != 1 && !(message_.http_1_0 && message_.hosts == 0)) return refuse(400, error);
    // HTTP/1.0 knows no chunks: a proxy before the server may see the end of the request elsewhere.
    if (message_.http_1_0 && message_.transfer_encoding) return refuse(400, error);
    if (message_.http_1_0) message_.expects_continue = false;
  }

  // Not called for requests.
  void on_response_impl(int /*code*/, string_view /*reason*/, int /*version*/, error_code& /*error*/) override {}

  Message& message_;
};

struct RequestReader::Impl {
  Impl(RequestLimits request_limits, std::shared_ptr<BodyBudget> budget)
      : limits(request_limits),
        message(std::move(budget)),
        chunks(request_limits.header_bytes, request_limits.body_bytes) {
    begin();
  }

  void begin() {
    message.clear();
    parser.emplace(message);
    // Our own count of header bytes is the exact one; the parser's starts over with every line.
    parser->header_limit(static_cast<std::uint32_t>(limits.header_bytes + 1));
    parser->skip(true);
    chunks.reset();
  }

  // These take from the front of the bytes what belongs to the request.

  Progress parse(std::string_view& bytes) {
    if (!message.started) {
      // A few clients send a line end after a body.
      bytes.remove_prefix(std::min(bytes.find_first_not_of("\r\n"), bytes.size()));
      message.started = !bytes.empty();
    }
    if (!message.header_done) {
      const Progress progress = parse_header(bytes);
      if (progress != Progress::complete) return progress;
      if (const auto length = parser->content_length()) {
        if (*length > limits.body_bytes) return message.refuse(413);
        message.body.reserve(std::min<std::uint64_t>(*length, max_reserved_request_body));
      }
    }
    const Progress progress = parser->chunked() ? parse_chunks(bytes) : parse_body(bytes);
    if (progress == Progress::complete) message.request.body = message.body;
    return progress;
  }

  Progress parse_header(std::string_view& bytes) {
    if (bytes.empty()) return Progress::need_more;
    const std::size_t window = limits.header_bytes - message.header_bytes;
    const std::string_view part = bytes.substr(0, window);
    error_code error;
    const std::size_t used = parser->put({part.data(), part.size()}, error);
    bytes.remove_prefix(used);
    message.header_bytes += used;
    if (!error) return Progress::complete;
    if (message.refusal != 0) return Progress::refused;
    if (error != beast::error::need_more) return message.refuse(400);
    return part.size() == window ? message.refuse(431) : Progress::need_more;
  }

  Progress parse_body(std::string_view& bytes) {
    const std::size_t length = parser->content_length().value_or(0);
    const std::string_view part = bytes.substr(0, length - message.body.size());
    bytes.remove_prefix(part.size());
    if (!keep_body(part)) return message.refuse(503);
    return message.body.size() == length ? Progress::complete : Progress::need_more;
  }

  Progress parse_chunks(std::string_view& bytes) {
    while (!bytes.empty()) {
      message.expects_continue = false;
      const ChunkReader::Part part = chunks.next(bytes);
      switch (part.kind) {
        case ChunkReader::Kind::data:
          if (!keep_body(part.data)) return message.refuse(503);
          break;
        case ChunkReader::Kind::need_more:
          return Progress::need_more;
        case ChunkReader::Kind::complete:
          return Progress::complete;
        case ChunkReader::Kind::malformed:
          return message.refuse(400);
        case ChunkReader::Kind::too_large:
          return message.refuse(413);
      }
    }
    return Progress::need_more;
  }

  bool keep_body(std::string_view part) {
    if (part.empty()) return true;
    message.expects_continue = false;
    if (!message.budget->take(part.size(), message.body.size(), message.address.get())) return false;
    message.body.append(part);
    return true;
  }

  const RequestLimits limits;
  Message message;
  std::optional<Parser> parser;
  ChunkReader chunks;
  std::string rest;             // bytes that have not been parsed yet
  std::size_t rest_offset = 0;  // where they begin
};

RequestReader::RequestReader(RequestLimits limits, std::shared_ptr<BodyBudget> budget)
    : impl_(std::make_unique<Impl>(limits, std::move(budget))) {}

RequestReader::~RequestReader() { drop_body(); }

RequestReader::Progress RequestReader::feed(std::string_view bytes) {
  std::string& rest = impl_->rest;
  if (impl_->rest_offset == rest.size()) {
    const Progress progress = impl_->parse(bytes);
    rest.assign(bytes);
    impl_->rest_offset = 0;
    return progress;
  }
  rest.erase(0, impl_->rest_offset);
  rest.append(bytes);
  std::string_view left = rest;
  const Progress progress = impl_->parse(left);
  impl_->rest_offset = rest.size() - left.size();
  return progress;
}

RequestReader::Progress RequestReader::next() {
  impl_->begin();
  std::string_view left = std::string_view(impl_->rest).substr(impl_->rest_offset);
  const Progress progress = impl_->parse(left);
  impl_->rest_offset = impl_->rest.size() - left.size();
  if (left.empty()) {
    clear(impl_->rest);
    impl_->rest_offset = 0;
  }
  return progress;
}

void RequestReader::reset() {
  clear(impl_->rest);
  impl_->rest_offset = 0;
  impl_->begin();
  impl_->message.address = nullptr;
}

void RequestReader::charge_to(std::shared_ptr<AddressShare> address) {
  drop_body();  // it counts as another's
  impl_->message.address = std::move(address);
}

bool RequestReader::started() const { return impl_->message.started; }

bool RequestReader::header_done() const { return impl_->message.header_done; }

std::size_t RequestReader::body_bytes() const { return impl_->message.body.size(); }

bool RequestReader::take_expectation() {
  return header_done() && std::exchange(impl_->message.expects_continue, false);
}

Request& RequestReader::request() { return impl_->message.request; }

bool RequestReader::keep_alive() const { return impl_->parser->keep_alive(); }

bool RequestReader::is_http_1_0() const { return impl_->message.http_1_0; }

bool RequestReader::is_head() const { return header_done() && impl_->message.request.method == "HEAD"; }

void RequestReader::drop_body() { impl_->message.clear_body(); }

int RequestReader::refusal() const { return impl_->message.refusal; }

}  // namespace postino::http
