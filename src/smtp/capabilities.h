// What a server says it can do, in its answer to EHLO.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace postino::smtp {

struct Capabilities {
  bool pipelining = false;
  bool eight_bit_mime = false;
  bool utf8 = false;  // SMTPUTF8
  bool dsn = false;
  bool start_tls = false;
  bool auth_plain = false;
  bool auth_login = false;
  bool size = false;
  std::uint64_t size_limit = 0;  // 0: none is known
};

// From the lines of the reply without their codes; the first is the server's name.
Capabilities parse_capabilities(const std::vector<std::string>& lines);

}  // namespace postino::smtp
