#include "app/settings/audit_settings.h"

#include "app/settings/setting_values.h"

namespace postino::app {

namespace {

base::Result<void> take_kept(Settings& settings, const std::string& text) {
  constexpr base::Milliseconds least = std::chrono::days(1);
  constexpr base::Milliseconds most = std::chrono::days(3'650);
  TRY(const base::Milliseconds kept, parse_duration(text));
  if (kept < least || kept > most) return base::invalid("must be a duration from 1d to 3650d");
  settings.audit.kept = kept;
  return {};
}

}  // namespace

std::vector<Setting> audit_settings() {
  using enum SettingKind;
  return {
      {"audit.off", "--no-audit", "POSTINO_NO_AUDIT", "",
       "do not write down who has done what, and have no table for it", flag, take_boolean<&AuditSettings::off>,
       show_boolean<&AuditSettings::off>},
      {"audit.table", "--audit-table", "POSTINO_AUDIT_TABLE", "NAME", "table of the audit", text,
       take_table<&AuditSettings::table>, show_text<&AuditSettings::table>},
      {"audit.keep", "--audit-keep", "POSTINO_AUDIT_KEEP", "DURATION",
       "how long entries of the audit are kept that are written from now on, from 1d to 3650d", text, take_kept,
       show_duration_of<&AuditSettings::kept>},
  };
}

base::Result<void> check_audit(const Settings& settings) {
  if (settings.audit.off) return {};
  SettingErrors errors;
  for (const auto& [flag, table] :
       {std::pair("--outbox-table", settings.outbox.table), std::pair("--messages-table", settings.idempotency.table),
        std::pair("--queues-table", settings.messages.queues), std::pair("--reminders-table", settings.reminders.table),
        std::pair("--tickets-table", settings.tickets.table), std::pair("--metrics-table", settings.metrics.table)})
    if (table == settings.audit.table) errors.add("--audit-table and " + std::string(flag) + " must differ");
  return errors.result();
}

}  // namespace postino::app
