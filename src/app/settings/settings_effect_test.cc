#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/settings/settings.h"
#include "base/temporary_directory.h"

namespace postino::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Given {
  std::string_view flag;
  std::string value = "true";
};

std::vector<std::string> ignored(const std::vector<Given>& all) {
  Settings settings;
  for (const Given& given : all) {
    const auto setting = std::ranges::find(all_settings(), given.flag, &Setting::flag);
    EXPECT_TRUE(setting->take(settings, given.value)) << given.flag;
  }
  return settings_without_effect(settings);
}

const Given reader{"--api-key", "all:reader:0123456789abcdef"};

TEST(SettingsEffect, DefaultsAreNeverIgnored) {
  EXPECT_THAT(settings_without_effect(Settings()), IsEmpty());
  EXPECT_THAT(ignored({{"--no-outbox"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--mysql-port", "3306"}}), IsEmpty());
}

TEST(SettingsEffect, WithoutTheOutboxNothingOfItCounts) {
  EXPECT_THAT(ignored({{"--no-outbox"}, {"--sample"}}), ElementsAre("--sample has no effect with --no-outbox"));
  EXPECT_THAT(ignored({{"--no-outbox"}, {"--http", "127.0.0.1:81"}, {"--smtp", "h:1"}, {"--queue-lease", "2m"}}),
              ElementsAre("--http has no effect with --no-outbox", "--smtp has no effect with --no-outbox",
                          "--queue-lease has no effect with --no-outbox"));
  EXPECT_THAT(ignored({{"--no-outbox"}, {"--connection", "main=amqp://h"}}),
              ElementsAre("--connection has no effect with --no-outbox"));
  EXPECT_THAT(ignored({{"--no-outbox"}, reader, {"--metrics-require-key"}, {"--threads", "2"}}), IsEmpty())
      << "metrics are read with API keys";
}

TEST(SettingsEffect, AStoreIsHereOrElsewhere) {
  EXPECT_THAT(ignored({{"--store-region", "eu-west-1"}, {"--store-ca", "ca.pem"}}),
              ElementsAre("--store-region has no effect without --store dynamodb",
                          "--store-ca has no effect without --store dynamodb"));
  EXPECT_THAT(ignored({{"--cache-mb", "128"}, {"--durability", "relaxed"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--store", "dynamodb"}, {"--store-region", "eu-west-1"}, {"--store-ca", "ca.pem"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--store", "dynamodb"}, {"--cache-mb", "128"}}),
              ElementsAre("--cache-mb has no effect with --store dynamodb: it is about the embedded store"));
}

TEST(SettingsEffect, TheDatabaseCountsWithItsLedger) {
  EXPECT_THAT(ignored({{"--several-servers"}}), ElementsAre("--several-servers has no effect without --ledger mysql"));
  EXPECT_THAT(ignored({{"--ledger", "mysql"}, {"--several-servers"}, {"--mysql-host", "db"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--ledger", "mysql"}, {"--mysql-host", "db"}, {"--mysql-socket", "/run/s"}}),
              ElementsAre("--mysql-host has no effect with --mysql-socket"));
  EXPECT_THAT(ignored({{"--ledger", "mysql"}, {"--mysql-ca", "ca.pem"}}),
              ElementsAre("--mysql-ca has no effect without --mysql-tls verified"));
  EXPECT_THAT(ignored({{"--ledger", "mysql"}, {"--mysql-tls", "verified"}, {"--mysql-ca", "ca.pem"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--ledger", "mysql"}, {"--mysql-tls", "off"}, {"--mysql-key", "key.pem"}}),
              ElementsAre("--mysql-key has no effect with --mysql-tls off"));
}

TEST(SettingsEffect, TheTableIsOneOfTheStore) {
  EXPECT_THAT(ignored({{"--outbox-table", "mine"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--ledger", "mysql"}, {"--outbox-table", "mine"}}),
              ElementsAre(testing::StartsWith("--outbox-table has no effect with --ledger mysql")));
}

TEST(SettingsEffect, TheObjectStoreIsForAttachmentsTheSpoolOrExports) {
  const Given endpoint{"--objects-endpoint", "https://s3.example.com"};
  EXPECT_THAT(
      ignored({endpoint}),
      ElementsAre(
          "--objects-endpoint has no effect without --objects-bucket or --export-bucket, and without a --spool or "
          "--backup-to in a bucket"));
  EXPECT_THAT(ignored({endpoint, {"--objects-bucket", "tickets"}}), IsEmpty());
  EXPECT_THAT(
      ignored({endpoint, {"--no-tickets"}}),
      ElementsAre("--objects-endpoint has no effect with --no-tickets, and without a --spool or --backup-to in a "
                  "bucket or an --export-bucket"));
  EXPECT_THAT(ignored({endpoint, {"--no-tickets"}, {"--export-bucket", "lake"}}), IsEmpty());
  EXPECT_THAT(ignored({endpoint, {"--export-bucket", "lake"}}), IsEmpty());
  EXPECT_THAT(ignored({endpoint, {"--no-tickets"}, {"--spool", "s3://mail/spool"}}), IsEmpty());
}

TEST(SettingsEffect, MailServersMustBeThere) {
  const std::string sandbox = " has no effect without --smtp: mail goes to the sandbox";
  EXPECT_THAT(ignored({{"--smtp-user", "ann"}, {"--smtp-password", "p"}}),
              ElementsAre("--smtp-user" + sandbox, "--smtp-password" + sandbox));
  const Given relay{"--smtp", "mail.example:25"};
  EXPECT_THAT(ignored({relay, {"--smtp-ca", "ca.pem"}, {"--smtp-tls", "required"}}), IsEmpty());
  EXPECT_THAT(ignored({relay, {"--smtp-ca", "ca.pem"}, {"--smtp-user", "ann"}, {"--smtp-password", "p"}}), IsEmpty());
  EXPECT_THAT(ignored({relay, {"--smtp-ca", "ca.pem"}}),
              ElementsAre(testing::StartsWith("--smtp-ca has no effect with --smtp-tls opportunistic")));
  EXPECT_THAT(ignored({relay, {"--smtp-ca", "ca.pem"}, {"--smtp-tls", "off"}}),
              ElementsAre("--smtp-ca has no effect with --smtp-tls off"));
  EXPECT_THAT(ignored({relay, {"--smtp-password-to-anyone"}}),
              ElementsAre("--smtp-password-to-anyone has no effect without --smtp-password"));
  EXPECT_THAT(ignored({{"--smtp-connections", "2"}, {"--smtp-from", "b@example.org"}}), IsEmpty())
      << "the sandbox is sent to as well";
}

TEST(SettingsEffect, ProxiesCountWhereTheyCanConnectTo) {
  EXPECT_THAT(ignored({{"--trusted-proxy", "127.0.0.1"}, {"--trusted-proxy", "::1"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--trusted-proxy", "10.0.0.9"}}),
              ElementsAre("--trusted-proxy 10.0.0.9 has no effect with --dynamodb 127.0.0.1:8000 and --http "
                          "127.0.0.1:8080, which only this machine can reach"));
  EXPECT_THAT(ignored({{"--trusted-proxy", "10.0.0.9"}, {"--http", "0.0.0.0:80"}, reader}), IsEmpty())
      << "its connections are those of many clients";
  EXPECT_THAT(ignored({{"--trusted-proxy", "::1"}, reader}), IsEmpty()) << "it says where those who sign in are";
  EXPECT_THAT(
      ignored({{"--trusted-proxy", "::1"}, {"--access-key", "id:secret"}, {"--no-outbox", "true"}}),
      ElementsAre("--trusted-proxy ::1 has no effect with --access-key: requests with keys are accepted from every "
                  "proxy"));
  EXPECT_THAT(ignored({{"--trusted-proxy", "::1"}, {"--access-key", "id:secret"}}), IsEmpty()) << "of the REST API";
}

TEST(SettingsEffect, ProxiesAreCalledAsTheyAreWhenTheyConnect) {
  Settings settings;
  const auto setting = std::ranges::find(all_settings(), "--trusted-proxy", &Setting::flag);
  for (const char* proxy : {"0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "FE80::0A", "10.0.0.9"})
    ASSERT_TRUE(setting->take(settings, proxy)) << proxy;
  EXPECT_THAT(settings.access.origin_policy.proxies, ElementsAre("::1", "127.0.0.1", "fe80::a", "10.0.0.9"));
}

TEST(SettingsEffect, NamesOfTheServerCountWithoutKeys) {
  EXPECT_THAT(ignored({{"--allowed-host", "mail.example"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--allowed-host", "mail.example"}, {"--access-key", "id:secret"}}), IsEmpty());
  EXPECT_THAT(ignored({{"--allowed-host", "mail.example"}, reader}),
              ElementsAre(testing::StartsWith("--allowed-host has no effect with --api-key")));
  EXPECT_THAT(ignored({{"--allowed-host", "mail.example"}, {"--access-key", "id:secret"}, {"--no-outbox"}}),
              ElementsAre(testing::StartsWith("--allowed-host has no effect with --access-key and --no-outbox")));
}

TEST(SettingsEffect, QueuesAreGivenToTenantsThatThereAre) {
  const Given queue{"--tenant-queue", "north=orders"};
  EXPECT_THAT(
      ignored({queue, reader}),
      ElementsAre("--tenant-queue north=... has no effect without an --api-key or a --user of the tenant north"));
  EXPECT_THAT(ignored({queue, {"--api-key", "n:sender@north:0123456789abcdef"}}), IsEmpty());
}

TEST(SettingsEffect, SettingsOfConnectionsBelongTogether) {
  const auto ignored_of = [](const std::string& text) {
    const base::TemporaryDirectory directory;
    const auto file = directory.path() / "postino.toml";
    std::ofstream(file) << "[messages.connections.main]\n" << text;
    Settings settings;
    EXPECT_TRUE(apply_file(settings, file)) << text;
    return settings_without_effect(settings);
  };
  const std::string prefix = "messages.connections.main.";
  EXPECT_THAT(ignored_of("type = \"embedded\"\n"), IsEmpty());
  EXPECT_THAT(ignored_of("type = \"embedded\"\nendpoints = [\"h:1\"]\n"),
              ElementsAre(prefix + "endpoints has no effect with type = \"embedded\""));
  EXPECT_THAT(ignored_of("endpoints = [\"h:1\"]\nca = \"ca.pem\"\nserver_name = \"h\"\n"),
              ElementsAre(prefix + "ca has no effect without tls", prefix + "server_name has no effect without tls"));
  EXPECT_THAT(ignored_of("endpoints = [\"h:1\"]\nca = \"ca.pem\"\nmanagement = \"https://h:2\"\n"), IsEmpty());
  EXPECT_THAT(ignored_of("endpoints = [\"h:1\"]\npassword_variable = \"P\"\n"),
              ElementsAre(prefix + "password_variable has no effect without user"));
  EXPECT_THAT(ignored_of("endpoints = [\"h:1\"]\nuser = \"ann\"\nmechanism = \"anonymous\"\n"),
              ElementsAre(prefix + "user has no effect with mechanism = \"external\" or \"anonymous\""));
}

}  // namespace
}  // namespace postino::app
