// The program.
#include "app/cli/command_line.h"

int main(int count, char** arguments) {
  return postino::app::CommandLine().run(count, arguments, postino::app::standard_console());
}
