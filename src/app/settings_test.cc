#include "app/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/temporary_directory.h"

namespace postino::app {
namespace {

using testing::HasSubstr;

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
    EXPECT_TRUE(names.insert(setting.flag).second) << setting.flag;
    EXPECT_TRUE(names.insert(setting.variable).second) << setting.variable;
    EXPECT_FALSE(setting.help.empty());
  }
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
  EXPECT_THAT(fault_in_file("nothing = 1\n"), HasSubstr("postino.toml:1: nothing: there is no such setting"));
  EXPECT_THAT(fault_in_file("data = [\n"), HasSubstr("postino.toml:"));
  EXPECT_THAT(fault_in_file("[log]\nrequests = 1.5\n"), HasSubstr("log.requests: must be true or false"));
  EXPECT_EQ(apply_file(settings_, "nowhere.toml").error().message, "there is no configuration file 'nowhere.toml'");
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
  EXPECT_THAT(check(settings_).error().message, HasSubstr("callers must show a key"));
  ASSERT_TRUE(flag("--api-key", "shop:sender:0123456789abcdef"));
  EXPECT_TRUE(check(settings_));
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
  EXPECT_THAT(shown, HasSubstr("api_keys = [\"shop:sender@acme:...\"]"));
  for (const char* secret : {"0123456789abcdef", "hidden", "MfKQ9r8G"})
    EXPECT_EQ(shown.find(secret), std::string::npos);
}

TEST_F(SettingsTest, WhatIsShownIsAFileThatSetsTheSameWithoutSecrets) {
  ASSERT_TRUE(flag("--access-key", "id:hidden"));
  ASSERT_TRUE(flag("--inject", "throttle=0.25,latency=20ms"));
  ASSERT_TRUE(flag("--data", "/srv/\"mail\""));
  const std::string shown = show(settings_);
  EXPECT_THAT(shown, HasSubstr("access_keys = [\"id:...\"]"));
  EXPECT_EQ(shown.find("hidden"), std::string::npos);
  Settings read;
  const auto applied = apply_file(read, file(shown));
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(show(read), shown);
}

}  // namespace
}  // namespace postino::app
