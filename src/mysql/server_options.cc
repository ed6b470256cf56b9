#include "mysql/server_options.h"

namespace postino::mysql {

std::string address_of(const ServerOptions& options) {
  return options.socket.empty() ? options.host + ":" + std::to_string(options.port) : options.socket;
}

}  // namespace postino::mysql
