#include "app/server/reload.h"

#include <gmock/gmock.h>

namespace postino::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

api::ApiKey key_named(const std::string& name) { return api::parse_api_key(name + ":sender:0123456789abcdef").value(); }

TEST(Reload, KeysFilesAndTheLogAreTaken) {
  Settings running;
  running.access_keys = {{"old", "secret"}};
  running.tls_certificate = "a.pem";
  running.tls_key = "a.key";
  running.outbox.api_keys = {key_named("old")};
  running.outbox.dkim_domain = "example.org";
  running.outbox.dkim_selector = "one";
  running.outbox.dkim_key = "one.pem";
  Settings fresh = running;
  fresh.access_keys = {{"new", "secret"}};
  fresh.tls_certificate = "b.pem";
  fresh.tls_key = "b.key";
  fresh.outbox.api_keys = {key_named("new")};
  fresh.outbox.users = {{.caller = {.name = "anna"}, .password_hash = "hash"}};
  fresh.outbox.dkim_selector = "two";
  fresh.outbox.dkim_key = "two.pem";
  fresh.log_level = base::LogLevel::error;
  fresh.log_file = "log";

  const auto reload = plan_reload(running, fresh);
  ASSERT_TRUE(reload);
  EXPECT_THAT(reload->flags, IsEmpty());
  EXPECT_EQ(reload->settings.access_keys.front().id, "new");
  EXPECT_EQ(reload->settings.outbox.api_keys.front().caller.name, "new");
  EXPECT_EQ(reload->settings.outbox.users.front().caller.name, "anna");
  EXPECT_EQ(reload->settings.log_level, base::LogLevel::error);
  EXPECT_EQ(show(reload->settings), show(fresh));
}

TEST(Reload, PasswordsAndCertificatesOfBrokersAreTaken) {
  Settings running;
  NamedConnection connection;
  connection.amqp.endpoints = {{"broker.example", 5671}};
  connection.amqp.user = "clerk";
  connection.amqp.password = "old";
  connection.amqp.tls.enabled = true;
  running.messages.connections = {{"main", connection}, {"moved", connection}};
  Settings fresh = running;
  for (auto& [name, each] : fresh.messages.connections) {
    each.amqp.password = "new";
    each.amqp.tls.authorities_file = "authorities.pem";
  }
  fresh.messages.connections["moved"].amqp.endpoints = {{"elsewhere.example", 5671}};

  const auto reload = plan_reload(running, fresh);
  ASSERT_TRUE(reload) << reload.error().message;
  const NamedConnections& taken = reload->settings.messages.connections;
  EXPECT_EQ(taken.at("main").amqp.password, "new");
  EXPECT_EQ(taken.at("main").amqp.tls.authorities_file, "authorities.pem");
  EXPECT_EQ(taken.at("moved").amqp.password, "old") << "it is for another broker";
  EXPECT_EQ(taken.at("moved").amqp.endpoints.front().host, "broker.example");
  EXPECT_THAT(reload->flags, ElementsAre("--connection"));
}

TEST(Reload, OtherChangesWaitForARestartAndAreNamed) {
  const Settings running;
  Settings fresh = running;
  fresh.region = "eu-west-1";
  fresh.outbox.smtp_password = "changed";
  fresh.tls_certificate = "a.pem";
  fresh.tls_key = "a.key";
  const auto reload = plan_reload(running, fresh);
  ASSERT_TRUE(reload);
  EXPECT_THAT(reload->flags, ElementsAre("--region", "--tls-certificate", "--tls-key", "--smtp-password"));
  EXPECT_EQ(show(reload->settings), show(running));
}

TEST(Reload, AnotherSecretIsNamedAlthoughBothAreShownAlike) {
  Settings running;
  running.outbox.callback_url = "https://example.org/";
  running.outbox.callback_secret = "whsec_" + std::string(32, 'a');
  running.objects.secret = "one";
  Settings fresh = running;
  fresh.outbox.callback_secret = "whsec_" + std::string(32, 'b');
  fresh.objects.secret = "two";
  const auto reload = plan_reload(running, fresh);
  ASSERT_TRUE(reload) << reload.error().message;
  EXPECT_THAT(reload->flags, ElementsAre("--callback-secret", "--objects-secret"));
}

TEST(Reload, KeysDoNotGoWhileOthersCanReachTheServer) {
  Settings running;
  running.keys.off = true;  // there could be some in the store
  running.outbox.http_host = "0.0.0.0";
  running.outbox.api_keys = {key_named("old")};
  Settings fresh = running;
  fresh.outbox.http_host = "127.0.0.1";  // with the next start
  fresh.outbox.api_keys.clear();
  const auto reload = plan_reload(running, fresh);
  ASSERT_FALSE(reload);
  EXPECT_THAT(reload.error().message, HasSubstr("can be reached from other machines"));
}

TEST(Reload, TheLastKeyDoesNotGo) {
  Settings running;
  running.access_keys = {{"AKIAEXAMPLE", "a secret of an access key"}};
  const auto without_access_key = plan_reload(running, Settings());
  ASSERT_FALSE(without_access_key);
  EXPECT_THAT(without_access_key.error().message, HasSubstr("have no access key any more"));
  running.outbox.api_keys = {key_named("old")};
  const auto without_keys = plan_reload(running, Settings());
  ASSERT_FALSE(without_keys);
  EXPECT_THAT(without_keys.error().message, HasSubstr("have no API key and no user any more"));
  Settings fresh;
  fresh.outbox.api_keys = {key_named("new")};
  EXPECT_TRUE(plan_reload(running, fresh)) << "DynamoDB's API is closed while there are API keys";
}

TEST(Reload, PoliciesAreTakenAndTheLastOfAKeyDoesNotGo) {
  const auto policy = std::make_shared<const access::Policy>();
  Settings running;
  running.access_keys = {{"READER", "a secret"}};
  running.access.policies.policies = {{"READER", "reader.json", policy}};
  Settings fresh = running;
  fresh.access.policies.policies = {{"READER", "other.json", policy}};
  const auto reload = plan_reload(running, fresh);
  ASSERT_TRUE(reload) << reload.error().message;
  EXPECT_EQ(reload->settings.access.policies.policies.front().source, "other.json");
  EXPECT_TRUE(reload->flags.empty());
  fresh.access.policies.policies.clear();
  const auto without_policy = plan_reload(running, fresh);
  ASSERT_FALSE(without_policy);
  EXPECT_THAT(without_policy.error().message, HasSubstr("no policy of the access key READER any more"));
  fresh.access_keys = {{"WRITER", "a secret"}};
  EXPECT_TRUE(plan_reload(running, fresh)) << "the key went with its policy";
}

}  // namespace
}  // namespace postino::app
