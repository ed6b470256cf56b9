#include "app/client/client_options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace postino::app {

namespace {

void take_variable(const char* name, std::string& value) {
  const char* const text = std::getenv(name);
  if (text != nullptr && *text != '\0') value = text;
}

}  // namespace

ClientOptions environment_client_options() {
  ClientOptions options;
  take_variable("POSTINO_URL", options.url);
  take_variable("POSTINO_API_KEY", options.key);
  return options;
}

void add_client_options(CLI::App& command, ClientOptions& options, JsonFlag json) {
  constexpr const char* group = "Server";
  command.add_option("--url", options.url, "where Postino is, http://127.0.0.1:8080 by default [POSTINO_URL]")
      ->type_name("URL")
      ->group(group);
  command.add_option("--key", options.key, "the secret of an API key [POSTINO_API_KEY]")
      ->type_name("SECRET")
      ->group(group);
  command.add_option("--ca", options.certificate_file, "certificates to trust (PEM) in place of the system's")
      ->type_name("FILE")
      ->group(group);
  if (json == JsonFlag::offered) command.add_flag("--json", options.json, "print the server's answer as it is");
}

}  // namespace postino::app
