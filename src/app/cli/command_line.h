// The command line of the program: every command with its options, and which of them was asked for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/client/client_options.h"
#include "app/console/console.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace postino::app {

struct Command {
  const CLI::App* parsed = nullptr;  // true when the command line names it
  std::function<int(const Console& console)> run;
  // Of a command that calls a server: the operation of the REST API, and what its options and arguments stand for:
  // parameters of the operation and fields of its body.
  std::string_view operation;
  std::vector<std::string> fields;
};

class CommandLine {
 public:
  CommandLine();  // with every command
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Runs what the arguments ask for, and returns the status to end with: misuse when they cannot be understood, failure
  // also when something could not be written. The first argument is the name of the program.
  int run(int count, const char* const* arguments, const Console& console);

  // For the commands. A command inside another one must be added first: the innermost that was named is run.
  CLI::App& program() { return *program_; }
  ClientOptions& client_options() { return client_options_; }
  void add(Command command) { commands_.push_back(std::move(command)); }

  const std::vector<Command>& commands() const { return commands_; }

 private:
  const Command* asked() const;
  std::string suggestion() const;
  std::string problem_of(const CLI::ParseError& error, const std::vector<std::string>& arguments) const;
  int refuse(const std::string& problem, const Console& console) const;

  std::unique_ptr<CLI::App> program_;
  ClientOptions client_options_ = environment_client_options();
  std::vector<Command> commands_;
};

}  // namespace postino::app
