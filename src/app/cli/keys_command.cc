#include <CLI/CLI.hpp>
#include <memory>

#include "app/access/audit_service.h"
#include "app/access/key_service.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/cli/listing_command.h"
#include "app/cli/operation_command.h"
#include "app/cli/setting_flags.h"
#include "app/store/open_store.h"
#include "app/store/service_tables.h"
#include "base/log.h"

namespace postino::app {

namespace {

struct InitFlags {
  SettingFlags settings;
  std::string name = "admin";
};

const Listing& key_listing() {
  static const Listing listing{"listKeys",
                               "reading keys",
                               {{"KEY", "id"},
                                {"KIND", "kind"},
                                {"NAME", "name"},
                                {"ROLE", "role"},
                                {"TENANT", "tenant"},
                                {"STATE", "state"},
                                {"LAST USED", "last_used_at"},
                                {"EXPIRES", "expires_at"}}};
  return listing;
}

base::Result<access::MadeKey> make_in_store(const Settings& settings, const std::string& name) {
  if (!keeps_keys(settings))
    return base::invalid("these settings keep no keys in the store: with --store dynamodb, --sealing-key is needed");
  const base::SystemClock machine_clock;
  TRY(const std::unique_ptr<OpenStore> opened, open_store(settings, machine_clock, {}));
  std::unique_ptr<AuditService> audit;
  if (const auto options = audit_options(settings)) {
    TRY(audit, AuditService::create(opened->store(), *options, *opened->clock()));
  }
  access::Audit* const log = audit ? &audit->log() : nullptr;
  TRY(const std::unique_ptr<KeyService> keys, KeyService::create(opened->store(), settings, *opened->clock(), log));
  access::KeyRights rights;
  rights.name = name;
  rights.role = api::name_of(api::Role::operators);
  auto made = keys->ring().create(rights, std::nullopt, {"", access::AuditEvent::local});
  if (audit) audit->log().stop();
  return made;
}

int run_init(const InitFlags& flags, const Console& console) {
  const auto settings = settings_of(flags.settings);
  if (!settings) return report_setting_errors(console, settings.error());
  base::configure_log(base::LogLevel::error, settings->log_format);
  auto made = make_in_store(*settings, flags.name);
  if (!made && made.error().code == base::ErrorCode::conflict)
    made.error().message += "; if a postino serve uses the store, stop it first, or use postino keys create";
  if (!made) return report_error(console, made.error());
  console.errors << "The API key " << made->key.id << " of " << flags.name
                 << " has the role operator. This is its secret, which is not shown again:\n";
  console.out << made->secret << "\n";
  return success;
}

void add_init_command(CommandLine& line, CLI::App& keys) {
  CLI::App* const command = keys.add_subcommand(
      "init", "make an operator's API key in the store itself, while no server runs, and print its secret");
  const auto flags = std::make_shared<InitFlags>();
  command->add_option("--name", flags->name, "name of the key")->type_name("NAME")->capture_default_str();
  add_setting_flags(*command, flags->settings, names_tables);
  add_examples(*command, {"export POSTINO_API_KEY=$(postino keys init --data /var/lib/postino --name anna)"});
  line.add({command, [flags](const Console& console) { return run_init(*flags, console); }, "", {}});
}

}  // namespace

void add_keys_command(CommandLine& line) {
  CLI::App& keys = add_command_group(line, line.program(), "keys", "make, list, replace and delete keys of both APIs");
  ClientCommand list(line, keys, "list", key_listing().operation);
  run_listing(list, key_listing());
  for (const OperationCommand& each :
       {OperationCommand{"create", "createKey"}, OperationCommand{"rotate", "rotateKey"},
        OperationCommand{"session", "beginKeySession"}, OperationCommand{"disable", "disableKey"},
        OperationCommand{"enable", "enableKey"}, OperationCommand{"delete", "deleteKey"}})
    add_operation_command(line, keys, each);
  add_init_command(line, keys);
  add_examples(keys, {"postino keys create --name shop --role sender",
                      "postino keys create --name desk --kind access_key --policy-file desk.json",
                      "postino keys rotate pk_0123456789abcdef", "postino keys list"});
}

}  // namespace postino::app
