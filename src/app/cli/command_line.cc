#include "app/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <utility>

#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/console/suggestion.h"
#include "app/server/version.h"

namespace postino::app {

namespace {

constexpr const char* description =
    "Postino makes a company's messages reliable: an e-mail outbox, message queues, payment reminders and a support "
    "desk, "
    "on a store that speaks Amazon DynamoDB's API.";

}  // namespace

CommandLine::CommandLine() : program_(std::make_unique<CLI::App>(description, "postino")) {
  program_->formatter(std::make_shared<HelpFormat>());
  program_->set_version_flag("--version", "postino " + std::string(program_version()), "print the version and exit");
  program_->set_help_flag("-h,--help", "print this help and exit");
  add_client_options(*program_, client_options_);
  add_serve_command(*this);
  add_dynamodb_command(*this);
  add_config_command(*this);
  add_status_command(*this);
  add_send_command(*this);
  add_emails_command(*this);
  add_callbacks_command(*this);
  add_suppressions_command(*this);
  add_bounces_command(*this);
  add_mailbox_command(*this);
  add_messages_command(*this);
  add_reminders_command(*this);
  add_tickets_command(*this);
  add_capacity_command(*this);
  add_metrics_command(*this);
  add_sessions_command(*this);
  add_audit_command(*this);
  add_keys_command(*this);
  add_password_command(*this);
  add_policy_command(*this);
  add_migrate_command(*this);
  add_copy_command(*this);
  add_tables_command(*this);
  add_check_command(*this);
  add_repair_command(*this);
  add_backup_command(*this);
  add_restore_command(*this);
  add_tour_command(*this);
}

CommandLine::~CommandLine() = default;

const Command* CommandLine::asked() const {
  for (const Command& command : commands_)
    if (command.parsed->parsed()) return &command;
  return nullptr;
}

// For the first word that was not understood.
std::string CommandLine::suggestion() const {
  const CLI::App* command = program_.get();
  std::vector<std::string> flags;
  std::vector<std::string> names;
  const auto add_flags = [&flags](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options())
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  };
  add_flags(*command);
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    add_flags(*command);
  }
  for (const CLI::App* each : command->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  for (const std::string& word : program_->remaining(true)) {
    const bool is_flag = word.starts_with('-');
    const std::string name = word.substr(0, word.find('='));
    // A flag of other commands is spelt well.
    if (std::ranges::find(flags, name) != flags.end()) continue;
    const std::string hint = did_you_mean(name, is_flag ? flags : names);
    if (!hint.empty()) return hint;
  }
  return "";
}

int CommandLine::refuse(const std::string& problem, const Console& console) const {
  std::string name = program_->get_name();
  for (auto named = program_->get_subcommands(); !named.empty(); named = named.front()->get_subcommands())
    name += " " + named.front()->get_name();
  console.errors << "postino: " << problem << suggestion() << "\nSee " << name << " --help.\n";
  return misuse;
}

namespace {

bool is_written_as_flag(const std::string& word) { return word.size() > 1 && word.starts_with('-'); }

// Those that are to blame, in the order they were given, which the parser does not keep. What follows an unknown flag
// may be its value, and a word that is the value of a known flag may be given once more.
std::vector<std::string> words_to_blame(const std::vector<std::string>& arguments, std::vector<std::string> unknown) {
  std::vector<std::string> blamed;
  const std::string* unknown_flag = nullptr;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const auto found = std::ranges::find(unknown, word);
    const std::string* const flag_before = std::exchange(unknown_flag, nullptr);
    if (found == unknown.end()) continue;
    const bool is_value =
        i > 0 && is_written_as_flag(arguments[i - 1]) && flag_before == nullptr && !is_written_as_flag(word);
    const auto rest = arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (is_value && std::find(rest, arguments.end(), word) != arguments.end()) continue;
    unknown.erase(found);
    if (flag_before != nullptr && !is_written_as_flag(word)) continue;
    blamed.push_back(word);
    if (is_written_as_flag(word) && word.find('=') == std::string::npos) unknown_flag = &word;
  }
  return blamed;
}

// DynamoDB Local has long flags with one dash: "-port 8000".
void double_dashes(std::vector<std::string>& words) {
  for (std::string& word : words)
    if (word.size() > 2 && word[0] == '-' && word[1] != '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0)
      word.insert(0, "-");
}

}  // namespace

// In our words where the parser's are not plain.
std::string CommandLine::problem_of(const CLI::ParseError& error, const std::vector<std::string>& arguments) const {
  const std::vector<std::string> blamed = words_to_blame(arguments, program_->remaining(true));
  const std::string what = error.what();
  if (what == "A subcommand is required" && blamed.empty()) return "a command is required";
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return CLI::detail::find_and_replace(what, " excludes ", " and ") + " cannot be used together";
  if (blamed.empty()) return what;
  // Nothing behind it was looked at.
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return "unknown command: " + blamed.front();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return what;
  std::string words;
  for (const std::string& word : blamed) words += " " + word;
  return "unknown argument:" + words;
}

int CommandLine::run(int count, const char* const* arguments, const Console& console) {
  std::vector<std::string> words(arguments + 1, arguments + std::max(count, 1));
  // "postino help emails" is "postino emails --help".
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (!words.empty() && words.front() == "dynamodb") double_dashes(words);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    program_->parse(std::move(reversed));
  } catch (const CLI::Success& wanted) {  // help or the version
    return program_->exit(wanted, console.out, console.errors);
  } catch (const CLI::ParseError& error) {
    return refuse(problem_of(error, words), console);
  }
  const Command* const command = asked();
  if (command == nullptr) {
    console.errors << program_->help();
    return misuse;
  }
  if (command->operation.empty())
    if (const std::string option = given_client_option(*program_); !option.empty())
      return refuse(
          option + " is for commands that call a server; " + command->parsed->get_name() + " does not call one",
          console);
  const int status = command->run(console);
  console.out << std::flush;
  if (console.out.good()) return status;
  return report_error(console, {base::ErrorCode::io, "cannot write the output"});
}

}  // namespace postino::app
