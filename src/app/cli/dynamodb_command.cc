#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/dynamodb/serve_dynamodb.h"
#include "app/settings/settings.h"
#include "base/check.h"
#include "net/address.h"

namespace postino::app {

namespace {

// As they were given.
struct DynamodbFlags {
  std::string port = "8000";
  std::string host = "127.0.0.1";
  std::string directory = ".";
  bool in_memory = false;
  bool shared = false;
  bool delays_states = false;
  bool ignored = false;
  std::vector<std::string> origins;
  std::vector<std::string> keys;
};

const Setting& setting_of(std::string_view flag) {
  const auto& all = all_settings();
  const auto found = std::ranges::find(all, flag, &Setting::flag);
  CHECK(found != all.end());
  return *found;
}

// Addresses, origins and keys are what they are for `serve`.
base::Result<LocalDynamodb> read_flags(const DynamodbFlags& flags) {
  Settings settings;
  SettingErrors errors;
  errors.add(apply(settings, setting_of("--dynamodb"), {flags.host + ":" + flags.port}, "-host and -port"));
  if (!flags.origins.empty()) errors.add(apply(settings, setting_of("--allowed-origin"), flags.origins, "-cors"));
  if (!flags.keys.empty()) errors.add(apply(settings, setting_of("--access-key"), flags.keys, "-accessKey"));
  TRY_VOID(errors.result());
  if (!net::Address{settings.dynamodb_host, 0}.is_loopback() && settings.access_keys.empty())
    return base::invalid("-host " + settings.dynamodb_host +
                         " can be reached from other machines, so requests must be signed: give an -accessKey, or "
                         "listen on 127.0.0.1");
  LocalDynamodb local;
  local.host = settings.dynamodb_host;
  local.port = settings.dynamodb_port;
  local.directory = flags.directory;
  local.in_memory = flags.in_memory;
  local.shared = flags.shared;
  local.delays_states = flags.delays_states;
  local.origins = settings.access.origin_policy.origins;
  local.keys = settings.access_keys;
  return local;
}

int run(const DynamodbFlags& flags, const Console& console) {
  const auto local = read_flags(flags);
  if (!local) return report_error(console, local.error(), misuse);
  const auto served = serve_dynamodb(*local, console.out);
  return served ? success : report_error(console, served.error());
}

}  // namespace

void add_dynamodb_command(CommandLine& line) {
  const auto flags = std::make_shared<DynamodbFlags>();
  CLI::App* const command = line.program().add_subcommand(
      "dynamodb", "run the store alone, in the place of DynamoDB Local and with its flags, which may have one dash");
  command->add_option("--port", flags->port, "port to listen on; 0: any free one")->type_name("PORT");
  command->add_option("--host", flags->host, "address to listen on; others than loopback need an --accessKey")
      ->type_name("ADDRESS");
  CLI::Option* const directory = command
                                     ->add_option("--dbPath", flags->directory,
                                                  "keep the tables in this directory; without it, in the current one")
                                     ->type_name("DIRECTORY");
  command->add_flag("--inMemory", flags->in_memory, "keep the tables only until the server ends")->excludes(directory);
  command->add_flag("--sharedDb", flags->shared,
                    "one set of tables for all, instead of one for each region and access key");
  command->add_option("--cors", flags->origins, "origins whose web pages may call, separated by commas")
      ->delimiter(',')
      ->type_name("ORIGIN");
  command->add_flag("--delayTransientStatuses", flags->delays_states,
                    "take time to create, change and delete tables, and show the states in between");
  command->add_option("--accessKey", flags->keys, "accept requests signed with this key only; repeat the flag for more")
      ->type_name("ID:SECRET");
  command->add_flag("--optimizeDbBeforeStartup", flags->ignored, "accepted, and without effect");
  command->add_flag("--disableTelemetry", flags->ignored, "accepted, and without effect");
  line.add({command, [flags](const Console& console) { return run(*flags, console); }, "", {}});
}

}  // namespace postino::app
