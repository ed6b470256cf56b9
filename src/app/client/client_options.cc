#include "app/client/client_options.h"

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
  take_variable("POSTINO_CA", options.certificate_file);
  return options;
}

}  // namespace postino::app
