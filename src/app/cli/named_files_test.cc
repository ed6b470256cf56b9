#include "app/cli/named_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/temporary_directory.h"

namespace postino::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NamedFilesTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text, std::filesystem::perms permissions) {
    const auto path = directory_.path() / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, permissions);
    return path.string();
  }
  FileFindings look(const std::string& config = "") {
    return look_at_files(settings_, config, [](const std::string& name) { return name == "SET" ? "secret" : nullptr; });
  }
  std::string errors_of(const FileFindings& findings) {
    const auto result = findings.errors.result();
    return result ? "" : result.error().message;
  }

  static constexpr auto private_file = std::filesystem::perms(0600);
  static constexpr auto public_file = std::filesystem::perms(0644);
  base::TemporaryDirectory directory_;
  Settings settings_;
};

TEST_F(NamedFilesTest, DefaultsNameNone) {
  const FileFindings findings = look();
  EXPECT_EQ(errors_of(findings), "");
  EXPECT_THAT(findings.warnings, IsEmpty());
}

TEST_F(NamedFilesTest, EveryFileThatCannotBeUsedIsReported) {
  settings_.tls_certificate = settings_.tls_key = "missing-a";
  settings_.outbox.http_tls_certificate = "missing-b";
  settings_.outbox.http_tls_key = "missing-f";
  settings_.outbox.smtp_ca = "missing-c";
  settings_.outbox.callback_ca = file("ca.pem", "no certificate", public_file);
  settings_.objects.ca = "missing-g";
  settings_.outbox.attachments = "missing-d";
  settings_.outbox.dkim_domain = "example.org";
  settings_.outbox.dkim_selector = "mail";
  settings_.outbox.dkim_key = file("dkim.pem", "no key", private_file);
  settings_.data = "missing-e/data";
  EXPECT_THAT(errors_of(look()),
              AllOf(HasSubstr("--tls-certificate: cannot use the certificate 'missing-a'"),
                    HasSubstr("\n--data: there is no directory 'missing-e'"),
                    HasSubstr("\n--http-tls-certificate: cannot use the certificate 'missing-b'"),
                    HasSubstr("\n--http-tls-key: cannot read missing-f"),
                    HasSubstr("\n--smtp-ca: cannot use the certificates in 'missing-c'"),
                    HasSubstr("\n--callback-ca: cannot use the certificates in "),
                    HasSubstr("\n--objects-ca: cannot use the certificates in 'missing-g'"),
                    HasSubstr("\n--attachments: there is no directory 'missing-d'"),
                    HasSubstr("\n--dkim-key: the DKIM key "), HasSubstr("must be a private key in PEM")));
}

TEST_F(NamedFilesTest, PasswordsOfBrokersAreLookedUp) {
  settings_.messages.connections["one"].password_variable = "SET";
  settings_.messages.connections["two"].password_variable = "NOT_SET";
  settings_.messages.connections["three"].password_file = "missing";
  EXPECT_EQ(errors_of(look()),
            "messages.connections.three: cannot read missing: No such file or directory\n"
            "messages.connections.two: the environment variable NOT_SET is not set");
}

TEST_F(NamedFilesTest, SecretsThatEverybodyMayReadAreWarnedOf) {
  const std::string secret = "[smtp]\nuser = \"a\"\npassword = \"b\"\n";
  const std::string open = file("open.toml", secret, public_file);
  EXPECT_THAT(look(open).warnings, ElementsAre("--config: every user of this machine may read the secret in " + open +
                                               ": chmod o-r " + open));
  EXPECT_THAT(look(file("closed.toml", secret, private_file)).warnings, IsEmpty());
  EXPECT_THAT(look(file("plain.toml", "region = \"eu-west-1\"\n", public_file)).warnings, IsEmpty());
  settings_.messages.connections["main"].password_file = file("password", "secret", public_file);
  EXPECT_THAT(look().warnings, ElementsAre(HasSubstr("messages.connections.main.password_file: every user")));
}

}  // namespace
}  // namespace postino::app
