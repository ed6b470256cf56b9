#include "app/settings/reminder_settings.h"

#include <algorithm>

#include "app/settings/setting_values.h"
#include "mail/address.h"

namespace postino::app {

namespace {

using Reminder = ReminderSettings;

constexpr const char* rule_form = "must be TYPE:PAUSE or TYPE:PAUSE:FOLLOWED:TIME, such as second:5d:first:7d";

std::vector<std::string> split_at_colons(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

base::Result<void> take_rule(Settings& settings, const std::string& text) {
  const std::vector<std::string> parts = split_at_colons(text);
  if (parts.size() != 2 && parts.size() != 4) return base::invalid(rule_form);
  reminders::Rule rule;
  rule.type = parts[0];
  const auto pause = parse_duration(parts[1]);
  if (!pause) return base::invalid(rule_form);
  rule.pause = *pause;
  if (parts.size() == 4) {
    const auto after = parse_duration(parts[3]);
    if (!after || parts[2].empty()) return base::invalid(rule_form);
    rule.follows = parts[2];
    rule.after_followed = *after;
  }
  settings.reminders.rules.push_back(std::move(rule));
  return {};
}

std::string show_rules(const Settings& settings) {
  std::string list = "[";
  for (const reminders::Rule& rule : settings.reminders.rules) {
    if (list.size() > 1) list += ", ";
    const std::string after = rule.follows.empty() ? "" : ":" + rule.follows + ":" + show_duration(rule.after_followed);
    list += quoted(rule.type + ":" + show_duration(rule.pause) + after);
  }
  return list + "]";
}

base::Result<void> take_currency(Settings& settings, const std::string& text) {
  const bool is_currency =
      text.size() == 3 && std::ranges::all_of(text, [](char each) { return each >= 'A' && each <= 'Z'; });
  if (!is_currency) return base::invalid("must be the three capital letters of a currency, such as EUR");
  settings.reminders.currency = text;
  return {};
}

base::Result<void> take_sender(Settings& settings, const std::string& text) {
  if (!text.empty()) TRY_VOID(mail::parse_mailbox(text));
  settings.reminders.from = text;
  return {};
}

}  // namespace

std::vector<Setting> reminder_settings() {
  using enum SettingKind;
  return {
      {"reminders.off", "--no-reminders", "POSTINO_NO_REMINDERS", "",
       "have no payment reminders, and no tables of them", flag, take_boolean<&Reminder::off>,
       show_boolean<&Reminder::off>},
      {"reminders.table", "--reminders-table", "POSTINO_REMINDERS_TABLE", "NAME",
       "table of payment reminders; that of their audit is called NAME-audit", text, take_table<&Reminder::table>,
       show_text<&Reminder::table>},
      {"reminders.shards", "--reminders-shards", "POSTINO_REMINDERS_SHARDS", "COUNT",
       "partitions that the drafts, and the reminders, of one status are spread over", text,
       take_integer<&Reminder::shards, 1, 64>, show_number<&Reminder::shards>},
      {"reminders.rules", "--reminder-rule", "POSTINO_REMINDER_RULES", "TYPE:PAUSE[:FOLLOWED:TIME]",
       "type of reminder: how long after the last one of this type it may be sent, and how long after the last one of "
       "the type that it follows. Repeat the flag, or separate rules by commas in the environment; they take the place "
       "of all rules",
       list, take_rule, show_rules, [](Settings& all) { all.reminders.rules.clear(); }},
      {"reminders.other_person", "--other-person-approves", "POSTINO_OTHER_PERSON_APPROVES", "",
       "the person who drafted a reminder may not approve it", flag, take_boolean<&Reminder::other_person>,
       show_boolean<&Reminder::other_person>},
      {"reminders.currency", "--reminders-currency", "POSTINO_REMINDERS_CURRENCY", "CODE",
       "currency of amounts that other programs wrote without one", text, take_currency,
       show_text<&Reminder::currency>},
      {"reminders.from", "--reminders-from", "POSTINO_REMINDERS_FROM", "ADDRESS",
       "sender of reminders whose branding names none", text, take_sender, show_text<&Reminder::from>},
  };
}

base::Result<void> check(const ReminderSettings& settings) {
  if (settings.off) return {};
  if (settings.rules.empty()) return base::invalid("--reminder-rule: there must be a rule, or --no-reminders");
  if (const auto rules = reminders::Rules::make(settings.rules); !rules)
    return base::invalid("--reminder-rule: " + rules.error().message);
  return {};
}

}  // namespace postino::app
