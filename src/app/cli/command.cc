#include "app/cli/command.h"

namespace postino::app {

int run(const Command& command, const Console& console) {
  const int status = command.run(console);
  console.out << std::flush;
  if (console.out.good()) return status;
  return report_error(console, {base::ErrorCode::io, "cannot write what was asked for"});
}

}  // namespace postino::app
