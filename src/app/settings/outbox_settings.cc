#include "app/settings/outbox_settings.h"

#include <set>

#include "app/settings/setting_values.h"
#include "mail/address.h"
#include "net/address.h"
#include "net/url.h"
#include "objects/object_store.h"
#include "outbox/email/policy.h"
#include "outbox/ledger/kept_spool.h"
#include "outbox/transport/webhook.h"
#include "store/shard_note.h"

namespace postino::app {

namespace {

using Outbox = OutboxSettings;

// What follows are takers; an empty text takes a setting back, where it may be missing.

constexpr Choices<smtp::TlsPolicy, 4> tls_policies = {{{{"off", smtp::TlsPolicy::off},
                                                        {"opportunistic", smtp::TlsPolicy::opportunistic},
                                                        {"required", smtp::TlsPolicy::required},
                                                        {"implicit", smtp::TlsPolicy::implicit}}}};
constexpr Choices<LedgerKind, 2> ledger_kinds = {{{{"store", LedgerKind::store}, {"mysql", LedgerKind::mysql}}}};
constexpr Choices<outbox::UnknownOutcomePolicy, 2> unknown_outcome_policies = {
    {{{"resend", outbox::UnknownOutcomePolicy::resend}, {"hold", outbox::UnknownOutcomePolicy::hold}}}};

base::Result<void> take_http_address(Settings& settings, const std::string& text) {
  TRY(net::Address address, net::Address::parse(text));
  settings.outbox.http_host = std::move(address.host);
  settings.outbox.http_port = address.port;
  return {};
}

base::Result<void> take_api_key(Settings& settings, const std::string& text) {
  TRY(api::ApiKey key, api::parse_api_key(text));
  settings.outbox.api_keys.push_back(std::move(key));
  return {};
}

base::Result<void> take_user(Settings& settings, const std::string& text) {
  TRY(api::User user, api::parse_user(text));
  settings.outbox.users.push_back(std::move(user));
  return {};
}

// API keys or users, without their secrets.
template <auto member>
std::string show_callers(const Settings& settings) {
  std::string list = "[";
  for (const auto& each : field(settings, member)) {
    if (list.size() > 1) list += ", ";
    list += quoted(api::credential_text(each.caller) + ":" + std::string(secret_mark));
  }
  return list + "]";
}

// Names are what the log, the audit and idempotency keys know callers by. Keys may share one, so that a new secret can
// be given out before the old one goes.
void check_names(const OutboxSettings& settings, SettingErrors& errors) {
  std::set<std::string> names;
  for (const api::ApiKey& key : settings.api_keys) names.insert(key.caller.name);
  for (const api::User& user : settings.users)
    if (!names.insert(user.caller.name).second)
      errors.add("--user " + user.caller.name + ": another user or an API key has this name");
}

base::Result<void> take_relay(Settings& settings, const std::string& text) {
  TRY(HostAndPort address, parse_host_and_port(text));
  settings.outbox.relays.push_back({std::move(address.host), address.port});
  return {};
}

std::string show_relays(const Settings& settings) {
  std::string list = "[";
  for (const RelayAddress& relay : settings.outbox.relays) {
    if (list.size() > 1) list += ", ";
    list += quoted(relay.text());
  }
  return list + "]";
}

base::Result<void> take_tls_policy(Settings& settings, const std::string& text) {
  TRY(settings.outbox.smtp_tls, tls_policies.parse(text));
  return {};
}

base::Result<void> take_spool(Settings& settings, const std::string& text) {
  if (const auto place = parse_bucket_place(text)) {
    constexpr std::size_t prefix_limit = 500;  // what comes after it has room, too
    if (place->bucket.empty() || !objects::check_object_name(place->prefix) || place->prefix.size() >= prefix_limit)
      return base::invalid(
          "must be a directory, or s3://BUCKET/PREFIX, such as s3://mail/spool: a prefix of letters, digits and "
          "slashes, not at its end");
    TRY_VOID(objects::check_bucket_name(place->bucket));
  }
  settings.outbox.spool = text;
  return {};
}

base::Result<void> take_spool_replaces(Settings& settings, const std::string& text) {
  if (!text.empty() && text.size() != outbox::spool_id_size)
    return base::invalid("must be the id of a spool, of 36 characters, as the refusal of a server names it");
  settings.outbox.spool_replaces = text;
  return {};
}

base::Result<void> take_ledger(Settings& settings, const std::string& text) {
  const auto kind = ledger_kinds.parse(text);
  if (!kind && (text == "dynamodb" || text == "embedded"))
    return base::invalid(kind.error().message + ": where the store is, --store " + text + " says");
  TRY(settings.outbox.ledger, kind);
  return {};
}

base::Result<void> take_unknown_outcome(Settings& settings, const std::string& text) {
  TRY(settings.outbox.unknown_outcome, unknown_outcome_policies.parse(text));
  return {};
}

template <auto member>
base::Result<void> take_mail_address(Settings& settings, const std::string& text) {
  if (!text.empty()) TRY_VOID(mail::parse_mailbox(text));
  field(settings, member) = text.empty() ? "" : mail::parse_mailbox(text)->address;
  return {};
}

template <auto member>
base::Result<void> take_host_name(Settings& settings, const std::string& text) {
  if (!text.empty() && !is_host(text)) return base::invalid("must be a host name");
  field(settings, member) = text;
  return {};
}

base::Result<void> take_callback_url(Settings& settings, const std::string& text) {
  if (!text.empty()) TRY_VOID(net::Url::parse(text));
  settings.outbox.callback_url = text;
  return {};
}

base::Result<void> take_callback_secret(Settings& settings, const std::string& text) {
  TRY_VOID(outbox::WebhookSigner::create(text));
  settings.outbox.callback_secret = text;
  return {};
}

std::vector<Setting> http_settings() {
  using enum SettingKind;
  return {
      {"http.address", "--http", "POSTINO_HTTP", "HOST:PORT", "address of the REST API; port 0 takes any free port",
       text, take_http_address,
       [](const Settings& all) {
         return quoted(net::Address{all.outbox.http_host, all.outbox.http_port}.text());
       }},
      {"http.api_keys", "--api-key", "POSTINO_API_KEYS", "NAME:ROLE[@TENANT][/CUSTOMER]:SECRET",
       "API key of a caller of the REST API; ROLE is customer, reader, sender, drafter, approver, auditor, agent or "
       "operator. Repeat the flag, or separate keys by commas in the environment. Without any, everything is allowed, "
       "on loopback "
       "addresses only",
       list, take_api_key, show_callers<&Outbox::api_keys>, [](Settings& all) { all.outbox.api_keys.clear(); }},
      {"http.users",
       "--user",
       "POSTINO_USERS",
       "NAME:ROLE[@TENANT][/CUSTOMER]:HASH",
       "user who signs in to the REST API with a password; 'postino password' makes the HASH. Repeat the flag, or "
       "separate users by spaces in the environment",
       list,
       take_user,
       show_callers<&Outbox::users>,
       [](Settings& all) { all.outbox.users.clear(); },
       {},
       ' '},
      {"http.tls_certificate", "--http-tls-certificate", "POSTINO_HTTP_TLS_CERTIFICATE", "FILE",
       "certificate chain (PEM) of the REST API; turns TLS on", text, take_text<&Outbox::http_tls_certificate>,
       show_text<&Outbox::http_tls_certificate>},
      {"http.tls_key", "--http-tls-key", "POSTINO_HTTP_TLS_KEY", "FILE", "private key of the certificate (PEM)", text,
       take_text<&Outbox::http_tls_key>, show_text<&Outbox::http_tls_key>},
      {"http.require_idempotency_key", "--require-idempotency-key", "POSTINO_REQUIRE_IDEMPOTENCY_KEY", "",
       "refuse e-mails without an Idempotency-Key", flag, take_boolean<&Outbox::require_idempotency_key>,
       show_boolean<&Outbox::require_idempotency_key>},
  };
}

std::vector<Setting> course_settings() {
  using enum SettingKind;
  return {
      {"outbox.off", "--no-outbox", "POSTINO_NO_OUTBOX", "", "serve DynamoDB's API only", flag,
       take_boolean<&Outbox::off>, show_boolean<&Outbox::off>},
      {"outbox.sample", "--sample", "POSTINO_SAMPLE", "",
       "at start, send an e-mail and a payment reminder through the sandbox, close a ticket, send a message through a "
       "queue, and show the outcomes",
       flag, take_boolean<&Outbox::sample>, show_boolean<&Outbox::sample>},
      {"outbox.no_sending", "--no-sending", "POSTINO_NO_SENDING", "",
       "accept e-mails, but send none and make no callbacks: they wait for a start without this flag", flag,
       take_boolean<&Outbox::no_sending>, show_boolean<&Outbox::no_sending>},
      {"outbox.ledger", "--ledger", "POSTINO_LEDGER", "WHERE",
       "where e-mails and their history are kept: store (with all other data, where --store says) or mysql (MySQL or "
       "MariaDB)",
       text, take_ledger, [](const Settings& all) { return ledger_kinds.show(all.outbox.ledger); }},
      {"outbox.table", "--outbox-table", "EMAIL_OUTBOX_TABLE", "NAME",
       "table of the e-mails; the names of the other tables begin with it", text, take_table<&Outbox::table>,
       show_text<&Outbox::table>},
      {"outbox.shards", "--outbox-shards", "POSTINO_OUTBOX_SHARDS", "COUNT",
       "partitions that the work of each state, and the lists of e-mails, are spread over, 4 to 64; it can be raised "
       "while servers run",
       text, take_integer<&Outbox::shards, outbox::least_shards, store::most_shards>, show_number<&Outbox::shards>},
      {"outbox.no_status_index", "--no-status-index", "POSTINO_NO_STATUS_INDEX", "",
       "make the table of e-mails without StatusIndex, which only programs of the former system read: on Amazon "
       "DynamoDB it allows no more than some 1,000 writes per second",
       flag, take_boolean<&Outbox::no_status_index>, show_boolean<&Outbox::no_status_index>},
      {"outbox.spool", "--spool", "POSTINO_SPOOL", "DIRECTORY",
       "directory of payloads and messages, or s3://BUCKET/PREFIX for a bucket of the object store that "
       "--objects-endpoint names; if not set, they are kept with the e-mails",
       text, take_spool, show_text<&Outbox::spool>},
      {"outbox.spool_replaces", "--spool-replaces", "POSTINO_SPOOL_REPLACES", "ID",
       "--spool was moved or changed on purpose, and takes the place of the one with this id, which the refusal of a "
       "server names",
       text, take_spool_replaces, show_text<&Outbox::spool_replaces>},
      {"outbox.attachments", "--attachments", "POSTINO_ATTACHMENTS", "DIRECTORY",
       "directory of attachments that are given by path; if not set, such attachments are refused", text,
       take_text<&Outbox::attachments>, show_text<&Outbox::attachments>},
      {"outbox.message_id_domain", "--message-id-domain", "POSTINO_MESSAGE_ID_DOMAIN", "NAME",
       "domain of Message-IDs; if not set, the sender's domain", text, take_host_name<&Outbox::message_id_domain>,
       show_text<&Outbox::message_id_domain>},
      {"outbox.batch", "--batch", "POSTINO_BATCH", "COUNT", "e-mails claimed at a time", text,
       take_integer<&Outbox::batch, 1, 100>, show_number<&Outbox::batch>},
      {"outbox.lease", "--lease", "POSTINO_LEASE", "DURATION",
       "how long a worker keeps its e-mails without renewing its lease", text, take_duration<&Outbox::lease>,
       show_duration_of<&Outbox::lease>},
      {"outbox.keep", "--keep", "POSTINO_KEEP", "DURATION", "how long e-mails and their history are kept", text,
       take_duration<&Outbox::keep>, show_duration_of<&Outbox::keep>},
      {"outbox.intake_workers", "--intake-workers", "POSTINO_INTAKE_WORKERS", "COUNT", "messages built in parallel",
       text, take_integer<&Outbox::intake_workers, 1, 256>, show_number<&Outbox::intake_workers>},
      {"outbox.retry_first", "--retry-first", "POSTINO_RETRY_FIRST", "DURATION",
       "longest wait after the first failed attempt; it doubles with each further attempt", text,
       take_duration<&Outbox::retry_first>, show_duration_of<&Outbox::retry_first>},
      {"outbox.retry_longest", "--retry-longest", "POSTINO_RETRY_LONGEST", "DURATION", "longest wait between attempts",
       text, take_duration<&Outbox::retry_longest>, show_duration_of<&Outbox::retry_longest>},
      {"outbox.give_up_after", "--give-up-after", "POSTINO_GIVE_UP_AFTER", "DURATION",
       "an e-mail that could not be sent within this time fails", text, take_duration<&Outbox::give_up_after>,
       show_duration_of<&Outbox::give_up_after>},
      {"outbox.max_attempts", "--max-attempts", "POSTINO_MAX_ATTEMPTS", "COUNT",
       "an e-mail that could not be sent with this many attempts fails", text,
       take_integer<&Outbox::max_attempts, 1, 10'000>, show_number<&Outbox::max_attempts>},
      {"outbox.max_rescues", "--max-rescues", "POSTINO_MAX_RESCUES", "COUNT",
       "an e-mail whose worker was lost this many times in a row is held", text,
       take_integer<&Outbox::max_rescues, 1, 1'000'000>, show_number<&Outbox::max_rescues>},
      {"outbox.unknown_outcome", "--unknown-outcome", "POSTINO_UNKNOWN_OUTCOME", "POLICY",
       "resend or hold an e-mail if it is unknown whether the mail server has accepted it", text, take_unknown_outcome,
       [](const Settings& all) { return unknown_outcome_policies.show(all.outbox.unknown_outcome); }},
  };
}

std::vector<Setting> smtp_settings() {
  using enum SettingKind;
  return {
      {"smtp.relays", "--smtp", "POSTINO_SMTP", "HOST:PORT",
       "mail server to send through; repeat the flag for servers to try if it fails. Without any, mail stays in the "
       "sandbox",
       list, take_relay, show_relays, [](Settings& all) { all.outbox.relays.clear(); }},
      {"smtp.tls", "--smtp-tls", "POSTINO_SMTP_TLS", "POLICY",
       "off, opportunistic (if offered; the same as required if there is a password), required (with a valid "
       "certificate) or implicit (from the first byte, with a valid certificate)",
       text, take_tls_policy, [](const Settings& all) { return tls_policies.show(all.outbox.smtp_tls); }},
      {"smtp.ca", "--smtp-ca", "POSTINO_SMTP_CA", "FILE",
       "certificate authorities (PEM) to trust instead of the system's", text, take_text<&Outbox::smtp_ca>,
       show_text<&Outbox::smtp_ca>},
      {"smtp.user", "--smtp-user", "POSTINO_SMTP_USER", "NAME", "user name", text, take_text<&Outbox::smtp_user>,
       show_text<&Outbox::smtp_user>},
      {"smtp.password", "--smtp-password", "POSTINO_SMTP_PASSWORD", "SECRET",
       "password; better given in the environment", text, take_text<&Outbox::smtp_password>,
       show_secret<&Outbox::smtp_password>},
      {"smtp.password_to_anyone", "--smtp-password-to-anyone", "POSTINO_SMTP_PASSWORD_TO_ANYONE", "",
       "send the password also without TLS, and to servers without a valid certificate; a listener, or an "
       "impostor, can read it",
       flag, take_boolean<&Outbox::smtp_password_to_anyone>, show_boolean<&Outbox::smtp_password_to_anyone>},
      {"smtp.from", "--smtp-from", "POSTINO_SMTP_FROM", "ADDRESS",
       "envelope sender, who gets the bounces; if not set, the sender of each e-mail", text,
       take_mail_address<&Outbox::smtp_from>, show_text<&Outbox::smtp_from>},
      {"smtp.hello", "--smtp-hello", "POSTINO_SMTP_HELLO", "NAME", "name of this machine in EHLO", text,
       take_host_name<&Outbox::smtp_hello>, show_text<&Outbox::smtp_hello>},
      {"smtp.timeout", "--smtp-timeout", "POSTINO_SMTP_TIMEOUT", "DURATION",
       "longest wait for a reply; five times as long after the end of a message", text,
       take_duration<&Outbox::smtp_timeout>, show_duration_of<&Outbox::smtp_timeout>},
      {"smtp.connections", "--smtp-connections", "POSTINO_SMTP_CONNECTIONS", "COUNT", "e-mails sent in parallel", text,
       take_integer<&Outbox::smtp_connections, 1, 1'024>, show_number<&Outbox::smtp_connections>},
      {"smtp.destination_concurrency", "--destination-concurrency", "POSTINO_DESTINATION_CONCURRENCY", "COUNT",
       "e-mails sent to one domain in parallel; 0: no limit", text,
       take_integer<&Outbox::destination_concurrency, 0, 1'024>, show_number<&Outbox::destination_concurrency>},
      {"smtp.destination_rate", "--destination-rate", "POSTINO_DESTINATION_RATE", "COUNT",
       "e-mails sent to one domain per second; 0: no limit", text, take_integer<&Outbox::destination_rate, 0, 100'000>,
       show_number<&Outbox::destination_rate>},
      {"dkim.domain", "--dkim-domain", "POSTINO_DKIM_DOMAIN", "NAME", "domain that messages are signed for", text,
       take_host_name<&Outbox::dkim_domain>, show_text<&Outbox::dkim_domain>},
      {"dkim.selector", "--dkim-selector", "POSTINO_DKIM_SELECTOR", "NAME", "selector of the domain's key", text,
       take_host_name<&Outbox::dkim_selector>, show_text<&Outbox::dkim_selector>},
      {"dkim.key", "--dkim-key", "POSTINO_DKIM_KEY", "FILE", "private key (PEM) to sign with", text,
       take_text<&Outbox::dkim_key>, show_text<&Outbox::dkim_key>},
  };
}

std::vector<Setting> callback_settings() {
  using enum SettingKind;
  return {
      {"callback.url", "--callback-url", "POSTINO_CALLBACK_URL", "URL",
       "URL notified of the outcome of e-mails that have no callback_url", text, take_callback_url,
       show_text<&Outbox::callback_url>},
      {"callback.secret", "--callback-secret", "POSTINO_CALLBACK_SECRET", "SECRET",
       "secret that callbacks are signed with: whsec_ and the base64 of 24 to 64 bytes", text, take_callback_secret,
       show_secret<&Outbox::callback_secret>},
      {"callback.timeout", "--callback-timeout", "POSTINO_CALLBACK_TIMEOUT", "DURATION", "longest time for a callback",
       text, take_duration<&Outbox::callback_timeout>, show_duration_of<&Outbox::callback_timeout>},
      {"callback.retry_first", "--callback-retry-first", "POSTINO_CALLBACK_RETRY_FIRST", "DURATION",
       "longest wait after the first failed callback; it doubles with each further attempt", text,
       take_duration<&Outbox::callback_retry_first>, show_duration_of<&Outbox::callback_retry_first>},
      {"callback.attempts", "--callback-attempts", "POSTINO_CALLBACK_ATTEMPTS", "COUNT",
       "attempts after which a callback is given up and listed", text,
       take_integer<&Outbox::callback_attempts, 1, 1'000>, show_number<&Outbox::callback_attempts>},
      {"callback.allow_private", "--callback-allow-private", "POSTINO_CALLBACK_ALLOW_PRIVATE", "",
       "allow callback URLs of e-mails in private networks", flag, take_boolean<&Outbox::callback_allow_private>,
       show_boolean<&Outbox::callback_allow_private>},
      {"callback.ca", "--callback-ca", "POSTINO_CALLBACK_CA", "FILE",
       "certificate authorities (PEM) to trust instead of the system's", text, take_text<&Outbox::callback_ca>,
       show_text<&Outbox::callback_ca>},
      {"callback.workers", "--callback-workers", "POSTINO_CALLBACK_WORKERS", "COUNT", "callbacks made in parallel",
       text, take_integer<&Outbox::callback_workers, 1, 1'024>, show_number<&Outbox::callback_workers>},
  };
}

}  // namespace

std::string RelayAddress::text() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

std::optional<BucketPlace> bucket_of_spool(const OutboxSettings& settings) {
  auto place = parse_bucket_place(settings.spool);
  if (!place) return std::nullopt;
  const std::string& outbox = settings.ledger == LedgerKind::mysql ? settings.mysql.server.database : settings.table;
  place->prefix += "/" + objects::name_part(outbox).value_or("_");
  return place;
}

std::vector<Setting> outbox_settings() {
  std::vector<Setting> all;
  for (const auto& group : {http_settings(), course_settings(), mysql_settings(), smtp_settings(), callback_settings()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

base::Result<void> check(const OutboxSettings& settings) {
  if (settings.off) return {};
  SettingErrors errors;
  check_names(settings, errors);
  if (settings.http_tls_certificate.empty() != settings.http_tls_key.empty())
    errors.add("--http-tls-certificate and --http-tls-key must be given together");
  if (settings.smtp_user.empty() != settings.smtp_password.empty())
    errors.add("--smtp-user and --smtp-password must be given together");
  if (settings.dkim_domain.empty() != settings.dkim_key.empty() ||
      settings.dkim_selector.empty() != settings.dkim_key.empty())
    errors.add("--dkim-domain, --dkim-selector and --dkim-key must be given together");
  if (settings.sample && !settings.relays.empty())
    errors.add("--sample cannot be given together with --smtp: it needs the sandbox");
  if (settings.sample && settings.no_sending)
    errors.add("--sample cannot be given together with --no-sending: its e-mail is sent");
  if (settings.ledger == LedgerKind::mysql) errors.add(check(settings.mysql));
  if (settings.lease < base::Milliseconds(500)) errors.add("--lease must be at least 500ms");
  if (settings.keep < std::chrono::hours(1)) errors.add("--keep must be at least 1h");
  if (settings.keep < settings.give_up_after)
    errors.add("--keep must not be shorter than --give-up-after: e-mails are kept as long as they may be sent");
  if (settings.retry_first > settings.retry_longest)
    errors.add("--retry-first must not be longer than --retry-longest");
  return errors.result();
}

}  // namespace postino::app
