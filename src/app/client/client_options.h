// The flags that all commands share that talk to a server.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace postino::app {

struct ClientOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string key;
  std::string certificate_file;  // authorities to trust, in place of the system's
  bool json = false;             // print what the server answers
};

// From POSTINO_URL and POSTINO_API_KEY; flags win over them.
ClientOptions environment_client_options();

// `options` must outlive the parsing. A command without JSON to show has no --json.
enum class JsonFlag { offered, none };
void add_client_options(CLI::App& command, ClientOptions& options, JsonFlag json = JsonFlag::offered);

}  // namespace postino::app
