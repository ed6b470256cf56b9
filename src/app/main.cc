// The program.
#include "app/cli/command_line.h"

// How jemalloc works: what was freed goes back to the system after a second instead of ten, and by a thread of its own,
// so that it does so in a process that is idle.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "background_thread:true,max_background_threads:1,dirty_decay_ms:1000,muzzy_decay_ms:0";
}

int main(int count, char** arguments) {
  return postino::app::CommandLine().run(count, arguments, postino::app::standard_console());
}
