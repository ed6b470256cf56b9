#include "remote/credentials/profile_files.h"

#include <gtest/gtest.h>

namespace postino::remote {
namespace {

TEST(ProfileFiles, SectionsOfTheCredentialsFile) {
  Profiles profiles;
  read_profiles(
      "# a comment\n[default]\naws_access_key_id = AKIA1\nAWS_SECRET_ACCESS_KEY=a=b # c\n\n"
      "; another\n[ prod ]\r\naws_access_key_id=AKIA2\r\n",
      ProfileFile::credentials, profiles);
  EXPECT_EQ(profiles["default"]["aws_access_key_id"], "AKIA1");
  EXPECT_EQ(profiles["default"]["aws_secret_access_key"], "a=b # c");
  EXPECT_EQ(profiles["prod"]["aws_access_key_id"], "AKIA2");
}

TEST(ProfileFiles, SectionsOfTheConfigFile) {
  Profiles profiles;
  read_profiles(
      "[default]\nregion = eu-west-1\n[profile prod]\nrole_arn = arn\ns3 =\n  max_concurrent_requests = 20\n"
      "  role_arn = nested\n[profile \"with blanks\"]\nregion = a\n[sso-session x]\nregion = b\n[prod]\nregion = c\n"
      "[profiles]\nregion = d\n",
      ProfileFile::config, profiles);
  EXPECT_EQ(profiles["default"]["region"], "eu-west-1");
  EXPECT_EQ(profiles["prod"]["role_arn"], "arn");
  EXPECT_FALSE(profiles["prod"].contains("region"));
  EXPECT_EQ(profiles["with blanks"]["region"], "a");
  EXPECT_FALSE(profiles.contains("sso-session x"));
  EXPECT_FALSE(profiles.contains("s"));
}

TEST(ProfileFiles, TheLastValueCounts) {
  Profiles profiles;
  read_profiles("[profile a]\nregion = 1\nrole_arn = x\n", ProfileFile::config, profiles);
  read_profiles("[a]\nregion = 2\nregion = 3\n", ProfileFile::credentials, profiles);
  EXPECT_EQ(profiles["a"]["region"], "3");
  EXPECT_EQ(profiles["a"]["role_arn"], "x");
}

TEST(ProfileFiles, WhatIsNoProfileFileHasNone) {
  Profiles profiles;
  read_profiles(std::string_view("\n[\n=\nkey = value\n[]\n[profile]\nx=y"), ProfileFile::config, profiles);
  EXPECT_TRUE(profiles.empty());
}

}  // namespace
}  // namespace postino::remote
