#include "remote/aws_credentials.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "base/temporary_directory.h"
#include "base/timestamp.h"
#include "http/server_testing.h"
#include "net/raw_server_testing.h"
#include "remote/credentials/credential_calls.h"

namespace postino::remote {
namespace {

struct Seen {
  std::string method;
  std::string target;
  std::string authorization;
  std::string token;
  std::string body;
};

// A machine with files, an environment, and one server that stands for all services that hand out keys.
class Machine : public ::testing::Test {
 protected:
  using Reply = std::function<http::Response(const Seen&)>;

  Machine() {
    server_ = http::start_server({}, [this](const http::Request& request, const http::Responder& respond) {
      Seen seen{std::string(request.method), std::string(request.target), std::string(request.header("authorization")),
                std::string(request.header("x-aws-ec2-metadata-token")), std::string(request.body)};
      http::Response response;
      {
        const std::lock_guard lock(mutex_);
        response = reply_ ? reply_(seen) : http::Response{404, "", {}, ""};
        seen_.push_back(std::move(seen));
      }
      respond(std::move(response));
    });
    url_ = "http://127.0.0.1:" + std::to_string(server_->port());
    variables_["HOME"] = home_.path().string();
    variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = url_;
    variables_["AWS_ENDPOINT_URL_STS"] = url_;
  }

  void replies(Reply reply) {
    const std::lock_guard lock(mutex_);
    reply_ = std::move(reply);
  }
  std::vector<Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  std::string write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = home_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  // "id:secret:token", or what went wrong.
  std::string keys(const std::string& profile = "") {
    CredentialOptions options;
    options.profile = profile;
    options.region = "eu-west-1";
    options.container_host = url_;
    options.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
    auto found = find_credentials(std::move(options), clock_, random_);
    EXPECT_TRUE(found) << found.error().message;
    credentials_ = *std::move(found);
    const auto keys = credentials_->keys();
    return keys ? keys->id + ":" + keys->secret + ":" + keys->session_token : keys.error().message;
  }

  std::string in_an_hour() const { return base::format_timestamp(clock_.now() + std::chrono::hours(1)); }
  std::string role_json(const std::string& id) const {
    return R"({"Code":"Success","AccessKeyId":")" + id +
           R"(","SecretAccessKey":"hidden","Token":"token","Expiration":")" + in_an_hour() + "\"}";
  }
  std::string role_xml(const std::string& id) const {
    return "<R><Credentials><AccessKeyId>" + id +
           "</AccessKeyId><SecretAccessKey>hidden</SecretAccessKey><SessionToken>token</SessionToken><Expiration>" +
           in_an_hour() + "</Expiration></Credentials></R>";
  }

  const base::TemporaryDirectory home_;
  const base::SystemClock clock_;
  base::SystemRandom random_;
  std::map<std::string, std::string> variables_;
  std::mutex mutex_;
  Reply reply_;
  std::vector<Seen> seen_;
  std::string url_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<Credentials> credentials_;
};

TEST_F(Machine, TheEnvironmentComesFirst) {
  write(".aws/credentials", "[default]\naws_access_key_id=B\naws_secret_access_key=b\n");
  variables_["AWS_ACCESS_KEY_ID"] = "A";
  variables_["AWS_SECRET_ACCESS_KEY"] = "a";
  variables_["AWS_SESSION_TOKEN"] = "t";
  EXPECT_EQ(keys(), "A:a:t");
  EXPECT_EQ(credentials_->describe(), "AWS_ACCESS_KEY_ID of the environment");
  variables_.erase("AWS_SECRET_ACCESS_KEY");
  EXPECT_NE(keys().find("must be set together"), std::string::npos);
}

TEST_F(Machine, AProfileThatIsNamedComesBeforeTheEnvironment) {
  write(".aws/credentials", "[prod]\naws_access_key_id=B\naws_secret_access_key=b\n");
  variables_["AWS_ACCESS_KEY_ID"] = "A";
  variables_["AWS_SECRET_ACCESS_KEY"] = "a";
  EXPECT_EQ(keys("prod"), "B:b:");
  EXPECT_NE(keys("other").find("there is no profile other"), std::string::npos);
}

TEST_F(Machine, ProfilesOfTheFilesThatTheEnvironmentNames) {
  variables_["AWS_SHARED_CREDENTIALS_FILE"] =
      write("keys", "[prod]\naws_access_key_id=C\naws_secret_access_key=c\naws_session_token=t\n");
  variables_["AWS_CONFIG_FILE"] = write("settings", "[profile prod]\naws_access_key_id=old\nregion=x\n");
  variables_["AWS_PROFILE"] = "prod";
  EXPECT_EQ(keys(), "C:c:t");
  EXPECT_EQ(credentials_->describe(), "profile prod of " + variables_["AWS_SHARED_CREDENTIALS_FILE"]);
  variables_["AWS_PROFILE"] = "gone";
  EXPECT_NE(keys().find("there is no profile gone"), std::string::npos);
}

TEST_F(Machine, AProgramGivesTheKeysOfAProfile) {
  const std::string script = write("give keys",
                                   "#!/bin/sh\nprintf '{\"Version\":1,\"AccessKeyId\":\"%s\","
                                   "\"SecretAccessKey\":\"%s\"}' \"$1\" \"$2\"\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  write(".aws/config", "[profile prod]\ncredential_process = \"" + script + "\" \"two words\" $(id)\n");
  EXPECT_NE(keys("prod").find("the expected form"), std::string::npos);  // a key has no blanks
  write(".aws/config", "[profile prod]\ncredential_process = \"" + script + "\" P $(id)\n");
  EXPECT_EQ(keys("prod"), "P:$(id):");
  write(".aws/config", "[profile prod]\ncredential_process = /bin/false\n");
  EXPECT_NE(keys("prod").find("credential_process of the profile prod: the program /bin/false has failed with 1"),
            std::string::npos);
}

TEST_F(Machine, ARoleIsTakenOnWithTheKeysOfAnotherProfile) {
  write(".aws/credentials", "[base]\naws_access_key_id=BASE\naws_secret_access_key=b\n");
  write(".aws/config",
        "[profile prod]\nrole_arn = arn:aws:iam::1:role/mail\nsource_profile = base\nexternal_id = x y\n"
        "duration_seconds = 900\n");
  replies([&](const Seen&) { return http::Response{200, "text/xml", {}, role_xml("ROLE")}; });
  EXPECT_EQ(keys("prod"), "ROLE:hidden:token");
  ASSERT_EQ(seen().size(), 1U);
  EXPECT_EQ(seen()[0].method, "POST");
  EXPECT_EQ(seen()[0].body,
            "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fmail&RoleSessionName=postino"
            "&ExternalId=x%20y&DurationSeconds=900");
  EXPECT_NE(seen()[0].authorization.find("Credential=BASE/"), std::string::npos);
  EXPECT_NE(seen()[0].authorization.find("/eu-west-1/sts/aws4_request"), std::string::npos);
}

TEST_F(Machine, ARoleThatIsRefusedSaysWhyWithoutSecrets) {
  write(".aws/credentials", "[base]\naws_access_key_id=BASE\naws_secret_access_key=hidden\n");
  write(".aws/config", "[profile prod]\nrole_arn = arn:aws:iam::1:role/mail\nsource_profile = base\n");
  replies([](const Seen&) {
    return http::Response{403, "text/xml", {}, "<E><Error><Code>AccessDenied</Code><Message>no</Message></Error></E>"};
  });
  const std::string told = keys("prod");
  EXPECT_NE(told.find("refused the role arn:aws:iam::1:role/mail with 403 AccessDenied: no"), std::string::npos)
      << told;
  EXPECT_EQ(told.find("hidden"), std::string::npos);
}

TEST_F(Machine, ProfilesThatCannotWorkSayWhy) {
  const auto told = [&](const std::string& settings) {
    write(".aws/config", "[profile a]\n" + settings);
    return keys("a");
  };
  EXPECT_NE(told("role_arn=r\nsource_profile=b\n[profile b]\nrole_arn=r\nsource_profile=a\n").find("to itself"),
            std::string::npos);
  EXPECT_NE(told("role_arn=r\nsource_profile=missing\n").find("there is no profile missing"), std::string::npos);
  EXPECT_NE(told("role_arn=r\n").find("no source_profile"), std::string::npos);
  EXPECT_NE(told("role_arn=r\ncredential_source=Moon\n").find("must be Environment"), std::string::npos);
  EXPECT_NE(told("role_arn=r\nmfa_serial=m\nsource_profile=a\n").find("mfa_serial"), std::string::npos);
  EXPECT_NE(told("sso_session=s\n").find("SSO"), std::string::npos);
  EXPECT_NE(told("region=x\n").find("says nothing about access keys"), std::string::npos);
  EXPECT_NE(told("aws_access_key_id=x\n").find("has only one of"), std::string::npos);
}

TEST_F(Machine, ATokenIsExchangedForTheKeysOfARole) {
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = write("token", "web token\n");
  variables_["AWS_ROLE_ARN"] = "role";
  variables_["AWS_ROLE_SESSION_NAME"] = "me";
  replies([&](const Seen&) { return http::Response{200, "text/xml", {}, role_xml("WEB")}; });
  EXPECT_EQ(keys(), "WEB:hidden:token");
  ASSERT_EQ(seen().size(), 1U);
  EXPECT_EQ(seen()[0].body,
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=role&RoleSessionName=me"
            "&WebIdentityToken=web%20token");
  EXPECT_EQ(seen()[0].authorization, "");
  // It should work, and does not: nobody else's keys are taken instead.
  write(".aws/credentials", "[default]\naws_access_key_id=B\naws_secret_access_key=b\n");
  replies([](const Seen&) { return http::Response{500, "", {}, "<html>hidden</html>"}; });
  const std::string told = keys();
  EXPECT_NE(told.find("web identity for the role role"), std::string::npos) << told;
  EXPECT_EQ(told.find("hidden"), std::string::npos);
}

TEST_F(Machine, AContainerIsGivenKeys) {
  variables_["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/credentials/1?x=y";
  replies([&](const Seen&) { return http::Response{200, "application/json", {}, role_json("ECS")}; });
  EXPECT_EQ(keys(), "ECS:hidden:token");
  EXPECT_EQ(seen().back().target, "/v2/credentials/1?x=y");

  variables_.erase("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url_ + "/full";
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "Basic one";
  EXPECT_EQ(keys(), "ECS:hidden:token");
  EXPECT_EQ(seen().back().authorization, "Basic one");
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = write("authorization", "Basic two\n");
  EXPECT_EQ(keys(), "ECS:hidden:token");
  EXPECT_EQ(seen().back().authorization, "Basic two");
  EXPECT_EQ(seen().back().target, "/full");
}

TEST_F(Machine, ATokenForAContainerGoesToNobodyElse) {
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "hidden";
  for (const std::string url : {"http://10.0.0.1/", "http://169.254.169.254/", "http://192.0.2.1/keys"}) {
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
    EXPECT_NE(keys().find("must be an https URL"), std::string::npos) << url;
  }
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url_;
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "a\r\nhidden: b";
  const std::string told = keys();
  EXPECT_NE(told.find("characters that none may have"), std::string::npos) << told;
  EXPECT_TRUE(seen().empty());
}

TEST_F(Machine, TheRoleOfTheMachineComesLast) {
  replies([&](const Seen& asked) {
    if (asked.method == "PUT") return http::Response{200, "", {}, "metadata-token"};
    if (asked.token != "metadata-token") return http::Response{401, "", {}, ""};
    const bool is_list = asked.target == "/latest/meta-data/iam/security-credentials/";
    return http::Response{200, "", {}, is_list ? "mail-role\n" : role_json("EC2")};
  });
  EXPECT_EQ(keys(), "EC2:hidden:token");
  ASSERT_EQ(seen().size(), 3U);
  EXPECT_EQ(seen()[0].target, "/latest/api/token");
  EXPECT_EQ(seen()[2].target, "/latest/meta-data/iam/security-credentials/mail-role");
  EXPECT_EQ(credentials_->describe(), "role of the machine");
}

TEST_F(Machine, AMachineWithoutARoleHasNoKeys) {
  replies([&](const Seen& asked) {
    return asked.method == "PUT" ? http::Response{200, "", {}, "metadata-token"} : http::Response{404, "", {}, ""};
  });
  EXPECT_NE(keys().find("no access keys were found"), std::string::npos);
  variables_["AWS_EC2_METADATA_DISABLED"] = "TRUE";
  const std::size_t before = seen().size();
  EXPECT_NE(keys().find("no access keys were found"), std::string::npos);
  EXPECT_EQ(seen().size(), before);
}

TEST_F(Machine, AMetadataServiceThatAnswersNonsenseIsNotBelieved) {
  const std::vector<std::string> roles = {"", "a/../b", "two words", std::string(1'000, 'r')};
  for (const std::string& role : roles) {
    replies([&](const Seen& asked) {
      return http::Response{200, "", {}, asked.method == "PUT" ? "metadata-token" : role};
    });
    EXPECT_NE(keys().find("names no role"), std::string::npos) << role;
  }
  const net::RawServer cut([](net::RawPeer& peer) {
    peer.receive_head();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhid");
  });
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:" + std::to_string(cut.port());
  const std::string told = keys();
  EXPECT_NE(told.find("could not be asked for access keys"), std::string::npos) << told;
  EXPECT_NE(told.find("none from the AWS_ACCESS_KEY_ID of the environment"), std::string::npos) << told;
}

TEST_F(Machine, KeysThatAreReplacedInAFileAreTakenWhenTheOldOnesAreRefused) {
  write(".aws/credentials", "[default]\naws_access_key_id=OLD\naws_secret_access_key=b\n");
  base::ManualClock clock(base::TimePoint(std::chrono::hours(1)));
  CredentialOptions options;
  options.variable = [this](const std::string& name) -> std::optional<std::string> {
    return name == "HOME" ? std::optional(home_.path().string()) : std::nullopt;
  };
  const auto found = find_credentials(std::move(options), clock, random_);
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->keys()->id, "OLD");
  write(".aws/credentials", "[default]\naws_access_key_id=NEW\naws_secret_access_key=b\n");
  clock.advance(std::chrono::minutes(1));
  EXPECT_EQ((*found)->keys()->id, "OLD");
  (*found)->refused();
  EXPECT_EQ((*found)->keys()->id, "NEW");
}

TEST(CredentialCalls, KeysExpireByOurClock) {
  const base::ManualClock ours(*base::parse_timestamp("2030-01-01T00:00:00Z"));
  http::ClientResponse answer;
  answer.headers = {{"Date", "Thu, 01 Jan 2026 00:00:00 GMT"}};
  const ExpiringKeys keys = by_our_clock({{}, *base::parse_timestamp("2026-01-01T06:00:00Z")}, answer, ours);
  EXPECT_EQ(base::format_timestamp(*keys.expires), "2030-01-01T06:00:00.000Z");
  EXPECT_EQ(by_our_clock({{}, std::nullopt}, answer, ours).expires, std::nullopt);
  EXPECT_EQ(by_our_clock({{}, *base::parse_timestamp("2026-01-01T06:00:00Z")}, {}, ours).expires,
            *base::parse_timestamp("2026-01-01T06:00:00Z"));
}

TEST(FixedCredentials, StayAsTheyAre) {
  const base::SystemClock clock;
  base::SystemRandom random;
  CredentialOptions options;
  options.keys = {"A", "hidden", ""};
  const auto fixed = find_credentials(std::move(options), clock, random);
  ASSERT_TRUE(fixed);
  (*fixed)->refused();
  EXPECT_EQ((*fixed)->keys()->id, "A");
  EXPECT_EQ((*fixed)->describe(), "access key A");
}

}  // namespace
}  // namespace postino::remote
