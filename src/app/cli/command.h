// A command of the program: how main knows that it was asked for, and how it is run.
#pragma once

#include <functional>

#include "app/console/console.h"

namespace CLI {
class App;
}

namespace postino::app {

struct Command {
  const CLI::App* asked = nullptr;  // true when the command line names it
  std::function<int(const Console& console)> run;
};

// Returns the status to end with: also failure when something could not be written.
int run(const Command& command, const Console& console);

}  // namespace postino::app
