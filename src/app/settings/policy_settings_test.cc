#include "app/settings/policy_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/settings/settings.h"
#include "base/temporary_directory.h"

namespace postino::app {
namespace {

using testing::HasSubstr;

const std::string allow_reads =
    R"({"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"*"}})";

class PolicySettingsTest : public testing::Test {
 protected:
  PolicySettingsTest() {
    settings_.access_keys = {{"READER", "secret"}, {"ADMIN", "secret"}};
    std::ofstream(file_) << allow_reads;
  }

  std::string fault(std::string_view flag, const std::string& value) {
    for (const Setting& setting : all_settings())
      if (setting.flag == flag) {
        const auto applied = apply(settings_, setting, {value}, std::string(flag));
        return applied ? "" : applied.error().message;
      }
    return "no such flag";
  }

  base::TemporaryDirectory directory_;
  std::string file_ = (directory_.path() / "reader.json").string();
  Settings settings_;
};

TEST_F(PolicySettingsTest, GiveAKeyWhatAFileSays) {
  ASSERT_EQ(fault("--policy", "READER=" + file_), "");
  ASSERT_EQ(fault("--principal", "READER:aws:PrincipalTag/team=blue=green"), "");
  EXPECT_TRUE(check(settings_));
  const auto keys = with_policies(settings_.access_keys, "123456789012", settings_.access.policies);
  ASSERT_EQ(keys.size(), 2U);
  ASSERT_TRUE(keys[0].policies);
  EXPECT_EQ(keys[0].policies->policies().size(), 1U);
  EXPECT_EQ(keys[0].policies->principal().arn(), "arn:aws:iam::123456789012:user/READER");
  const auto tag = keys[0].policies->caller().values(*access::KeyReference::parse("aws:PrincipalTag/Team"));
  ASSERT_EQ(tag.size(), 1U);
  EXPECT_EQ(tag.front(), "blue=green");
  EXPECT_FALSE(keys[1].policies) << "a key without policies may do everything";
}

TEST_F(PolicySettingsTest, MayHaveThePolicyItself) {
  ASSERT_EQ(fault("--policy", "READER=" + allow_reads), "");
  EXPECT_TRUE(with_policies(settings_.access_keys, "123456789012", settings_.access.policies)[0].policies);
}

TEST_F(PolicySettingsTest, NameTheHolder) {
  ASSERT_EQ(fault("--policy", "READER=" + file_), "");
  ASSERT_EQ(fault("--principal", "READER:aws:username=anna"), "");
  const auto keys = with_policies(settings_.access_keys, "123456789012", settings_.access.policies);
  EXPECT_EQ(keys[0].policies->principal().arn(), "arn:aws:iam::123456789012:user/anna");
  const auto name = keys[0].policies->caller().values({access::ContextKey::user_name});
  ASSERT_EQ(name.size(), 1U);
  EXPECT_EQ(name.front(), "anna");
}

TEST_F(PolicySettingsTest, AreShown) {
  ASSERT_EQ(fault("--policy", "READER=" + file_), "");
  ASSERT_EQ(fault("--principal", "READER:AWS:principaltag/team=blue"), "");
  EXPECT_THAT(show(settings_), HasSubstr("policies = [\"READER=" + file_ +
                                         "\"]\n"
                                         "principals = [\"READER:aws:PrincipalTag/team=blue\"]\n"));
}

TEST_F(PolicySettingsTest, RefuseWhatMakesNoSense) {
  for (const char* text : {"READER", "=file", "READER="})
    EXPECT_THAT(fault("--policy", text), HasSubstr("must be ID=FILE")) << text;
  EXPECT_THAT(fault("--policy", "READER=nowhere.json"), HasSubstr("nowhere.json"));
  std::ofstream(file_) << R"({"Statement":{"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"orders"}})";
  EXPECT_THAT(fault("--policy", "READER=" + file_),
              HasSubstr("--policy: " + file_ + ": Statement.Resource: \"orders\" is no ARN"));
  EXPECT_THAT(fault("--principal", "READER"), HasSubstr("must be ID:KEY=VALUE"));
  EXPECT_THAT(fault("--principal", "READER:aws:PrincipalTag/team"), HasSubstr("must have KEY=VALUE"));
  EXPECT_THAT(fault("--principal", "READER:aws:nothing=x"), HasSubstr("is no condition key that is known here"));
  EXPECT_THAT(fault("--principal", "READER:dynamodb:Select=x"), HasSubstr("says nothing of a caller"));
}

TEST_F(PolicySettingsTest, BelongToKeysThatAreThere) {
  ASSERT_EQ(fault("--policy", "WRITER=" + file_), "");
  ASSERT_EQ(fault("--principal", "NOBODY:aws:username=anna"), "");
  const auto checked = check(settings_);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("--policy: there is no --access-key with the ID WRITER"));
  EXPECT_THAT(checked.error().message, HasSubstr("--principal: there is no --access-key with the ID NOBODY"));
}

TEST_F(PolicySettingsTest, AreTenForAKeyAtMost) {
  ASSERT_EQ(fault("--policy", "READER=" + file_), "");
  auto& policies = settings_.access.policies.policies;
  policies.resize(max_policies_of_key, policies.front());
  EXPECT_TRUE(check(settings_));
  policies.push_back(policies.front());
  const auto checked = check(settings_);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("the access key READER has more than 10 policies"));
}

}  // namespace
}  // namespace postino::app
