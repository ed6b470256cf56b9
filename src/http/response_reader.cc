#include "http/response_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "http/chunk_reader.h"
#include "http/header_parser.h"
#include "http/response_head.h"

namespace postino::http {

namespace {

namespace beast = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

constexpr std::size_t max_header_bytes = 16 << 10;            // of all heads, should there be interim responses
constexpr std::size_t max_reserved_response_body = 64 << 10;  // before anything of it has arrived

auto failure(std::string message) { return base::fail(base::ErrorCode::io, std::move(message)); }
auto malformed() { return failure("the server does not answer in proper HTTP"); }

class HeadParser final : public HeaderParser<false> {
 public:
  explicit HeadParser(ClientResponse& response) : response_(response) { skip(true); }

 private:
  void on_response_impl(int status, string_view /*reason*/, int version, error_code& error) override {
    response_.status = status;
    http_1_0_ = version == 10;
    if (status < 100) error = beast::error::bad_status;
  }

  void on_field_impl(beast::field field, string_view name, string_view value, error_code& error) override {
    response_.headers.emplace_back(name, value);
    // HTTP/1.0 knows no chunks, and other codings were not asked for.
    if (field == beast::field::transfer_encoding && (http_1_0_ || !base::equal_ignoring_case(value, "chunked")))
      error = beast::error::bad_transfer_encoding;
  }

  // Not called for responses.
  void on_request_impl(beast::verb /*verb*/, string_view /*method*/, string_view /*target*/, int /*version*/,
                       error_code& /*error*/) override {}
  void on_header_impl(error_code& /*error*/) override {}

  ClientResponse& response_;
  bool http_1_0_ = false;
};

enum class Framing { unknown, length, chunks, until_end };

}  // namespace

struct ResponseReader::Impl {
  Impl(bool head, std::size_t max_body) : to_head(head), max_body_bytes(max_body), chunks(max_header_bytes, max_body) {
    begin();
  }

  void begin() {
    response = {};
    parser.emplace(response);
    // Our own count of header bytes is the exact one; the parser's starts over with every line.
    parser->header_limit(max_header_bytes + 1);
    line_begun = head_done = false;
  }

  static auto headers_too_large() { return failure("the response's headers have more than 16 KB"); }
  auto too_large() const { return failure("the response has more than " + std::to_string(max_body_bytes) + " bytes"); }

  // These take from the front of the bytes what belongs to the response. True when their part is complete.

  base::Result<bool> parse(std::string_view& bytes) {
    while (!head_done) {
      TRY(const bool done, parse_head(bytes));
      if (!done) return false;
      if (response.status == 101) return failure("the server wants another protocol than HTTP");
      head_done = response.status >= 200;
      if (!head_done) begin();
    }
    if (framing == Framing::unknown) TRY_VOID(choose_framing());
    return parse_body(bytes);
  }

  base::Result<bool> parse_head(std::string_view& bytes) {
    constexpr std::string_view beginning = "HTTP/1.";
    if (bytes.empty()) return false;
    // Of what is something else altogether, the parser would wait for the end of the line.
    if (!line_begun && !beginning.starts_with(bytes.substr(0, beginning.size()))) return malformed();
    line_begun = line_begun || bytes.size() >= beginning.size();
    const std::size_t window = max_header_bytes - header_bytes;
    if (window == 0) return headers_too_large();
    const std::string_view part = bytes.substr(0, window);
    error_code error;
    const std::size_t used = parser->put({part.data(), part.size()}, error);
    bytes.remove_prefix(used);
    header_bytes += used;
    if (!error) return true;
    if (error != beast::error::need_more) return malformed();
    if (part.size() == window) return headers_too_large();
    return false;
  }

  base::Result<void> choose_framing() {
    const auto length = parser->content_length();
    if (to_head || !has_body(response.status)) {
      framing = Framing::length;
      body_bytes = 0;
    } else if (parser->chunked()) {
      framing = Framing::chunks;
    } else if (length) {
      if (*length > max_body_bytes) return too_large();
      framing = Framing::length;
      body_bytes = *length;
      response.body.reserve(std::min(body_bytes, max_reserved_response_body));
    } else {
      framing = Framing::until_end;
    }
    return {};
  }

  base::Result<bool> parse_body(std::string_view& bytes) {
    if (framing == Framing::chunks) return parse_chunks(bytes);
    if (framing == Framing::until_end) {
      if (bytes.size() > max_body_bytes - response.body.size()) return too_large();
      response.body.append(std::exchange(bytes, {}));
      return false;
    }
    const std::string_view part = bytes.substr(0, body_bytes - response.body.size());
    bytes.remove_prefix(part.size());
    response.body.append(part);
    return response.body.size() == body_bytes;
  }

  base::Result<bool> parse_chunks(std::string_view& bytes) {
    while (!bytes.empty()) {
      const ChunkReader::Part part = chunks.next(bytes);
      switch (part.kind) {
        case ChunkReader::Kind::data:
          response.body.append(part.data);
          break;
        case ChunkReader::Kind::need_more:
          return false;
        case ChunkReader::Kind::complete:
          return true;
        case ChunkReader::Kind::malformed:
          return malformed();
        case ChunkReader::Kind::too_large:
          return too_large();
      }
    }
    return false;
  }

  const bool to_head;
  const std::size_t max_body_bytes;
  ClientResponse response;
  std::optional<HeadParser> parser;
  ChunkReader chunks;
  bool started = false;
  bool line_begun = false;  // enough of the status line has been seen to know it for one
  bool head_done = false;
  std::size_t header_bytes = 0;
  Framing framing = Framing::unknown;
  std::size_t body_bytes = 0;
  std::string rest;  // bytes that have not been parsed yet; after the end, what belongs to no request
};

ResponseReader::ResponseReader(bool to_head, std::size_t max_body_bytes)
    : impl_(std::make_unique<Impl>(to_head, max_body_bytes)) {}

ResponseReader::~ResponseReader() = default;

base::Result<bool> ResponseReader::feed(std::string_view bytes) {
  impl_->started = impl_->started || !bytes.empty();
  impl_->rest.append(bytes);
  std::string_view left = impl_->rest;
  TRY(const bool complete, impl_->parse(left));
  impl_->rest.erase(0, impl_->rest.size() - left.size());
  return complete;
}

base::Result<void> ResponseReader::end() {
  if (impl_->framing == Framing::until_end) return {};
  return failure(started() ? "the server has closed the connection in the middle of the response"
                           : "the server has closed the connection without a response");
}

std::string ResponseReader::take_part() {
  const bool is_success = impl_->head_done && impl_->response.status >= 200 && impl_->response.status < 300;
  if (!is_success || impl_->framing != Framing::chunks) return {};
  return std::exchange(impl_->response.body, {});
}

bool ResponseReader::started() const { return impl_->started; }

ClientResponse& ResponseReader::response() { return impl_->response; }

bool ResponseReader::connection_lasts() const {
  return impl_->framing != Framing::until_end && impl_->parser->keep_alive() && impl_->rest.empty();
}

}  // namespace postino::http
