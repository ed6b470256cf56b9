#include "app/settings/ticket_settings.h"

#include "app/settings/setting_values.h"
#include "mail/address.h"
#include "net/url.h"

namespace postino::app {

namespace {

using Tickets = TicketSettings;
using Objects = ObjectSettings;

constexpr Choices<support::DataForm, 2> data_forms{
    {{{"map", support::DataForm::map}, {"json", support::DataForm::json}}}};

base::Result<void> take_data_form(Settings& settings, const std::string& text) {
  TRY(settings.tickets.data, data_forms.parse(text));
  return {};
}

template <auto member>
base::Result<void> take_mailbox(Settings& settings, const std::string& text) {
  if (!text.empty()) TRY_VOID(mail::parse_mailbox(text));
  field(settings, member) = text;
  return {};
}

base::Result<void> take_engineer(Settings& settings, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string rule = "must be NAME=ADDRESS, such as eng_1=ann@example.com";
  if (equals == 0 || equals == std::string::npos) return base::invalid(rule);
  const std::string address = text.substr(equals + 1);
  const auto mailbox = mail::parse_mailbox(address);
  if (!mailbox || mailbox->address != address) return base::invalid(rule);
  if (!settings.tickets.engineers.emplace(text.substr(0, equals), address).second)
    return base::invalid("must name each engineer once");
  return {};
}

std::string show_engineers(const Settings& settings) {
  std::string list = "[";
  for (const auto& [name, address] : settings.tickets.engineers)
    list.append(list.size() > 1 ? ", " : "").append(quoted(name + "=" + address));
  return list + "]";
}

base::Result<void> take_endpoint(Settings& settings, const std::string& text) {
  if (!text.empty()) {
    TRY(const net::Url url, net::Url::parse(text));
    if (url.target != "/") return base::invalid("must be the URL of a server, without a path");
  }
  settings.objects.endpoint = text;
  return {};
}

}  // namespace

std::vector<Setting> ticket_settings() {
  using enum SettingKind;
  return {
      {"tickets.off", "--no-tickets", "POSTINO_NO_TICKETS", "", "have no support desk, and no table of tickets", flag,
       take_boolean<&Tickets::off>, show_boolean<&Tickets::off>},
      {"tickets.table", "--tickets-table", "POSTINO_TICKETS_TABLE", "NAME", "table of tickets", text,
       take_table<&Tickets::table>, show_text<&Tickets::table>},
      {"tickets.data", "--tickets-data", "POSTINO_TICKETS_DATA", "FORM",
       "how new tickets have their attribute data: map, or json for a text with JSON", text, take_data_form,
       [](const Settings& all) { return data_forms.show(all.tickets.data); }},
      {"tickets.shards", "--tickets-shards", "POSTINO_TICKETS_SHARDS", "COUNT",
       "partitions that the tickets of one status, product, error code or priority are spread over", text,
       take_integer<&Tickets::shards, 1, 64>, show_number<&Tickets::shards>},
      {"tickets.from", "--tickets-from", "POSTINO_TICKETS_FROM", "ADDRESS",
       "sender of e-mails of tickets; without it they send none", text, take_mailbox<&Tickets::from>,
       show_text<&Tickets::from>},
      {"tickets.reply_to", "--tickets-reply-to", "POSTINO_TICKETS_REPLY_TO", "ADDRESS",
       "where answers of customers go; if not set, to the sender", text, take_mailbox<&Tickets::reply_to>,
       show_text<&Tickets::reply_to>},
      {"tickets.acknowledge", "--acknowledge-tickets", "POSTINO_ACKNOWLEDGE_TICKETS", "",
       "send an acknowledgement to the customer of a new ticket", flag, take_boolean<&Tickets::acknowledge>,
       show_boolean<&Tickets::acknowledge>},
      {"tickets.engineers", "--engineer", "POSTINO_ENGINEERS", "NAME=ADDRESS",
       "engineer who gets an e-mail when a ticket is escalated to NAME. Repeat the flag, or separate engineers by "
       "commas "
       "in the environment",
       list, take_engineer, show_engineers, [](Settings& all) { all.tickets.engineers.clear(); }},
      {"tickets.no_adoption", "--no-ticket-adoption", "POSTINO_NO_TICKET_ADOPTION", "",
       "do not complete tickets that other programs write: another server does", flag,
       take_boolean<&Tickets::no_adoption>, show_boolean<&Tickets::no_adoption>},
      {"tickets.attachment_mb", "--attachment-mb", "POSTINO_ATTACHMENT_MB", "COUNT",
       "megabytes that one attachment of a ticket may have", text, take_integer<&Tickets::attachment_megabytes, 1, 32>,
       show_number<&Tickets::attachment_megabytes>},
      {"objects.directory", "--objects", "POSTINO_OBJECTS", "DIRECTORY",
       "directory of large things, such as attachments of tickets; if not set, objects in the data directory", text,
       take_text<&Objects::directory>, show_text<&Objects::directory>},
      {"objects.bucket", "--objects-bucket", "POSTINO_OBJECTS_BUCKET", "NAME",
       "bucket of an S3-compatible object store that they are in, in the place of a directory", text,
       take_text<&Objects::bucket>, show_text<&Objects::bucket>},
      {"objects.endpoint", "--objects-endpoint", "POSTINO_OBJECTS_ENDPOINT", "URL",
       "URL of that object store, such as https://s3.eu-west-1.amazonaws.com", text, take_endpoint,
       show_text<&Objects::endpoint>},
      {"objects.region", "--objects-region", "POSTINO_OBJECTS_REGION", "NAME", "region of the bucket", text,
       take_text<&Objects::region>, show_text<&Objects::region>},
      {"objects.key_id", "--objects-key-id", "POSTINO_OBJECTS_KEY_ID", "ID", "access key for the bucket", text,
       take_text<&Objects::key_id>, show_text<&Objects::key_id>},
      {"objects.secret", "--objects-secret", "POSTINO_OBJECTS_SECRET", "SECRET", "secret of the access key", text,
       take_text<&Objects::secret>, show_secret<&Objects::secret>},
      {"objects.ca", "--objects-ca", "POSTINO_OBJECTS_CA", "FILE",
       "certificate authorities (PEM) to trust instead of the system's", text, take_text<&Objects::ca>,
       show_text<&Objects::ca>},
      {"objects.timeout", "--objects-timeout", "POSTINO_OBJECTS_TIMEOUT", "TIME",
       "longest time that a request waits for the bucket, 1s to 10m", text, take_duration<&Objects::timeout>,
       show_duration_of<&Objects::timeout>},
  };
}

base::Result<void> check(const TicketSettings& settings) {
  if (settings.off || !settings.from.empty()) return {};
  if (settings.acknowledge) return base::invalid("--acknowledge-tickets needs --tickets-from, the sender");
  if (!settings.engineers.empty()) return base::invalid("--engineer needs --tickets-from, the sender");
  return {};
}

base::Result<void> check(const ObjectSettings& settings) {
  SettingErrors errors;
  if (settings.timeout < std::chrono::seconds(1) || settings.timeout > std::chrono::minutes(10))
    errors.add("--objects-timeout must be from 1s to 10m");
  if (!settings.directory.empty() && !settings.bucket.empty())
    errors.add("--objects and --objects-bucket must not be given together");
  return errors.result();
}

base::Result<void> check_bucket(const ObjectSettings& settings, const std::string& flag, bool finds_keys) {
  SettingErrors errors;
  if (settings.endpoint.empty()) errors.add(flag + " needs --objects-endpoint");
  const bool has_none = settings.key_id.empty() && settings.secret.empty();
  if (!(has_none && finds_keys) && (settings.key_id.empty() || settings.secret.empty()))
    errors.add(flag + " needs --objects-key-id and --objects-secret" +
               (finds_keys ? ", or none of them: then the keys of the store count" : ""));
  return errors.result();
}

}  // namespace postino::app
