#include <utility>

#include "remote/credentials/credential_source.h"
#include "remote/credentials/token_service.h"

namespace postino::remote {

namespace {

class EnvironmentSource final : public CredentialSource {
 public:
  explicit EnvironmentSource(SharedSurroundings surroundings) : surroundings_(std::move(surroundings)) {}

  base::Result<std::optional<ExpiringKeys>> fetch() override {
    const signature::AccessKeys keys{surroundings_->value_of("AWS_ACCESS_KEY_ID"),
                                     surroundings_->value_of("AWS_SECRET_ACCESS_KEY"),
                                     surroundings_->value_of("AWS_SESSION_TOKEN")};
    if (keys.id.empty() && keys.secret.empty()) return std::nullopt;
    if (keys.id.empty() || keys.secret.empty())
      return base::invalid("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together");
    return ExpiringKeys{keys, std::nullopt};
  }

  std::string describe() const override { return "AWS_ACCESS_KEY_ID of the environment"; }

 private:
  const SharedSurroundings surroundings_;
};

class WebIdentitySource final : public CredentialSource {
 public:
  explicit WebIdentitySource(SharedSurroundings surroundings) : surroundings_(std::move(surroundings)) {}

  base::Result<std::optional<ExpiringKeys>> fetch() override {
    const std::string file = surroundings_->value_of("AWS_WEB_IDENTITY_TOKEN_FILE");
    if (file.empty()) return std::nullopt;
    const AssumedRole role{role_arn(), surroundings_->value_of("AWS_ROLE_SESSION_NAME"), "", std::nullopt};
    if (role.arn.empty()) return base::invalid("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
    TRY(ExpiringKeys keys, assume_role_with_token(*surroundings_, role, file));
    return keys;
  }

  std::string describe() const override {
    return role_arn().empty() ? "web identity of the environment" : "web identity for the role " + role_arn();
  }

 private:
  std::string role_arn() const { return surroundings_->value_of("AWS_ROLE_ARN"); }

  const SharedSurroundings surroundings_;
};

}  // namespace

std::unique_ptr<CredentialSource> environment_source(SharedSurroundings surroundings) {
  return std::make_unique<EnvironmentSource>(std::move(surroundings));
}

std::unique_ptr<CredentialSource> web_identity_source(SharedSurroundings surroundings) {
  return std::make_unique<WebIdentitySource>(std::move(surroundings));
}

}  // namespace postino::remote
