// The first packet of a server, which says what it is able to do. It comes in the clear, and is not proven.
#pragma once

#include <string_view>

namespace postino::mysql {

enum class Greeting {
  incomplete,  // the packet goes on
  error,       // instead of a greeting: the server is full, for example
  plain,       // a server without TLS, or something else
  offers_tls,
};

// From the bytes that have come so far.
Greeting read_greeting(std::string_view bytes);

}  // namespace postino::mysql
