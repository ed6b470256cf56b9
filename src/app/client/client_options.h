// What all commands share that call a server.
#pragma once

#include <string>

namespace postino::app {

struct ClientOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string key;
  std::string certificate_file;  // authorities to trust, in place of the system's
  bool json = false;             // print what the server answers
};

// From POSTINO_URL, POSTINO_API_KEY and POSTINO_CA; options win over them.
ClientOptions environment_client_options();

}  // namespace postino::app
