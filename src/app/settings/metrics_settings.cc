#include "app/settings/metrics_settings.h"

#include <set>
#include <utility>

#include "app/settings/setting_values.h"
#include "messages/connections.h"
#include "metrics/subscribers.h"
#include "net/url.h"

namespace postino::app {

namespace {

using Figures = MetricsSettings;

constexpr std::string_view queue_begin = "queue:", file_begin = "file:";
constexpr const char* subscriber_form =
    "must be NAME=TABLE:URL, NAME=TABLE:queue:[CONNECTION:]QUEUE or NAME=TABLE:file:DIRECTORY";
constexpr base::Milliseconds longest_window = std::chrono::minutes(5);
constexpr std::size_t most_subscribers = 50;
constexpr std::size_t longest_queue = 255;

base::Result<void> take_subscriber(Settings& settings, const std::string& text) {
  TRY(ChangeSubscriber subscriber, parse_subscriber(text));
  settings.metrics.subscribers.push_back(std::move(subscriber));
  return {};
}

std::string show_subscribers(const Settings& settings) {
  std::string list = "[";
  for (const ChangeSubscriber& subscriber : settings.metrics.subscribers) {
    if (list.size() > 1) list += ", ";
    list += quoted(subscriber.text());
  }
  return list + "]";
}

base::Result<void> take_window(Settings& settings, const std::string& text) {
  TRY(const base::Milliseconds window, parse_duration(text));
  if (window > longest_window) return base::invalid("must be a duration up to 5m");
  settings.metrics.window = window;
  return {};
}

}  // namespace

std::string ChangeSubscriber::text() const {
  std::string place;
  if (kind == Kind::queue) place = std::string(queue_begin) + (connection.empty() ? "" : connection + ":");
  if (kind == Kind::files) place = file_begin;
  return name + "=" + table + ":" + place + target;
}

base::Result<ChangeSubscriber> parse_subscriber(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = equals == std::string::npos ? equals : text.find(':', equals);
  if (colon == std::string::npos) return base::invalid(subscriber_form);
  ChangeSubscriber subscriber;
  subscriber.name = text.substr(0, equals);
  subscriber.table = text.substr(equals + 1, colon - equals - 1);
  subscriber.target = text.substr(colon + 1);
  if (!metrics::is_subscriber_name(subscriber.name))
    return base::invalid("must have a NAME of 1 to 64 of a-z, 0-9, - and _");
  if (!is_table_name(subscriber.table)) return base::invalid(subscriber_form);
  std::string& target = subscriber.target;
  if (target.starts_with(queue_begin)) {
    subscriber.kind = ChangeSubscriber::Kind::queue;
    target.erase(0, queue_begin.size());
    if (const std::size_t end = target.find(':'); end != std::string::npos) {
      subscriber.connection = target.substr(0, end);
      target.erase(0, end + 1);
    }
    if (target.empty() || target.size() > longest_queue) return base::invalid(subscriber_form);
  } else if (target.starts_with(file_begin)) {
    target.erase(0, file_begin.size());
    if (target.empty()) return base::invalid(subscriber_form);
  } else {
    subscriber.kind = ChangeSubscriber::Kind::webhook;
    if (!target.starts_with("http://") && !target.starts_with("https://")) return base::invalid(subscriber_form);
    if (const auto url = net::Url::parse(target); !url)
      return base::invalid("must have a URL that " + url.error().message);
  }
  return subscriber;
}

std::vector<Setting> metrics_settings() {
  using enum SettingKind;
  return {
      {"metrics.off", "--no-metrics", "POSTINO_NO_METRICS", "",
       "count nothing from the changes of tables, and have no table of metrics", flag, take_boolean<&Figures::off>,
       show_boolean<&Figures::off>},
      {"metrics.table", "--metrics-table", "POSTINO_METRICS_TABLE", "NAME", "table of metrics", text,
       take_table<&Figures::table>, show_text<&Figures::table>},
      {"metrics.with_emails", "--email-metrics", "POSTINO_EMAIL_METRICS", "",
       "count e-mails from the changes of their table, for their history; each e-mail then takes more processor time "
       "and disk",
       flag, take_boolean<&Figures::emails>, show_boolean<&Figures::emails>},
      {"metrics.batch", "--metrics-batch", "POSTINO_METRICS_BATCH", "COUNT",
       "changes that are counted or delivered together", text, take_integer<&Figures::batch, 1, 1'000>,
       show_number<&Figures::batch>},
      {"metrics.window", "--metrics-window", "POSTINO_METRICS_WINDOW", "DURATION",
       "how long a batch of changes waits to be full, up to 5m", text, take_window, show_duration_of<&Figures::window>},
      {"metrics.retries", "--metrics-retries", "POSTINO_METRICS_RETRIES", "COUNT",
       "how often a change that fails by itself is tried again before it is set aside", text,
       take_integer<&Figures::retries, 0, 100>, show_number<&Figures::retries>},
      {"metrics.subscribers", "--subscriber", "POSTINO_SUBSCRIBERS", "NAME=TABLE:TARGET",
       "send the changes of a table elsewhere: TARGET is a URL, queue:[CONNECTION:]QUEUE or file:DIRECTORY. It goes on "
       "under its NAME after a restart. Repeat the flag, or separate subscribers by commas in the environment",
       list, take_subscriber, show_subscribers, [](Settings& all) { all.metrics.subscribers.clear(); }},
  };
}

base::Result<void> check_metrics(const Settings& all) {
  const MetricsSettings& settings = all.metrics;
  if (settings.off) return {};
  SettingErrors errors;
  if (settings.emails && all.outbox.ledger == LedgerKind::mysql)
    errors.add("--email-metrics needs e-mails in the store: a database has no change stream");
  for (const auto& [flag, table] :
       {std::pair("--outbox-table", all.outbox.table), std::pair("--messages-table", all.idempotency.table),
        std::pair("--queues-table", all.messages.queues), std::pair("--reminders-table", all.reminders.table),
        std::pair("--tickets-table", all.tickets.off ? "" : all.tickets.table)})
    if (table == settings.table) errors.add("--metrics-table and " + std::string(flag) + " must differ");
  if (settings.subscribers.size() > most_subscribers)
    errors.add("--subscriber: there must not be more than " + std::to_string(most_subscribers));
  std::set<std::string> names;
  for (const ChangeSubscriber& subscriber : settings.subscribers) {
    const std::string origin = "--subscriber " + subscriber.name + ": ";
    if (!names.insert(subscriber.name).second) errors.add(origin + "there are two of this name");
    // Its own checkpoints would be changes again, without end.
    if (subscriber.table == settings.table) errors.add(origin + "must not be for the table of metrics");
    const std::string& connection = subscriber.connection;
    const bool is_known = connection.empty() || connection == messages::embedded_connection ||
                          all.messages.connections.contains(connection);
    if (!is_known) errors.add(origin + "unknown connection " + connection);
    // A message in the store is a change of the table of queues.
    const bool is_endless = subscriber.kind == ChangeSubscriber::Kind::queue && subscriber.table == all.messages.queues;
    if (is_endless) errors.add(origin + "changes of the table of queues must not go to a queue");
  }
  return errors.result();
}

}  // namespace postino::app
