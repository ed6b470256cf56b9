// The program.
#include "app/cli/command_line.h"

// How jemalloc works: what was freed goes back to the system after a second instead of ten, so that a busy hour does
// not show in the memory of the process for longer than it lasts.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "dirty_decay_ms:1000,muzzy_decay_ms:0";
}

int main(int count, char** arguments) {
  return postino::app::CommandLine().run(count, arguments, postino::app::standard_console());
}
