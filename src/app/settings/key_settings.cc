#include "app/settings/key_settings.h"

#include "app/settings/setting_values.h"

namespace postino::app {

namespace {

// "north=50/s" or "north=10000/d".
base::Result<void> take_tenant_quota(Settings& settings, const std::string& text) {
  const std::string rule = "must be TENANT=NUMBER/s, requests a second, or TENANT=NUMBER/d, e-mails a day";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.size() < equals + 4 || text[text.size() - 2] != '/')
    return base::invalid(rule);
  const std::string tenant = text.substr(0, equals);
  TRY_VOID(access::check_key_name("the tenant", tenant));
  const char window = text.back();
  if (window != 's' && window != 'd') return base::invalid(rule);
  constexpr int most = 1'000'000'000;
  const auto count = parse_integer(text.substr(equals + 1, text.size() - equals - 3), 1, most);
  if (!count) return base::invalid(rule);
  access::Quota& quota = settings.keys.tenant_quotas[tenant];
  (window == 's' ? quota.requests_per_second : quota.emails_per_day) = *count;
  return {};
}

std::string show_tenant_quotas(const Settings& settings) {
  std::string list = "[";
  const auto add = [&list](const std::string& tenant, std::int64_t count, const char* window) {
    if (count > 0)
      list.append(list.size() > 1 ? ", " : "").append(quoted(tenant + "=" + std::to_string(count) + window));
  };
  for (const auto& [tenant, quota] : settings.keys.tenant_quotas) {
    add(tenant, quota.requests_per_second, "/s");
    add(tenant, quota.emails_per_day, "/d");
  }
  return list + "]";
}

}  // namespace

std::vector<Setting> key_settings() {
  using enum SettingKind;
  return {
      {"keys.off", "--no-stored-keys", "POSTINO_NO_STORED_KEYS", "",
       "let no key count that is in the store, and have no table for them", flag, take_boolean<&KeySettings::off>,
       show_boolean<&KeySettings::off>},
      {"keys.table", "--keys-table", "POSTINO_KEYS_TABLE", "NAME", "table of the keys in the store", text,
       take_table<&KeySettings::table>, show_text<&KeySettings::table>},
      {"keys.sealing_key", "--sealing-key", "POSTINO_SEALING_KEY", "FILE",
       "file with the key that seals the keys in the store: 64 hexadecimal digits. Without it, sealing.key in the data "
       "directory, which is made with the first key; with --store dynamodb no key is in the store",
       text, take_text<&KeySettings::sealing_key>, show_text<&KeySettings::sealing_key>},
      {"keys.tenant_quotas", "--tenant-quota", "POSTINO_TENANT_QUOTAS", "TENANT=NUMBER/s|d",
       "requests a second (10/s) or e-mails a day (1000/d) that callers of a tenant may have together. Repeat the "
       "flag, "
       "or separate quotas by commas in the environment",
       list, take_tenant_quota, show_tenant_quotas, [](Settings& all) { all.keys.tenant_quotas.clear(); }},
  };
}

bool keeps_keys(const Settings& settings) {
  if (settings.outbox.off || settings.keys.off) return false;
  return settings.store == StoreKind::embedded || !settings.keys.sealing_key.empty();
}

base::Result<void> check_keys(const Settings& settings) {
  if (!keeps_keys(settings)) return {};
  SettingErrors errors;
  for (const auto& [flag, table] :
       {std::pair("--outbox-table", settings.outbox.table), std::pair("--messages-table", settings.idempotency.table),
        std::pair("--queues-table", settings.messages.queues), std::pair("--reminders-table", settings.reminders.table),
        std::pair("--tickets-table", settings.tickets.table), std::pair("--metrics-table", settings.metrics.table),
        std::pair("--audit-table", settings.audit.table)})
    if (table == settings.keys.table) errors.add("--keys-table and " + std::string(flag) + " must differ");
  return errors.result();
}

}  // namespace postino::app
