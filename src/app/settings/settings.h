// What can be configured: one list, from which come the flags, the environment variables, the keys of the
// configuration file and their help. A flag wins over the environment, the environment over the file.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/access_settings.h"
#include "app/settings/audit_settings.h"
#include "app/settings/backup_settings.h"
#include "app/settings/capacity_settings.h"
#include "app/settings/key_settings.h"
#include "app/settings/messages_settings.h"
#include "app/settings/metrics_settings.h"
#include "app/settings/outbox_settings.h"
#include "app/settings/reminder_settings.h"
#include "app/settings/remote_settings.h"
#include "app/settings/ticket_settings.h"
#include "base/log.h"
#include "base/result.h"
#include "engine/engine.h"
#include "wire/endpoint.h"

namespace postino::app {

struct Settings {
  std::filesystem::path data = "postino-data";
  std::string region = "us-east-1";
  std::string account = "123456789012";

  std::string dynamodb_host = "127.0.0.1";  // an IP address
  std::uint16_t dynamodb_port = 8'000;
  std::vector<wire::AccessKey> access_keys;
  std::string tls_certificate;
  std::string tls_key;
  int threads = 0;
  int max_connections = 20'000;
  bool realistic_timing = false;
  base::Milliseconds deletion_delay{0};     // what is deleted can be restored so long
  std::string export_directory;             // the directories in it are buckets for exports and imports; or
  std::vector<std::string> export_buckets;  // these, where the objects are
  bool enforce_throughput = false;
  wire::FaultInjection faults;

  StoreKind store = StoreKind::embedded;
  RemoteSettings remote;  // when the store is not embedded
  engine::Durability durability = engine::Durability::synced;
  int cache_megabytes = 64;
  int reserve_megabytes = 64;

  base::LogLevel log_level = base::LogLevel::info;
  base::LogFormat log_format = base::LogFormat::text;
  std::string log_file;  // empty: standard error
  bool log_requests = false;
  std::chrono::seconds shutdown_grace{10};

  AccessSettings access;
  AuditSettings audit;
  BackupSettings backups;
  KeySettings keys;
  OutboxSettings outbox;
  idempotency::GuardOptions idempotency;  // of keyed calls, but for those that hand in e-mails
  MessagesSettings messages;
  ReminderSettings reminders;
  CapacitySettings capacity;
  TicketSettings tickets;
  ObjectSettings objects;
  MetricsSettings metrics;
};

enum class SettingKind { text, list, flag };

struct Setting {
  std::string_view key;         // in the configuration file: "dynamodb.address"
  std::string_view flag;        // "--dynamodb"
  std::string_view variable;    // "POSTINO_DYNAMODB"
  std::string_view value_name;  // "HOST:PORT"
  std::string_view help;
  SettingKind kind = SettingKind::text;
  // Takes the text; of a list, each element in turn after `clear`. The error tells the rule, not the setting.
  base::Result<void> (*take)(Settings& settings, const std::string& text);
  // The value as the configuration file would have it, secrets left out. nullptr where the file says it in other words.
  std::string (*show)(const Settings& settings);
  void (*clear)(Settings& settings) = nullptr;
  std::string_view former_key = {};  // an earlier name of `key`, which the configuration file may still use
  char separator = ',';              // of the elements of a list in the environment
};

// Errors that were found together, which become one with a line for each.
class SettingErrors {
 public:
  void add(const base::Result<void>& checked) {
    if (!checked) add(checked.error());
  }
  void add(const base::Error& error);
  void add(std::string message) { add(base::Error{base::ErrorCode::invalid, std::move(message)}); }
  base::Result<void> result() const;

 private:
  std::optional<base::Error> all_;
};

// What is shown in place of a secret. It is refused as a value, so that what is shown cannot be used as it is.
inline constexpr std::string_view secret_mark = "<redacted>";

const std::vector<Setting>& all_settings();
std::vector<Setting> access_settings();  // those about who may call, among them
std::vector<Setting> policy_settings();  // and about what they may do
std::vector<Setting> remote_settings();  // those of a store on other machines
std::vector<Setting> outbox_settings();  // those of the outbox
std::vector<Setting> mysql_settings();   // those of its database among these
std::vector<Setting> messages_settings();
std::vector<Setting> reminder_settings();
std::vector<Setting> capacity_settings();
std::vector<Setting> ticket_settings();  // and of the object store
std::vector<Setting> metrics_settings();
std::vector<Setting> audit_settings();
std::vector<Setting> backup_settings();
std::vector<Setting> key_settings();

// What follows goes on after an error, and fails with all that were found.

// Applies values that came from somewhere; `origin` is how an error calls it, for example "--threads".
base::Result<void> apply(Settings& settings, const Setting& setting, const std::vector<std::string>& values,
                         const std::string& origin);
// not_found when there is none, malformed when it is not TOML: then nothing is applied.
base::Result<void> apply_file(Settings& settings, const std::filesystem::path& file);
// `variable` looks up an environment variable, nullptr when it is not set.
base::Result<void> apply_environment(Settings& settings,
                                     const std::function<const char*(const std::string& name)>& variable);

// Of these names of environment variables, those that are probably misspelt, with what was meant: "POSTINO_SMPT is no
// setting; did you mean POSTINO_SMTP?". Other unknown ones are passed over: container systems make some of the name of
// a service.
std::vector<std::string> misspelt_variables(const std::vector<std::string>& names);

// Rules that concern several settings.
base::Result<void> check(const Settings& settings);
base::Result<void> check_policies(const Settings& settings);
base::Result<void> check_audit(const Settings& settings);
base::Result<void> check_backups(const Settings& settings);
base::Result<void> check_keys(const Settings& settings);
base::Result<void> check_metrics(const Settings& settings);  // those of metrics, among them

// Are there keys in the store? Then it is not known from the settings alone whether an address is open to everybody.
bool keeps_keys(const Settings& settings);

// All settings as a configuration file, secrets left out.
std::string show(const Settings& settings);

// What would be ignored beside the other settings, and why: "--several-servers has no effect without --ledger mysql".
// Only a setting that differs from its default is looked at.
std::vector<std::string> settings_without_effect(const Settings& settings);

}  // namespace postino::app
