#include "remote/credentials/key_answers.h"

#include <gtest/gtest.h>

#include "base/timestamp.h"

namespace postino::remote {
namespace {

using Words = std::vector<std::string>;

TEST(KeyAnswers, RoleKeysOfContainersAndMachines) {
  const auto read = parse_role_keys(
      R"({"Code":"Success","LastUpdated":"2026-01-01T00:00:00Z","Type":"AWS-HMAC","AccessKeyId":"ASIA1",)"
      R"("SecretAccessKey":"s/3+cret=","Token":"to/ken==","Expiration":"2026-01-01T06:00:00Z"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->keys.id, "ASIA1");
  EXPECT_EQ(read->keys.secret, "s/3+cret=");
  EXPECT_EQ(read->keys.session_token, "to/ken==");
  EXPECT_EQ(base::format_timestamp(*read->expires), "2026-01-01T06:00:00.000Z");
}

TEST(KeyAnswers, ARoleWithoutKeysSaysWhy) {
  const auto read = parse_role_keys(R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"no"})");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("AssumeRoleUnauthorizedAccess"), std::string::npos);
}

TEST(KeyAnswers, NothingOfAnAnswerIsRepeatedThatMayBeASecret) {
  for (const std::string text : {"<html>hidden</html>", R"({"AccessKeyId":"hidden"})", R"(["hidden"])", "",
                                 R"({"AccessKeyId":"A","SecretAccessKey":"hidden with blanks"})",
                                 R"({"AccessKeyId":"A","SecretAccessKey":"hidden","Expiration":"hidden soon"})",
                                 R"({"AccessKeyId":"A\r\nX: y","SecretAccessKey":"hidden"})"}) {
    const auto read = parse_role_keys(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message.find("hidden"), std::string::npos) << read.error().message;
  }
}

TEST(KeyAnswers, AProgramPrintsVersionOne) {
  const auto read =
      parse_process_keys(R"({"Version":1,"AccessKeyId":"ASIA1","SecretAccessKey":"secret","SessionToken":"token"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->keys.session_token, "token");
  EXPECT_EQ(read->expires, std::nullopt);  // they do not expire
  EXPECT_FALSE(parse_process_keys(R"({"Version":2,"AccessKeyId":"ASIA1","SecretAccessKey":"secret"})"));
  EXPECT_FALSE(parse_process_keys(R"({"AccessKeyId":"ASIA1","SecretAccessKey":"secret"})"));
}

TEST(KeyAnswers, AnAssumedRole) {
  const auto read = parse_assumed_role(R"(<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleResult><AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/a/b</Arn></AssumedRoleUser>
  <Credentials>
    <AccessKeyId>ASIA2</AccessKeyId><SecretAccessKey>a&amp;b</SecretAccessKey>
    <SessionToken> token </SessionToken><Expiration>2026-01-01T06:00:00Z</Expiration>
  </Credentials></AssumeRoleResult></AssumeRoleResponse>)");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->keys.id, "ASIA2");
  EXPECT_EQ(read->keys.secret, "a&b");
  EXPECT_EQ(read->keys.session_token, "token");
  EXPECT_TRUE(read->expires);
  EXPECT_FALSE(parse_assumed_role("<html>Sign in</html>"));
}

TEST(KeyAnswers, WhatTheTokenServiceSays) {
  EXPECT_EQ(told_by_token_service("<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code>"
                                  "<Message>it is\nover</Message></Error></ErrorResponse>"),
            "ExpiredToken: it is over");
  EXPECT_EQ(told_by_token_service("<html>a proxy</html>"), "");
}

TEST(KeyAnswers, WordsOfACommand) {
  EXPECT_EQ(split_command("/opt/keys --for prod"), (Words{"/opt/keys", "--for", "prod"}));
  EXPECT_EQ(split_command(R"(  "/opt/my keys/give"  'a "b"' c\ d "e\"f\\" '' )"),
            (Words{"/opt/my keys/give", "a \"b\"", "c d", "e\"f\\", ""}));
  // Nothing that a shell would do.
  EXPECT_EQ(split_command("give $(id) `id` ; rm > file | cat && $HOME *"),
            (Words{"give", "$(id)", "`id`", ";", "rm", ">", "file", "|", "cat", "&&", "$HOME", "*"}));
  EXPECT_FALSE(split_command("give \"open"));
  EXPECT_FALSE(split_command("   "));
}

}  // namespace
}  // namespace postino::remote
