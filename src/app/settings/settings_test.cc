#include "app/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/temporary_directory.h"

namespace postino::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SettingsTest : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    const auto path = directory_.path() / "postino.toml";
    std::ofstream(path) << text;
    return path.string();
  }

  std::string fault_in_file(const std::string& text) {
    const auto applied = apply_file(settings_, file(text));
    EXPECT_FALSE(applied) << text;
    return applied ? "" : applied.error().message;
  }

  base::Result<void> environment(std::map<std::string, std::string> variables) {
    return apply_environment(settings_, [&](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  }

  base::Result<void> flag(std::string_view name, const std::string& value) {
    for (const Setting& setting : all_settings())
      if (setting.flag == name) return apply(settings_, setting, {value}, std::string(name));
    return base::invalid("no such flag");
  }

  base::TemporaryDirectory directory_;
  Settings settings_;
};

TEST_F(SettingsTest, EverySettingHasItsOwnNames) {
  std::set<std::string_view> names;
  for (const Setting& setting : all_settings()) {
    EXPECT_TRUE(names.insert(setting.key).second) << setting.key;
    EXPECT_TRUE(setting.former_key.empty() || names.insert(setting.former_key).second) << setting.former_key;
    EXPECT_TRUE(names.insert(setting.flag).second) << setting.flag;
    EXPECT_TRUE(names.insert(setting.variable).second) << setting.variable;
    EXPECT_FALSE(setting.help.empty());
  }
}

TEST_F(SettingsTest, NamesPagesAndProxiesAreChecked) {
  ASSERT_TRUE(environment({{"POSTINO_ALLOWED_HOSTS", "mail.example,db.example:8000"},
                           {"POSTINO_ALLOWED_ORIGINS", "https://app.example,http://localhost:3000,http://[::1]:1"},
                           {"POSTINO_TRUSTED_PROXIES", "127.0.0.1,::1"}}));
  EXPECT_THAT(settings_.access.origin_policy.hosts, testing::ElementsAre("mail.example", "db.example:8000"));
  EXPECT_THAT(settings_.access.origin_policy.origins, testing::SizeIs(3));
  EXPECT_THAT(settings_.access.origin_policy.proxies, testing::ElementsAre("127.0.0.1", "::1"));
  for (const char* host : {"", "*", "http://mail.example", "mail.example:x", "a b"})
    EXPECT_FALSE(flag("--allowed-host", host)) << host;
  for (const char* origin : {"", "*", "null", "app.example", "https://", "https://app.example/", "https://a.example/b",
                             "https://*.example", "ftp://app.example", "http://localhost:x"})
    EXPECT_FALSE(flag("--allowed-origin", origin)) << origin;
  for (const char* proxy : {"", "*", "proxy.example", "10.0.0.0/8"})
    EXPECT_FALSE(flag("--trusted-proxy", proxy)) << proxy;
}

TEST_F(SettingsTest, EverySectionIsShownOnce) {
  const std::string shown = show(settings_);
  std::set<std::string> sections;
  for (std::size_t at = shown.find("\n["); at != std::string::npos; at = shown.find("\n[", at + 1)) {
    const std::string section = shown.substr(at, shown.find(']', at) - at);
    EXPECT_TRUE(sections.insert(section).second) << section;
  }
}

TEST_F(SettingsTest, RulesOfRemindersAreData) {
  EXPECT_THAT(show(settings_), HasSubstr(R"(rules = ["first:7d", "second:5d:first:7d", "final:3d:second:5d"])"));
  ASSERT_TRUE(environment({{"POSTINO_REMINDER_RULES", "friendly:14d,firm:36h:friendly:7d"}}));
  ASSERT_EQ(settings_.reminders.rules.size(), 2U) << "they take the place of all";
  const reminders::Rule firm{"firm", std::chrono::hours(36), "friendly", std::chrono::hours(24 * 7)};
  EXPECT_EQ(settings_.reminders.rules[1], firm);
  EXPECT_THAT(show(settings_), HasSubstr(R"(rules = ["friendly:14d", "firm:36h:friendly:7d"])"));
  EXPECT_TRUE(check(settings_));
  for (const char* rule :
       {"", "first", "first:", "first:soon", "second:5d:first", "second:5d::7d", "second:5d:first:x", "a:1d:b:1d:c"})
    EXPECT_FALSE(flag("--reminder-rule", rule)) << rule;
}

TEST_F(SettingsTest, RulesOfRemindersMustFitTogether) {
  ASSERT_TRUE(flag("--reminder-rule", "second:5d:first:7d"));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--reminder-rule"));
  settings_.reminders.rules.clear();
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--no-reminders"));
  settings_.reminders.off = true;
  EXPECT_TRUE(check(settings_));
}

TEST_F(SettingsTest, RemindersHaveATableOfTheirOwn) {
  ASSERT_TRUE(flag("--reminders-table", settings_.outbox.table));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--reminders-table and --outbox-table must differ"));
}

TEST_F(SettingsTest, SenderAndCurrencyOfRemindersAreChecked) {
  EXPECT_TRUE(flag("--reminders-from", "Billing <billing@example.com>"));
  EXPECT_EQ(settings_.reminders.from, "Billing <billing@example.com>");
  EXPECT_FALSE(flag("--reminders-from", "billing"));
  EXPECT_TRUE(flag("--reminders-currency", "EUR"));
  for (const char* currency : {"", "eur", "EURO", "E1R"})
    EXPECT_FALSE(flag("--reminders-currency", currency)) << currency;
  for (const char* shards : {"0", "65", "x"}) EXPECT_FALSE(flag("--reminders-shards", shards)) << shards;
}

TEST_F(SettingsTest, TicketsHaveATableOfTheirOwn) {
  for (const std::string& table : {settings_.outbox.table, settings_.reminders.table}) {
    ASSERT_TRUE(flag("--tickets-table", table));
    EXPECT_THAT(check(settings_).error().message, HasSubstr("must differ")) << table;
  }
  settings_.tickets.off = true;
  EXPECT_TRUE(check(settings_));
}

TEST_F(SettingsTest, EmailsOfTicketsNeedASender) {
  EXPECT_FALSE(flag("--tickets-from", "support"));
  for (const char* engineer : {"eng_1", "=a@example.com", "eng_1=a", "eng_1=Ann <a@example.com>"})
    EXPECT_FALSE(flag("--engineer", engineer)) << engineer;
  ASSERT_TRUE(flag("--engineer", "eng_1=a@example.com"));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--engineer needs --tickets-from"));
  ASSERT_TRUE(flag("--tickets-from", "Support <support@example.com>"));
  EXPECT_TRUE(check(settings_));
  EXPECT_FALSE(flag("--tickets-data", "xml"));
}

TEST_F(SettingsTest, ABucketNeedsAnEndpointAndAKey) {
  ASSERT_TRUE(flag("--objects-bucket", "tickets"));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--objects-endpoint"));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--objects-secret"));
  EXPECT_FALSE(flag("--objects-endpoint", "https://s3.example.com/path"));
  ASSERT_TRUE(flag("--objects-endpoint", "https://s3.example.com"));
  ASSERT_TRUE(flag("--objects-key-id", "id"));
  ASSERT_TRUE(flag("--objects-secret", "hidden-secret"));
  EXPECT_TRUE(check(settings_));
  EXPECT_THAT(show(settings_), testing::Not(HasSubstr("hidden-secret")));
  for (const char* const wrong : {"999ms", "601s"}) {
    ASSERT_TRUE(flag("--objects-timeout", wrong));
    EXPECT_THAT(check(settings_).error().message, HasSubstr("--objects-timeout"));
  }
  ASSERT_TRUE(flag("--objects-timeout", "3s"));
  EXPECT_TRUE(check(settings_));
  ASSERT_TRUE(flag("--objects", "directory"));
  EXPECT_FALSE(check(settings_));
}

TEST_F(SettingsTest, ShardsOfTheOutboxAreAtLeastThoseThatThereWere) {
  for (const char* const wrong : {"3", "65", "x"}) EXPECT_FALSE(flag("--outbox-shards", wrong)) << wrong;
  EXPECT_TRUE(flag("--outbox-shards", "64"));
  EXPECT_EQ(settings_.outbox.shards, 64);
}

TEST_F(SettingsTest, ASpoolInABucketNeedsAnEndpointAndAKey) {
  for (const char* const wrong : {"s3://mail", "s3://mail/", "s3:///spool", "s3://Mail/spool", "s3://mail/a/../b",
                                  "s3://mail/spool/", "s3://m/a"})
    EXPECT_FALSE(flag("--spool", wrong)) << wrong;
  ASSERT_TRUE(flag("--spool", "s3://mail/spool"));
  EXPECT_EQ(bucket_of_spool(settings_.outbox)->bucket, "mail");
  EXPECT_EQ(bucket_of_spool(settings_.outbox)->prefix, "spool/email-outbox") << "each table has names of its own";
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--spool s3://mail/spool needs --objects-endpoint"));
  EXPECT_THAT(check(settings_).error().message,
              HasSubstr("--spool s3://mail/spool needs --objects-key-id and --objects-secret"));
  ASSERT_TRUE(flag("--objects-endpoint", "https://s3.example.com"));
  settings_.store = StoreKind::dynamodb;
  settings_.remote.region = "eu-west-1";
  settings_.tickets.off = true;
  EXPECT_TRUE(check(settings_)) << "the store has keys";
  ASSERT_TRUE(flag("--objects-key-id", "id"));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("or none of them"));
  ASSERT_TRUE(flag("--objects-secret", "hidden-secret"));
  EXPECT_TRUE(check(settings_));
  settings_.outbox.spool = "/srv/spool";
  EXPECT_FALSE(bucket_of_spool(settings_.outbox));
}

TEST_F(SettingsTest, MetricsThatRequireAKeyNeedOne) {
  ASSERT_TRUE(flag("--metrics-require-key", "true"));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--api-key"));
  ASSERT_TRUE(flag("--api-key", "admin:operator:0123456789abcdef"));
  EXPECT_TRUE(check(settings_));
}

TEST_F(SettingsTest, TheDefaultsAreSafeAndAreDynamoDbLocals) {
  EXPECT_EQ(settings_.dynamodb_host, "127.0.0.1");
  EXPECT_EQ(settings_.dynamodb_port, 8000);
  EXPECT_EQ(settings_.data, "postino-data");
  EXPECT_EQ(settings_.durability, engine::Durability::synced);
  EXPECT_TRUE(check(settings_));
}

TEST_F(SettingsTest, AFileSetsEverything) {
  ASSERT_TRUE(apply_file(settings_, file(R"(
data = "/var/lib/postino"
shutdown_grace = 3
[dynamodb]
address = "[::1]:8001"
access_keys = ["one:secret", "two:se:cret"]
realistic_timing = true
inject = "throttle=0.5,latency=2s"
[log]
format = "json"
)")));
  EXPECT_EQ(settings_.data, "/var/lib/postino");
  EXPECT_EQ(settings_.shutdown_grace.count(), 3);
  EXPECT_EQ(settings_.dynamodb_host, "::1");
  EXPECT_EQ(settings_.dynamodb_port, 8001);
  ASSERT_EQ(settings_.access_keys.size(), 2U);
  EXPECT_EQ(settings_.access_keys[1].id, "two");
  EXPECT_EQ(settings_.access_keys[1].secret, "se:cret");
  EXPECT_TRUE(settings_.realistic_timing);
  EXPECT_EQ(settings_.faults.throttle, 0.5);
  EXPECT_EQ(settings_.faults.latency.count(), 2'000);
  EXPECT_EQ(settings_.log_format, base::LogFormat::json);
}

TEST_F(SettingsTest, FaultsInAFileNameLineSettingAndRule) {
  EXPECT_THAT(fault_in_file("\n[dynamodb]\nthreads = -1\n"),
              HasSubstr("postino.toml:3: dynamodb.threads: must be a whole number from 0 to 1024"));
  EXPECT_THAT(fault_in_file("nothing = 1\n"), HasSubstr("postino.toml:1: nothing: unknown setting"));
  EXPECT_THAT(fault_in_file("data = [\n"), HasSubstr("postino.toml:"));
  EXPECT_THAT(fault_in_file("[log]\nrequests = 1.5\n"), HasSubstr("log.requests: must be true or false"));
  EXPECT_EQ(apply_file(settings_, "nowhere.toml").error().message, "there is no configuration file 'nowhere.toml'");
}

TEST_F(SettingsTest, AFileMayUseTheFormerNameOfASettingButNotBothNames) {
  ASSERT_TRUE(apply_file(settings_, file("[server]\nthreads = 3\n")));
  EXPECT_EQ(settings_.threads, 3);
  ASSERT_TRUE(apply_file(settings_, file("[dynamodb]\nthreads = 4\n")));
  EXPECT_EQ(settings_.threads, 4);
  EXPECT_THAT(show(settings_), HasSubstr("[server]\nthreads = 4\n"));
  const std::string rule = "server.threads and dynamodb.threads are the same setting: give server.threads only";
  EXPECT_THAT(fault_in_file("[dynamodb]\nthreads = 4\n[server]\nthreads = 4\n"), HasSubstr(rule));
  EXPECT_THAT(fault_in_file("server.threads = 4\ndynamodb.threads = 4\n"), HasSubstr(rule));
}

TEST_F(SettingsTest, TheEnvironmentWinsOverTheFileAndAFlagOverBoth) {
  ASSERT_TRUE(apply_file(settings_, file("region = \"eu-west-1\"\n[dynamodb]\naccess_keys = [\"a:b\"]\n")));
  ASSERT_TRUE(environment({{"POSTINO_REGION", "eu-west-2"}, {"POSTINO_ACCESS_KEYS", "c:d,e:f"}}));
  EXPECT_EQ(settings_.region, "eu-west-2");
  ASSERT_EQ(settings_.access_keys.size(), 2U);
  EXPECT_EQ(settings_.access_keys[0].id, "c");
  ASSERT_TRUE(flag("--region", "eu-west-3"));
  EXPECT_EQ(settings_.region, "eu-west-3");
}

TEST_F(SettingsTest, BadValuesAreRefusedAndSecretsNotRepeated) {
  EXPECT_EQ(environment({{"POSTINO_THREADS", "many"}}).error().message,
            "POSTINO_THREADS: must be a whole number from 0 to 1024");
  EXPECT_EQ(flag("--access-key", "justasecret").error().message, "--access-key: must be ID:SECRET");
  EXPECT_EQ(flag("--dynamodb", "8000").error().message,
            "--dynamodb: must be HOST:PORT, where HOST is an IP address or localhost");
  EXPECT_EQ(flag("--dynamodb", "127.0.0.1:99999").error().message,
            "--dynamodb: the port must be a number from 0 to 65535");
  EXPECT_EQ(flag("--account", "12").error().message, "--account: must have 12 digits");
  EXPECT_EQ(flag("--durability", "maybe").error().message, "--durability: must be synced or relaxed");
  EXPECT_EQ(flag("--inject", "throttle=2").error().message,
            "--inject: 'throttle=2': the share of requests must be a number from 0 to 1");
  EXPECT_EQ(flag("--inject", "latency=5").error().message,
            "--inject: 'latency=5': latency must be a time up to 60s, such as 20ms");
}

TEST_F(SettingsTest, APublicAddressNeedsKeys) {
  ASSERT_TRUE(flag("--dynamodb", "0.0.0.0:8000"));
  EXPECT_TRUE(check(settings_)) << "there may be keys in the store";
  settings_.keys.off = true;
  EXPECT_THAT(check(settings_).error().message, HasSubstr("must be signed"));
  ASSERT_TRUE(flag("--access-key", "id:secret"));
  EXPECT_TRUE(check(settings_));
  for (const char* loopback : {"127.0.0.1:1", "127.8.9.10:1", "[::1]:1", "localhost:1"}) {
    Settings fresh;
    settings_ = fresh;
    ASSERT_TRUE(flag("--dynamodb", loopback));
    EXPECT_TRUE(check(settings_)) << loopback;
  }
}

TEST_F(SettingsTest, CertificateAndKeyComeTogether) {
  ASSERT_TRUE(flag("--tls-key", "key.pem"));
  EXPECT_EQ(check(settings_).error().message, "--tls-certificate and --tls-key must be given together");
}

TEST_F(SettingsTest, RestOnlyListensElsewhereWithKeys) {
  ASSERT_TRUE(flag("--http", "0.0.0.0:8080"));
  EXPECT_TRUE(check(settings_)) << "there may be keys in the store";
  settings_.keys.off = true;
  EXPECT_THAT(check(settings_).error().message, HasSubstr("callers need an API key"));
  ASSERT_TRUE(flag("--api-key", "shop:sender:0123456789abcdef"));
  EXPECT_TRUE(check(settings_));
}

TEST_F(SettingsTest, KeysAreInAStoreOfSeveralMachinesWithASealingKeyAlone) {
  EXPECT_TRUE(keeps_keys(settings_));
  settings_.store = StoreKind::dynamodb;
  EXPECT_FALSE(keeps_keys(settings_));
  ASSERT_TRUE(flag("--sealing-key", "/etc/postino/sealing.key"));
  EXPECT_TRUE(keeps_keys(settings_));
  settings_.outbox.off = true;
  EXPECT_FALSE(keeps_keys(settings_));
}

TEST_F(SettingsTest, QuotasOfTenantsNameTheirTime) {
  ASSERT_TRUE(flag("--tenant-quota", "north=50/s"));
  EXPECT_EQ(settings_.keys.tenant_quotas["north"].requests_per_second, 50);
  EXPECT_EQ(settings_.keys.tenant_quotas["north"].emails_per_day, 0);
  EXPECT_THAT(show(settings_), HasSubstr("tenant_quotas = [\"north=50/s\"]"));
  for (const char* bad :
       {"north", "north=", "north=50", "north=50/m", "north=0/s", "north=x/s", "=5/s", "a b=5/s", "north=/s"})
    EXPECT_FALSE(flag("--tenant-quota", bad)) << bad;
}

TEST_F(SettingsTest, RelaysKeepTheirOrder) {
  const auto relays = std::ranges::find(all_settings(), "--smtp", &Setting::flag);
  ASSERT_TRUE(apply(settings_, *relays, {"mail.example.org:587", "[::1]:25"}, "--smtp"));
  ASSERT_EQ(settings_.outbox.relays.size(), 2U);
  EXPECT_EQ(settings_.outbox.relays[0].text(), "mail.example.org:587");
  EXPECT_EQ(settings_.outbox.relays[1].host, "::1");
  EXPECT_EQ(settings_.outbox.relays[1].text(), "[::1]:25");
  for (const char* bad : {"mail.example.org", "mail.example.org:0", "::1:25", "a b:25", ":25", "mail\n:25"})
    EXPECT_FALSE(apply(settings_, *relays, {bad}, "--smtp")) << bad;
}

TEST_F(SettingsTest, DurationsHaveAUnit) {
  ASSERT_TRUE(flag("--lease", "90s"));
  EXPECT_EQ(settings_.outbox.lease, std::chrono::seconds(90));
  EXPECT_THAT(show(settings_), HasSubstr("lease = \"90s\""));
  ASSERT_TRUE(flag("--lease", "2m"));
  EXPECT_THAT(show(settings_), HasSubstr("lease = \"2m\""));
  for (const char* bad : {"", "5", "s", "-1s", "1.5s", "1 s", "99999999999999999999s", "100000000d", "5S"})
    EXPECT_FALSE(flag("--lease", bad)) << bad;
}

TEST_F(SettingsTest, TheGraceIsADurationOrANumberOfSeconds) {
  EXPECT_THAT(show(settings_), HasSubstr("shutdown_grace = \"10s\""));
  ASSERT_TRUE(apply_file(settings_, file("shutdown_grace = \"2m\"\n")));
  EXPECT_EQ(settings_.shutdown_grace, std::chrono::minutes(2));
  ASSERT_TRUE(flag("--shutdown-grace", "15"));
  EXPECT_EQ(settings_.shutdown_grace, std::chrono::seconds(15));
  ASSERT_TRUE(flag("--shutdown-grace", "0"));
  EXPECT_EQ(settings_.shutdown_grace, std::chrono::seconds(0));
  for (const char* bad : {"", "s", "-1", "1500ms", "61m", "3601", "99999999999999999999", "ten"})
    EXPECT_EQ(flag("--shutdown-grace", bad).error().message,
              "--shutdown-grace: must be a duration of whole seconds, up to 1h, such as 10s");
}

TEST_F(SettingsTest, WhatBelongsTogetherComesTogether) {
  ASSERT_TRUE(flag("--smtp-user", "ann"));
  EXPECT_EQ(check(settings_).error().message, "--smtp-user and --smtp-password must be given together");
  ASSERT_TRUE(flag("--smtp-password", "hidden"));
  EXPECT_TRUE(check(settings_));
  ASSERT_TRUE(flag("--dkim-domain", "example.org"));
  EXPECT_EQ(check(settings_).error().message, "--dkim-domain, --dkim-selector and --dkim-key must be given together");
}

TEST_F(SettingsTest, SecretsOfTheOutboxAreNotShown) {
  ASSERT_TRUE(flag("--api-key", "shop:sender@acme:0123456789abcdef"));
  ASSERT_TRUE(flag("--smtp-password", "hidden"));
  ASSERT_TRUE(flag("--callback-secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
  const std::string shown = show(settings_);
  EXPECT_THAT(shown, HasSubstr("api_keys = [\"shop:sender@acme:<redacted>\"]"));
  for (const char* secret : {"0123456789abcdef", "hidden", "MfKQ9r8G"})
    EXPECT_EQ(shown.find(secret), std::string::npos);
}

TEST_F(SettingsTest, TheLedgerIsTheStoreOrADatabase) {
  EXPECT_EQ(settings_.outbox.ledger, LedgerKind::store);
  ASSERT_TRUE(apply_file(settings_, file(R"(
[outbox]
ledger = "mysql"
[mysql]
host = "db.example.org"
port = 3307
user = "mailer"
password = "hidden"
database = "mail"
tls = "verified"
ca = "ca.pem"
certificate = "client.pem"
key = "client.key"
pool = 40
statement_timeout = "20s"
migrate = true
)")));
  const MysqlSettings& mysql = settings_.outbox.mysql;
  EXPECT_EQ(settings_.outbox.ledger, LedgerKind::mysql);
  EXPECT_EQ(mysql.server.host, "db.example.org");
  EXPECT_EQ(mysql.server.port, 3307);
  EXPECT_EQ(mysql.server.user, "mailer");
  EXPECT_EQ(mysql.server.password, "hidden");
  EXPECT_EQ(mysql.server.database, "mail");
  EXPECT_EQ(mysql.server.tls.mode, mysql::TlsMode::verified);
  EXPECT_EQ(mysql.server.tls.ca_file, "ca.pem");
  EXPECT_EQ(mysql.server.tls.certificate_file, "client.pem");
  EXPECT_EQ(mysql.server.tls.key_file, "client.key");
  EXPECT_EQ(mysql.server.statement_timeout, std::chrono::seconds(20));
  EXPECT_EQ(mysql.pool.size, 40U);
  EXPECT_TRUE(mysql.migrate);
  EXPECT_TRUE(check(settings_));
  const std::string shown = show(settings_);
  EXPECT_THAT(shown, HasSubstr("ledger = \"mysql\""));
  EXPECT_THAT(shown, HasSubstr("password = \"<redacted>\""));
  EXPECT_EQ(shown.find("hidden"), std::string::npos);
  ASSERT_TRUE(environment({{"POSTINO_MYSQL_PASSWORD", "other"}, {"POSTINO_MYSQL_SOCKET", "/run/socket"}}));
  EXPECT_EQ(mysql.server.password, "other");
  EXPECT_EQ(mysql.server.socket, "/run/socket");
}

TEST_F(SettingsTest, TheDatabaseHasRulesWhereItIsUsed) {
  EXPECT_EQ(flag("--ledger", "postgres").error().message, "--ledger: must be one of store, mysql");
  EXPECT_EQ(flag("--mysql-tls", "on").error().message,
            "--mysql-tls: must be one of off, preferred, required, verified");
  EXPECT_EQ(flag("--mysql-user", "").error().message, "--mysql-user: must have 1 to 255 characters");
  EXPECT_EQ(flag("--mysql-port", "0").error().message, "--mysql-port: must be a whole number from 1 to 65535");
  ASSERT_TRUE(flag("--mysql-key", "client.key"));
  EXPECT_TRUE(check(settings_)) << "nobody uses it";
  ASSERT_TRUE(flag("--ledger", "mysql"));
  EXPECT_EQ(check(settings_).error().message, "--mysql-certificate and --mysql-key must be given together");
  ASSERT_TRUE(flag("--mysql-key", ""));
  ASSERT_TRUE(flag("--mysql-statement-timeout", "1s"));
  EXPECT_EQ(check(settings_).error().message, "--mysql-statement-timeout must be at least 2s");
  ASSERT_TRUE(flag("--mysql-statement-timeout", "2s"));
  ASSERT_TRUE(flag("--mysql-socket", "/run/socket"));
  EXPECT_TRUE(check(settings_));
  ASSERT_TRUE(flag("--mysql-tls", "verified"));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("cannot be given together with --mysql-socket"));
}

TEST_F(SettingsTest, RecordsOfMessagesLiveAsLongAsTheirPropertySays) {
  EXPECT_EQ(settings_.idempotency.life, std::chrono::hours(24));
  ASSERT_TRUE(apply_file(settings_, file("mqprobe.idempotency.record-ttl = \"36h\"\n")));
  EXPECT_EQ(settings_.idempotency.life, std::chrono::hours(36));
  ASSERT_TRUE(apply_file(settings_, file("[mqprobe.idempotency]\nrecord-ttl = \"PT1H30M\"\n")));
  EXPECT_EQ(settings_.idempotency.life, std::chrono::minutes(90));
  ASSERT_TRUE(environment({{"MQPROBE_IDEMPOTENCY_RECORD_TTL", "P2D"}}));
  EXPECT_EQ(settings_.idempotency.life, std::chrono::hours(48));
  EXPECT_THAT(show(settings_), HasSubstr("[mqprobe]\nidempotency.record-ttl = \"2d\"\n"));
  EXPECT_EQ(flag("--record-ttl", "1 day").error().message, "--record-ttl: must be a duration such as 24h, 7d or PT24H");
  ASSERT_TRUE(flag("--record-ttl", "59s"));
  EXPECT_EQ(check(settings_).error().message, "--record-ttl must be at least 1m");
}

TEST_F(SettingsTest, EmailsAreKeptAsLongAsTheyMayBeSent) {
  ASSERT_TRUE(flag("--keep", "2d"));
  EXPECT_TRUE(check(settings_));
  ASSERT_TRUE(flag("--keep", "47h"));
  EXPECT_THAT(check(settings_).error().message, HasSubstr("--keep must not be shorter than --give-up-after"));
  ASSERT_TRUE(flag("--give-up-after", "1d"));
  EXPECT_TRUE(check(settings_));
}

TEST_F(SettingsTest, ConnectionsHaveNames) {
  ASSERT_TRUE(apply_file(settings_, file(R"(
[messages]
connection = "main"
allowed_hosts = ["*.example.org", "10.0.0.1:5672"]
[messages.emails]
queue = "mail"
[messages.connections.main]
endpoints = ["one.example.org:5671", "[::1]:5673"]
user = "ann"
password = "hidden"
tls = true
ca = "ca.pem"
server_name = "broker"
certificate = "own.pem"
key = "own.key"
cipher_suite = "TLS_AES_256_GCM_SHA384"
mechanism = "plain"
virtual_host = "vhost:shop"
addresses = "bare"
address_prefix = "queue://"
management = "https://one.example.org:15671"
guard_queue = false
text_as_value = true
max_message_bytes = 65536
connect_timeout = "3s"
answer_timeout = "4s"
idle_timeout = "5s"
[messages.connections.local]
type = "embedded"
)")));
  ASSERT_EQ(settings_.messages.connections.size(), 2U);
  EXPECT_TRUE(settings_.messages.connections.at("local").embedded);
  const NamedConnection& main = settings_.messages.connections.at("main");
  EXPECT_FALSE(main.embedded);
  EXPECT_EQ(main.amqp.endpoints, (std::vector<broker::Endpoint>{{"one.example.org", 5671}, {"::1", 5673}}));
  EXPECT_EQ(main.amqp.user, "ann");
  EXPECT_EQ(main.amqp.password, "hidden");
  EXPECT_TRUE(main.amqp.tls.enabled);
  EXPECT_EQ(main.amqp.tls.authorities_file, "ca.pem");
  EXPECT_EQ(main.amqp.tls.server_name, "broker");
  EXPECT_EQ(main.amqp.tls.certificate_file, "own.pem");
  EXPECT_EQ(main.amqp.tls.key_file, "own.key");
  EXPECT_EQ(main.amqp.tls.cipher_suite, "TLS_AES_256_GCM_SHA384");
  EXPECT_EQ(main.amqp.mechanism, broker::Mechanism::plain);
  EXPECT_EQ(main.amqp.virtual_host, "vhost:shop");
  EXPECT_EQ(main.amqp.address_style, broker::AddressStyle::bare);
  EXPECT_EQ(main.amqp.address_prefix, "queue://");
  EXPECT_FALSE(main.amqp.guard_queue);
  const auto management = management_of(main, main.amqp);
  ASSERT_TRUE(management);
  EXPECT_EQ(management->url, "https://one.example.org:15671");
  EXPECT_EQ(management->virtual_host, "shop");
  EXPECT_EQ(management->user, "ann");
  EXPECT_EQ(management->password, "hidden");
  EXPECT_EQ(management->authorities_file, "ca.pem");
  EXPECT_TRUE(main.amqp.text_as_value);
  EXPECT_EQ(main.amqp.max_message_bytes, 65'536U);
  EXPECT_EQ(main.amqp.connect_timeout, std::chrono::seconds(3));
  EXPECT_EQ(main.amqp.answer_timeout, std::chrono::seconds(4));
  EXPECT_EQ(main.amqp.idle_timeout, std::chrono::seconds(5));
  EXPECT_EQ(settings_.messages.allowed_hosts.size(), 2U);
  EXPECT_EQ(settings_.messages.emails_queue, "mail");
  EXPECT_TRUE(check(settings_)) << check(settings_).error().message;

  const std::string shown = show(settings_);
  EXPECT_EQ(shown.find("hidden"), std::string::npos);
  Settings read;
  std::string completed = shown;
  completed.replace(completed.find(secret_mark), secret_mark.size(), "again");
  const auto applied = apply_file(read, file(completed));
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(show(read), shown);
}

// Hashes have commas in them.
TEST_F(SettingsTest, UsersAreSeparatedBySpacesInTheEnvironment) {
  const std::string hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  ASSERT_TRUE(environment({{"POSTINO_USERS", "anna:reader:" + hash + " berta:agent@north/C-1:" + hash}}));
  ASSERT_EQ(settings_.outbox.users.size(), 2U);
  EXPECT_EQ(settings_.outbox.users[1].caller.customer, "C-1");
  EXPECT_EQ(settings_.outbox.users[1].password_hash, hash);
  EXPECT_THAT(show(settings_), HasSubstr("users = [\"anna:reader:<redacted>\", \"berta:agent@north/C-1:<redacted>\"]"));
  settings_.outbox.http_host = "0.0.0.0";
  EXPECT_TRUE(check(settings_.outbox)) << "callers have to sign in";
  ASSERT_TRUE(flag("--api-key", "anna:sender:0123456789abcdef"));
  const auto checked = check(settings_.outbox);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "--user anna: another user or an API key has this name");
}

TEST_F(SettingsTest, WhatIsShownInPlaceOfASecretIsRefused) {
  for (const char* name :
       {"--access-key", "--api-key", "--user", "--smtp-password", "--mysql-password", "--callback-secret"}) {
    const auto taken = flag(name, "id:operator:<redacted>");
    ASSERT_FALSE(taken) << name;
    EXPECT_THAT(taken.error().message, HasSubstr("is shown in place of a secret")) << name;
  }
  EXPECT_FALSE(flag("--access-key", "id:..."));
  EXPECT_THAT(fault_in_file("[messages.connections.main]\npassword = \"<redacted>\"\n"),
              HasSubstr("is shown in place of a secret"));
}

TEST(Variables, ThatAreMisspeltAreFound) {
  EXPECT_THAT(misspelt_variables({"POSTINO_SMPT", "POSTINO_SMTP_PASWORD", "PATH", "SMTP"}),
              ElementsAre("POSTINO_SMPT is no setting; did you mean POSTINO_SMTP?",
                          "POSTINO_SMTP_PASWORD is no setting; did you mean POSTINO_SMTP_PASSWORD?"));
  EXPECT_THAT(misspelt_variables({"POSTINO_SMTP", "POSTINO_API_KEY", "POSTINO_API_KEYS", "POSTINO_URL", "POSTINO_CA",
                                  "POSTINO_CONFIG"}),
              IsEmpty());
  // Of a service called postino.
  EXPECT_THAT(misspelt_variables({"POSTINO_PORT", "POSTINO_SERVICE_HOST", "POSTINO_SERVICE_PORT",
                                  "POSTINO_PORT_8080_TCP", "POSTINO_PORT_8080_TCP_ADDR"}),
              IsEmpty());
}

TEST_F(SettingsTest, AllErrorsAreReported) {
  const std::string faults =
      fault_in_file("regoin = 1\nthreads = 2\n[smtp]\nconnections = 0\n[messages.connections.a]\nusr = 1\n");
  EXPECT_THAT(faults, HasSubstr(":1: regoin: unknown setting; did you mean region?\n"));
  EXPECT_THAT(faults, HasSubstr(":4: smtp.connections: must be a whole number"));
  EXPECT_THAT(faults, HasSubstr("usr: unknown setting; did you mean a.user?"));
  EXPECT_EQ(std::ranges::count(faults, '\n'), 3);

  const auto variables = environment({{"POSTINO_THREADS", "x"}, {"POSTINO_CACHE_MB", "y"}});
  ASSERT_FALSE(variables);
  EXPECT_EQ(std::ranges::count(variables.error().message, '\n'), 1);

  settings_.tls_key = "key.pem";
  settings_.outbox.smtp_user = "user";
  settings_.outbox.keep = base::Milliseconds(1);
  const auto checked = check(settings_);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("--tls-certificate and --tls-key must be given together"));
  EXPECT_THAT(checked.error().message, HasSubstr("--smtp-user and --smtp-password must be given together"));
  EXPECT_THAT(checked.error().message, HasSubstr("--keep must be at least 1h"));
}

TEST_F(SettingsTest, ConnectionsMayBeUrls) {
  ASSERT_TRUE(environment(
      {{"POSTINO_CONNECTIONS", "main=amqps://ann:se%2Ccret@one.example.org,main=amqp://[::1],dev=embedded"}}));
  const NamedConnection& main = settings_.messages.connections.at("main");
  EXPECT_EQ(main.amqp.endpoints, (std::vector<broker::Endpoint>{{"one.example.org", 5671}, {"::1", 5672}}));
  EXPECT_EQ(main.amqp.user, "ann");
  EXPECT_EQ(main.amqp.password, "se,cret");
  EXPECT_TRUE(settings_.messages.connections.at("dev").embedded);
  ASSERT_TRUE(flag("--connection", "other=amqp://two.example.org:7000/"));
  EXPECT_EQ(settings_.messages.connections.size(), 1U) << "a flag wins over the environment";
  EXPECT_EQ(settings_.messages.connections.at("other").amqp.endpoints.front().port, 7000);
  for (const char* bad : {"", "main", "a b=amqp://h", "main=http://h", "main=amqp://", "main=amqp://h:0",
                          "main=amqp://:hidden@h", "main=amqp://u:%zz@h", "main=amqp://h/vhost"}) {
    const auto refused = flag("--connection", bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().message.find("hidden"), std::string::npos) << bad;
  }
}

TEST_F(SettingsTest, FaultsOfConnectionsNameThem) {
  EXPECT_THAT(fault_in_file("[messages.connections.main]\nhost = 1\n"),
              HasSubstr("postino.toml:2: messages.connections.main.host: unknown setting"));
  EXPECT_THAT(fault_in_file("[messages.connections.main]\nendpoints = [\"one\"]\n"),
              HasSubstr("messages.connections.main.endpoints: must be HOST:PORT"));
  EXPECT_THAT(fault_in_file("[messages.connections.\"a b\"]\ntls = true\n"),
              HasSubstr("a connection's name must have"));
  const auto fault = [&](const std::string& text) {
    settings_ = {};
    EXPECT_TRUE(apply_file(settings_, file(text))) << text;
    return check(settings_).error().message;
  };
  EXPECT_EQ(fault("[messages.connections.main]\ntls = true\n"),
            "the connection main: there must be at least one endpoint");
  EXPECT_EQ(fault("[messages.connections.embedded]\ntype = \"embedded\"\n"),
            "the connection embedded: the name is reserved for the queues in the store");
  EXPECT_EQ(fault("[messages.connections.main]\nendpoints = [\"h:1\"]\npassword = \"p\"\npassword_file = \"f\"\n"),
            "the connection main: only one of password, password_file and password_variable can be given");
  EXPECT_EQ(fault("messages.connection = \"main\"\n"), "--default-connection: unknown connection main");
  EXPECT_EQ(fault("[messages.emails]\nconnection = \"main\"\nqueue = \"q\"\n"),
            "--emails-connection: unknown connection main");
  EXPECT_EQ(fault("[messages.emails]\nconnection = \"embedded\"\n"),
            "--emails-connection and --emails-tenant require --emails-queue");
}

TEST_F(SettingsTest, PasswordsComeFromFilesAndVariables) {
  NamedConnection connection;
  connection.password_file = file("from a file\n");
  const auto variable = [](const std::string& name) { return name == "BROKER_PASSWORD" ? "from outside" : nullptr; };
  EXPECT_EQ(resolve(connection, variable).value().password, "from a file");
  connection.password_file = "nowhere";
  EXPECT_THAT(resolve(connection, variable).error().message, HasSubstr("cannot read nowhere"));
  connection.password_file.clear();
  connection.password_variable = "BROKER_PASSWORD";
  EXPECT_EQ(resolve(connection, variable).value().password, "from outside");
  connection.password_variable = "OTHER";
  EXPECT_EQ(resolve(connection, variable).error().message, "the environment variable OTHER is not set");
}

TEST_F(SettingsTest, WhatIsShownIsAFileThatSetsTheSameWithoutSecrets) {
  ASSERT_TRUE(flag("--access-key", "id:hidden"));
  ASSERT_TRUE(flag("--inject", "throttle=0.25,latency=20ms"));
  ASSERT_TRUE(flag("--data", "/srv/\"mail\""));
  const std::string shown = show(settings_);
  EXPECT_THAT(shown, HasSubstr("access_keys = [\"id:<redacted>\"]"));
  EXPECT_EQ(shown.find("hidden"), std::string::npos);
  Settings read;
  EXPECT_THAT(apply_file(read, file(shown)).error().message, HasSubstr("has <redacted>"));
  std::string completed = shown;
  completed.replace(completed.find("<redacted>"), 10, "hidden");
  read = {};
  const auto applied = apply_file(read, file(completed));
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(show(read), shown);
}

}  // namespace
}  // namespace postino::app
