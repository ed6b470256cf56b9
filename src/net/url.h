// http and https URLs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::net {

struct Url {
  static constexpr std::size_t most_bytes = 2'048;

  bool secure = false;  // https
  std::string host;     // a name or an IP address, without brackets
  std::uint16_t port = 80;
  std::string target = "/";  // path and query

  // Fails with the rule: absolute, http or https, a host, no user or password, no spaces, control characters or bytes
  // beyond ASCII, at most 2,048 bytes. A fragment is dropped.
  static base::Result<Url> parse(std::string_view text);
  std::string authority() const;  // for the Host header: without the port where it is the scheme's own
  std::string text() const;
};

// For people to read: without a user and password, should another program have put them into a URL that it stored.
std::string without_credentials(std::string_view url);

}  // namespace postino::net
