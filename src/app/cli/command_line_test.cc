#include "app/cli/command_line.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "api/protocol/operation.h"
#include "api/route_list.h"
#include "app/cli/client_command.h"
#include "app/cli/help_format.h"

namespace postino::app {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

// How a command is asked for: {"emails", "list"}.
Words path_of(const CLI::App* command) {
  Words path;
  for (; command->get_parent() != nullptr; command = command->get_parent())
    path.insert(path.begin(), command->get_name());
  return path;
}

std::string name_of(const Command& command) { return CLI::detail::join(path_of(command.parsed), " "); }

// What must be given so that a command is understood.
Words required_arguments(const CLI::App& command) {
  Words arguments;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required()) continue;
    if (!option->get_positional()) arguments.push_back(option->get_name());
    arguments.emplace_back("1");
  }
  return arguments;
}

std::vector<Command> client_commands(const CommandLine& line) {
  std::vector<Command> commands;
  for (const Command& command : line.commands())
    if (!command.operation.empty()) commands.push_back(command);
  return commands;
}

void parse(CommandLine& line, Words words) {
  std::ranges::reverse(words);  // as the parser wants it
  EXPECT_NO_THROW(line.program().parse(std::move(words)));
}

struct Ended {
  int status = 0;
  std::string out;
  std::string errors;
};

// Making a command line takes longer than anything it does: tests of many commands have one.
Ended run(CommandLine& line, Words words) {
  words.insert(words.begin(), "postino");
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::ostringstream out;
  std::ostringstream errors;
  const int status =
      line.run(static_cast<int>(arguments.size()), arguments.data(), {out, errors, std::nullopt, std::nullopt});
  return {status, out.str(), errors.str()};
}

Ended run(Words words) {
  CommandLine line;
  return run(line, std::move(words));
}

// --- What is not understood

TEST(CommandLine, SaysWhatItDoesNotKnow) {
  CommandLine line;
  const auto first_line = [&line](Words words) {
    const Ended ended = run(line, std::move(words));
    EXPECT_EQ(ended.status, misuse);
    return ended.errors.substr(0, ended.errors.find('\n'));
  };
  EXPECT_EQ(first_line({"serve", "--url", "x"}), "postino: unknown argument: --url");
  EXPECT_EQ(first_line({"serve", "--regoin", "x"}), "postino: unknown argument: --regoin; did you mean --region?");
  EXPECT_EQ(first_line({"reminders", "drafts", "aprove", "d1", "--revision", "1"}),
            "postino: unknown command: aprove; did you mean approve?");
  EXPECT_EQ(first_line({"reminders", "customers", "opt-out", "c1", "--reason", "x", "x", "--foo", "y"}),
            "postino: unknown argument: x --foo");
  EXPECT_EQ(first_line({"reminders", "drafts", "approve", "", "--revision", "1"}), "postino: ID: must not be empty");
  EXPECT_EQ(first_line({"tickets", "list", "--customer-id", ""}), "postino: --customer-id: must not be empty");
  EXPECT_EQ(first_line({"metrics", "--tenant", ""}), "postino: --tenant: must not be empty");
  EXPECT_EQ(first_line({"emails", "lst"}), "postino: unknown command: lst; did you mean list?");
}

TEST(CommandLine, CallsWhatIsMissingAsItsHelpDoes) {
  CommandLine line;
  const auto missing = [&line](Words words) {
    const Ended ended = run(line, std::move(words));
    EXPECT_EQ(ended.status, misuse);
    return ended.errors.substr(0, ended.errors.find('\n'));
  };
  EXPECT_EQ(missing({"tickets"}), "postino: a command is required");
  EXPECT_EQ(missing({"tickets", "show"}), "postino: ID is required");
  EXPECT_EQ(missing({"tickets", "attachments", "get", "t1"}), "postino: ATTACHMENT_ID is required");
  EXPECT_EQ(missing({"tickets", "attachments", "add", "t1"}), "postino: FILE is required");
  EXPECT_EQ(missing({"tickets", "move", "t1"}), "postino: --status is required");
  EXPECT_EQ(missing({"tickets", "answer", "--headers", "a", "--headers-file", "b"}),
            "postino: --headers and --headers-file cannot be used together");
  EXPECT_EQ(missing({"tickets", "note", "t1", "--event-type", "called", "--detail", "minutes"}),
            "postino: --detail: must be NAME=VALUE");
  EXPECT_EQ(missing({"tickets", "cache", "put", "k1", "--data", "=1"}), "postino: --data: must be NAME=VALUE");
  EXPECT_EQ(missing({"reminders", "import", "customers"}), "postino: FILE is required");
  EXPECT_EQ(missing({"metrics", "history"}), "postino: SOURCE is required");
  EXPECT_EQ(missing({"sessions", "list-of"}), "postino: USER is required");
  EXPECT_EQ(missing({"sessions", "end-of", "anna"}), "postino: SESSION is required");
  EXPECT_EQ(missing({"sessions", "sign-in"}), "postino: one of --user and --key is required");
}

TEST(CommandLine, HelpIsACommandToo) {
  for (const auto& [asked, usual] :
       std::vector<std::pair<Words, Words>>{{{"help"}, {"--help"}}, {{"help", "emails"}, {"emails", "--help"}}}) {
    EXPECT_EQ(run(asked).status, 0);
    EXPECT_EQ(run(asked).out, run(usual).out);
  }
}

// --- Commands and operations

TEST(ClientCommands, CallOperationsOfTheApi) {
  const CommandLine line;
  EXPECT_FALSE(client_commands(line).empty());
  for (const Command& command : client_commands(line))
    EXPECT_NE(api::find_operation(command.operation), nullptr) << name_of(command);
}

TEST(ClientCommands, OptionsAreParametersOrFieldsOfTheOperation) {
  const CommandLine line;
  for (const Command& command : client_commands(line)) {
    const api::Operation& operation = *api::find_operation(command.operation);
    for (const std::string& field : command.fields) {
      const bool is_parameter = api::find_parameter(operation, field) != nullptr;
      const api::Schema* const body = api::body_schema(operation);
      EXPECT_TRUE(is_parameter || (body != nullptr && api::find_property(*body, field) != nullptr))
          << name_of(command) << " " << field;
    }
  }
}

TEST(ClientCommands, FieldsThatTheServerNamesHaveTheNamesOfTheCommandLine) {
  const std::map<std::string, std::string, std::less<>> names = {{"customer.id", "--customer-id"},
                                                                 {"letter.to", "--letter-to"},
                                                                 {"details", "--detail"},
                                                                 {"id", "ID"},
                                                                 {"drafts", "--file"}};
  EXPECT_EQ(name_on_command_line(names, "customer.id"), "--customer-id");
  EXPECT_EQ(name_on_command_line(names, "letter.to[1]"), "--letter-to");
  EXPECT_EQ(name_on_command_line(names, "details.minutes"), "--detail minutes");
  EXPECT_EQ(name_on_command_line(names, "id"), "ID");
  for (const std::string unknown : {"", "customer", "customer.name", "drafts[3].customer_id", "letters[1]", "a]"})
    EXPECT_EQ(name_on_command_line(names, unknown), unknown);
}

TEST(ClientCommands, OfferEveryParameterOfThePathAndTheQuery) {
  const CommandLine line;
  for (const Command& command : client_commands(line)) {
    std::set<std::string> offered(command.fields.begin(), command.fields.end());
    if (command.parsed->get_option_no_throw("--all") != nullptr) offered.insert("limit");
    for (const api::Parameter& parameter : api::find_operation(command.operation)->parameters)
      if (parameter.place != api::ParameterPlace::header) {
        EXPECT_TRUE(offered.contains(std::string(parameter.name))) << name_of(command) << " " << parameter.name;
      }
  }
}

TEST(ClientCommands, DoWhatTheApiDoes) {
  const CommandLine line;
  std::set<std::string_view> called;
  for (const Command& command : client_commands(line)) called.insert(command.operation);
  for (const api::Route& route : api::all_routes()) {
    const api::Operation& operation = route.operation;
    if (operation.group == "Description") continue;
    if (operation.id == "approveAndSend") continue;  // for programs of a former system: approveDraft does the same
    if (operation.id == "listBackups") continue;     // "backup list" needs no server
    EXPECT_TRUE(called.contains(operation.id)) << operation.id;
  }
}

// --- What all client commands share

// Making a command line takes long. So each command is given the options at its end, and then each at another place
// before its arguments: at which one changes from command to command.
TEST(SharedOptions, StandAnywhere) {
  const std::vector<Words> shared = {{"--url", "http://else:1"}, {"--key", "secret"}, {"--json"}, {"--ca", "file.pem"}};
  CommandLine line;
  std::size_t turn = 0;
  for (const Command& command : client_commands(line)) {
    const Words path = path_of(command.parsed);
    const Words required = required_arguments(*command.parsed);
    Words at_the_end = path;
    at_the_end.insert(at_the_end.end(), required.begin(), required.end());
    for (const Words& option : shared) at_the_end.insert(at_the_end.end(), option.begin(), option.end());
    Words spread;
    for (std::size_t place = 0; place <= path.size(); ++place) {
      for (std::size_t i = 0; i < shared.size(); ++i)
        if ((i + turn) % (path.size() + 1) == place) spread.insert(spread.end(), shared[i].begin(), shared[i].end());
      if (place < path.size()) spread.push_back(path[place]);
    }
    spread.insert(spread.end(), required.begin(), required.end());
    ++turn;
    for (const Words& words : {at_the_end, spread}) {
      line.client_options() = {};
      parse(line, words);
      const std::string text = CLI::detail::join(words, " ");
      EXPECT_EQ(line.client_options().url, "http://else:1") << text;
      EXPECT_EQ(line.client_options().key, "secret") << text;
      EXPECT_EQ(line.client_options().certificate_file, "file.pem") << text;
      EXPECT_TRUE(line.client_options().json) << text;
    }
  }
}

TEST(SharedOptions, ComeFromTheEnvironmentUnlessTheyAreGiven) {
  const Words names = {"POSTINO_URL", "POSTINO_API_KEY", "POSTINO_CA"};
  for (const std::string& name : names) ::setenv(name.c_str(), ("of " + name).c_str(), 1);
  CommandLine line;
  parse(line, {"emails", "--key", "given", "counts"});
  for (const std::string& name : names) ::unsetenv(name.c_str());
  EXPECT_EQ(line.client_options().url, "of POSTINO_URL");
  EXPECT_EQ(line.client_options().key, "given");
  EXPECT_EQ(line.client_options().certificate_file, "of POSTINO_CA");
}

TEST(SharedOptions, OneThatIsNearerTheCommandWins) {
  CommandLine line;
  parse(line, {"--url", "http://a:1", "emails", "--url", "http://b:1", "list", "--url", "http://c:1"});
  EXPECT_EQ(line.client_options().url, "http://c:1");
}

TEST(SharedOptions, AreRefusedByCommandsThatCallNoServer) {
  const Ended config = run({"--url", "http://a:1", "config"});
  EXPECT_EQ(config.status, misuse);
  EXPECT_EQ(
      config.errors,
      "postino: --url is for commands that call a server; config does not call one\nSee postino config --help.\n");
}

// --- Help

TEST(Help, IsThereForEveryCommandAndSaysWhatEachOptionIs) {
  CommandLine line;
  for (const Command& command : line.commands()) {
    Words words = path_of(command.parsed);
    words.emplace_back("--help");
    const Ended help = run(line, words);
    EXPECT_EQ(help.status, success) << name_of(command);
    EXPECT_THAT(help.out, HasSubstr("Usage: postino " + name_of(command))) << name_of(command);
    EXPECT_FALSE(command.parsed->get_description().empty()) << name_of(command);
    for (const CLI::Option* option : command.parsed->get_options()) {
      const std::string text = option->get_description();
      EXPECT_FALSE(text.empty() || text.ends_with('.'))
          << name_of(command) << " " << option->get_name() << ": " << text;
      if (option->get_items_expected_max() > 0) {
        EXPECT_FALSE(option->get_type_name().empty()) << name_of(command) << " " << option->get_name();
      }
    }
    std::istringstream lines(help.out);
    for (std::string text; std::getline(lines, text);) EXPECT_LE(text.size(), 100U) << name_of(command) << ": " << text;
  }
}

void add_all(const CLI::App* app, std::vector<const CLI::App*>& all) {
  all.push_back(app);
  for (const CLI::App* each : app->get_subcommands([](const CLI::App*) { return true; })) add_all(each, all);
}

// The words after "postino" in a line that is typed, up to the end of its command.
Words words_of_example(std::string_view line) {
  constexpr std::string_view name = "postino ";
  Words words(1);
  char quote = '\0';
  for (const char letter : line.substr(line.find(name) + name.size())) {
    if (letter == quote) {
      quote = '\0';
    } else if (quote == '\0' && (letter == '"' || letter == '\'')) {
      quote = letter;
    } else if (quote == '\0' && letter == ')') {
      break;
    } else if (quote == '\0' && letter == ' ') {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  return words;
}

TEST(Help, HasExamplesThatAreUnderstood) {
  CommandLine every;
  std::vector<const CLI::App*> all;
  add_all(&every.program(), all);
  std::set<std::string> explained;
  for (const CLI::App* app : all) {
    std::istringstream lines(app->get_footer());
    std::string text;
    if (!std::getline(lines, text)) continue;
    EXPECT_EQ(text, "Examples:");
    EXPECT_NE(app->get_footer(), app->get_parent()->get_footer()) << app->get_name();
    explained.insert(app->get_name());
    while (std::getline(lines, text)) {
      EXPECT_LE(text.size(), 100U) << text;
      Words words = words_of_example(text);
      std::ranges::reverse(words);
      EXPECT_NO_THROW(every.program().parse(std::move(words))) << text;
    }
  }
  for (const std::string name : {"tickets", "metrics", "sessions", "password", "reminders", "capacity"})
    EXPECT_TRUE(explained.contains(name)) << name;
}

TEST(Help, SaysWhatIsRequiredAndWhatMayBeChosen) {
  EXPECT_THAT(run({"reminders", "check", "--help"}).out, HasSubstr("--customer-id TEXT (required)"));
  EXPECT_EQ(run({"reminders", "check", "--customer-id", "c1"}).status, misuse);
  const std::string activate = run({"reminders", "templates", "activate", "--help"}).out;
  EXPECT_THAT(activate, HasSubstr("--version NUMBER (required)"));
  EXPECT_THAT(activate, ::testing::Not(HasSubstr("--version-file")));
  EXPECT_EQ(run({"reminders", "templates", "activate", "t1"}).status, misuse);
  EXPECT_THAT(run({"reminders", "drafts", "list", "--help"}).out, HasSubstr("withdrawn, expired, any"));
  EXPECT_THAT(run({"serve", "--help"}).out, HasSubstr("\nReminders:\n"));
}

TEST(Help, TextIsWrappedAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 100), "one two three");
  EXPECT_EQ(wrapped("extraordinary word", 5), "extraordinary\nword");
  EXPECT_EQ(wrapped("one\ntwo three", 9), "one\ntwo three");
  EXPECT_EQ(wrapped("", 5), "");
}

TEST(Help, IsPrintedWhenNothingIsAskedFor) {
  const Ended nothing = run({});
  EXPECT_EQ(nothing.status, misuse);
  EXPECT_THAT(nothing.errors, HasSubstr("Commands:"));
}

TEST(Help, IsPointedTo) {
  EXPECT_THAT(run({"emails"}).errors, HasSubstr("See postino emails --help."));
  EXPECT_THAT(run({"emails", "show"}).errors, HasSubstr("See postino emails show --help."));
  EXPECT_EQ(run({"emails", "show"}).status, misuse);
}

}  // namespace
}  // namespace postino::app
