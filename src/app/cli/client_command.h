// A command that calls an operation of the REST API. Its options stand for parameters of the operation and fields of
// its body, and have their descriptions and limits from there.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command_line.h"
#include "app/client/rest_client.h"

namespace postino::app {

// --url, --key, --ca and --json. Every client command has them, and so have the commands around it: they may stand
// anywhere. `options` must outlive the parsing.
void add_client_options(CLI::App& command, ClientOptions& options);
// One of those that was given to this command itself; empty when none was.
std::string given_client_option(const CLI::App& command);
bool is_client_option(const CLI::Option& option);

// A command inside `parent` that has others in it, of which one must be asked for: "emails".
CLI::App& add_command_group(CommandLine& line, CLI::App& parent, const std::string& name,
                            const std::string& description);

// What is not given comes from the operation.
struct OptionStyle {
  std::string flag;        // "--queue"
  std::string value_name;  // "NAME"
  std::string help;
  std::optional<std::int64_t> most;  // of a number, where the command makes several calls of one
};

class ClientCommand {
 public:
  // A new command inside `parent`. Its help is the operation's summary unless another is given. It is a fault of the
  // program to name an operation that does not exist.
  ClientCommand(CommandLine& line, CLI::App& parent, const std::string& name, std::string_view operation,
                const std::string& help = "");
  // An existing command that does the same as another one when nothing else is asked of it.
  ClientCommand(CommandLine& line, CLI::App& existing, std::string_view operation);

  CLI::App& app() { return app_; }
  const ClientOptions& shared() const { return line_.client_options(); }

  // For the parameter of this name, or the field of the body with this path ("settings.batchSize"), one of which must
  // be there. The option is named after the last part of the path, unless the style says otherwise.
  template <class Value>
  CLI::Option* add_option(std::string_view field, Value& value, const OptionStyle& style = {}) {
    const OptionStyle full = complete(field, style);
    return limit(app_.add_option(full.flag, value, full.help)->type_name(full.value_name), field, style.most);
  }
  // One value for each time the option is given: what follows it is not meant to be another.
  CLI::Option* add_option(std::string_view field, std::vector<std::string>& values, const OptionStyle& style = {});
  // Without a value. It may mean the opposite of the field.
  CLI::Option* add_flag(std::string_view field, bool& value, const OptionStyle& style);
  // Options for all parameters of the query, but for those of pages; values are put down by the parameter's name.
  void add_query_options(std::map<std::string, std::string, std::less<>>& values);
  // Not an option, but known by its place. It is required, and called as its value is: "ID".
  CLI::Option* add_argument(std::string_view field, std::string& value, const OptionStyle& style = {});
  CLI::Option* add_argument(std::string_view field, std::vector<std::string>& values, const OptionStyle& style = {});

  // What it does. The last thing to be said about a command.
  void run(std::function<int(RestClient& client, const Console& console)> action);

 private:
  OptionStyle complete(std::string_view field, const OptionStyle& style);
  OptionStyle complete_argument(std::string_view field, OptionStyle style);
  CLI::Option* limit(CLI::Option* option, std::string_view field, std::optional<std::int64_t> most) const;
  const api::Schema& schema_of(std::string_view field) const;

  CommandLine& line_;
  CLI::App& app_;
  const api::Operation& operation_;
  std::vector<std::string> fields_;
  std::map<std::string, std::string, std::less<>> names_;  // of fields: what the command line calls them
};

// What the command line calls a field that the server has named. `names` has those of the fields that it knows; one
// element of a list is called as the list is, and a member of an object has its name behind that of the object.
std::string name_on_command_line(const std::map<std::string, std::string, std::less<>>& names,
                                 const std::string& field);

// A description as help has it: "How many at most." -> "how many at most".
std::string help_of(const api::Schema& schema);

}  // namespace postino::app
