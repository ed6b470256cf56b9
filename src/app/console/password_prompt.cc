#include "app/console/password_prompt.h"

#include <termios.h>
#include <unistd.h>

#include <iostream>

namespace postino::app {

namespace {

// What is typed is not shown, for as long as this lives.
class SilentTerminal {
 public:
  SilentTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_silent_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
  }
  ~SilentTerminal() {
    if (is_silent_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;
  bool is_silent() const { return is_silent_; }

 private:
  termios before_{};
  bool is_silent_ = false;
};

base::Result<std::string> read_line() {
  std::string line;
  if (!std::getline(std::cin, line)) return base::invalid("there is no password on the standard input");
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

base::Result<std::string> ask(const char* question, const Console& console) {
  if (::isatty(STDIN_FILENO) == 0) return read_line();
  const SilentTerminal terminal;
  if (!terminal.is_silent()) return base::fail(base::ErrorCode::io, "the terminal shows what is typed");
  console.errors << question << std::flush;
  auto line = read_line();
  console.errors << "\n" << std::flush;
  return line;
}

}  // namespace

base::Result<std::string> read_password(const Console& console) { return ask("Password: ", console); }

base::Result<std::string> read_new_password(const Console& console) {
  TRY(std::string password, read_password(console));
  if (::isatty(STDIN_FILENO) == 0) return password;
  TRY(const std::string again, ask("The same again: ", console));
  if (again != password) return base::invalid("the two passwords differ");
  return password;
}

}  // namespace postino::app
