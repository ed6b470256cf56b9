#include "app/command.h"

namespace postino::app {

int run(const Command& command, const Console& console) {
  const int status = command.run(console);
  console.out << std::flush;
  if (console.out.good()) return status;
  return complain(console, {base::ErrorCode::io, "cannot write what was asked for"});
}

int complain(const Console& console, const base::Error& error, ExitStatus status) {
  console.out << std::flush;
  console.errors << "postino: " << error.message << "\n";
  return status;
}

}  // namespace postino::app
