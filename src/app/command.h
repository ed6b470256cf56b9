// A command of the program: how main knows that it was asked for, and how it is run.
#pragma once

#include <functional>

#include "app/console.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace postino::app {

enum ExitStatus : int {
  success = 0,
  failure = 1,  // it was understood, and did not work out
  misuse = 2,   // it was not understood
};

struct Command {
  const CLI::App* asked = nullptr;  // true when the command line names it
  std::function<int(const Console& console)> run;
};

// Returns the status to end with: also failure when something could not be written.
int run(const Command& command, const Console& console);

// Says what is wrong, and returns the status to end with.
int complain(const Console& console, const base::Error& error, ExitStatus status = failure);

}  // namespace postino::app
