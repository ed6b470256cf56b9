#include "app/server/version.h"

namespace postino::app {

std::string_view program_version() { return POSTINO_VERSION; }

}  // namespace postino::app
