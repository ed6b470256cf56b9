// Reads the header of a message with Beast. What follows it is left to the reader that uses this.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>

namespace postino::http {

template <bool is_request>
class HeaderParser : public boost::beast::http::basic_parser<is_request> {
 protected:
  using error_code = boost::system::error_code;
  using string_view = boost::beast::string_view;

 private:
  // Only called for messages with bodies, of which this parser sees none.
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, error_code& /*error*/) final {}
  std::size_t on_body_impl(string_view part, error_code& /*error*/) final { return part.size(); }
  void on_chunk_header_impl(std::uint64_t /*size*/, string_view /*extensions*/, error_code& /*error*/) final {}
  std::size_t on_chunk_body_impl(std::uint64_t /*left*/, string_view part, error_code& /*error*/) final {
    return part.size();
  }
  void on_finish_impl(error_code& /*error*/) final {}
};

}  // namespace postino::http
