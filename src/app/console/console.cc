#include "app/console/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

constexpr int usual_columns = 80;

std::optional<int> terminal_columns(int descriptor) {
  if (::isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : usual_columns;
}

}  // namespace

void Console::print_foreign(std::string_view text) const {
  if (out_columns)
    out << printable_lines(text);
  else
    out << text;
  if (!text.ends_with('\n')) out << "\n";
}

int report_error(const Console& console, const base::Error& error, ExitStatus status) {
  console.out << std::flush;
  console.errors << "postino: " << error.message << "\n";
  return status;
}

Console standard_console() {
  return {std::cout, std::cerr, terminal_columns(STDOUT_FILENO), terminal_columns(STDERR_FILENO)};
}

}  // namespace postino::app
