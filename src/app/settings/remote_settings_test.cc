#include "app/settings/remote_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/settings/settings.h"

namespace postino::app {
namespace {

using testing::HasSubstr;

Settings remote_store() {
  Settings settings;
  settings.store = StoreKind::dynamodb;
  settings.remote.region = "eu-west-1";
  settings.objects.directory = "/srv/objects";
  return settings;
}

std::string rule_of(const Settings& settings) {
  const auto checked = check(settings);
  return checked ? "" : checked.error().message;
}

TEST(RemoteSettings, TheEndpointIsThatOfTheRegion) {
  RemoteSettings settings;
  settings.region = "eu-west-1";
  EXPECT_EQ(endpoints_of(settings)->data.text(), "https://dynamodb.eu-west-1.amazonaws.com/");
  EXPECT_EQ(endpoints_of(settings)->streams.text(), "https://streams.dynamodb.eu-west-1.amazonaws.com/");
  settings.region = "cn-north-1";
  EXPECT_EQ(endpoints_of(settings)->data.text(), "https://dynamodb.cn-north-1.amazonaws.com.cn/");
  settings.endpoint = "http://scylla:8000";
  EXPECT_EQ(endpoints_of(settings)->data.text(), "http://scylla:8000/");
  EXPECT_EQ(endpoints_of(settings)->streams.text(), "http://scylla:8000/");
  settings.streams_endpoint = "http://scylla:8001";
  EXPECT_EQ(endpoints_of(settings)->streams.text(), "http://scylla:8001/");
}

TEST(RemoteSettings, WhoMixesUpStoreAndLedgerIsToldOfTheOther) {
  const auto fault = [](std::string_view flag, const std::string& value) {
    Settings settings;
    for (const Setting& setting : all_settings())
      if (setting.flag == flag) return setting.take(settings, value).error().message;
    return std::string("no such setting");
  };
  EXPECT_THAT(fault("--store", "mysql"), HasSubstr("--ledger mysql"));
  EXPECT_THAT(fault("--ledger", "dynamodb"), HasSubstr("--store dynamodb"));
}

TEST(RemoteSettings, Rules) {
  EXPECT_EQ(rule_of(remote_store()), "");
  Settings nowhere = remote_store();
  nowhere.remote.region.clear();
  EXPECT_THAT(rule_of(nowhere), HasSubstr("--store dynamodb needs --store-region or --store-endpoint"));
  Settings half = remote_store();
  half.remote.key_id = "A";
  EXPECT_THAT(rule_of(half), HasSubstr("--store-key-id and --store-secret (in the environment: POSTINO_STORE_SECRET)"));
  half.remote.secret = "s";
  EXPECT_EQ(rule_of(half), "");
  half.remote.profile = "prod";
  EXPECT_THAT(rule_of(half), HasSubstr("--store-key-id and --store-profile"));
  Settings slow = remote_store();
  slow.remote.timeout = std::chrono::minutes(2);
  EXPECT_THAT(rule_of(slow), HasSubstr("--store-timeout"));
}

TEST(RemoteSettings, AttachmentsAreWhereAllServersAre) {
  Settings settings = remote_store();
  settings.objects.directory.clear();
  EXPECT_THAT(rule_of(settings), HasSubstr("--objects-bucket"));
  settings.tickets.off = true;
  EXPECT_EQ(rule_of(settings), "");
}

TEST(RemoteSettings, TheSecretIsNotShown) {
  Settings settings = remote_store();
  settings.remote.key_id = "AKIA1";
  settings.remote.secret = "hidden";
  EXPECT_THAT(show(settings), HasSubstr("[store]\nkind = \"dynamodb\"\nregion = \"eu-west-1\"\n"));
  EXPECT_THAT(show(settings), HasSubstr("key_id = \"AKIA1\"\nsecret = \"<redacted>\"\n"));
  EXPECT_THAT(show(settings), Not(HasSubstr("hidden")));
}

}  // namespace
}  // namespace postino::app
