#include <charconv>
#include <utility>

#include "remote/credentials/credential_calls.h"
#include "remote/credentials/credential_source.h"
#include "remote/credentials/key_answers.h"
#include "remote/credentials/profile_files.h"
#include "remote/credentials/token_service.h"

namespace postino::remote {

namespace {

constexpr int longest_profile_chain = 8;  // of roles that are taken on one after the other

std::string value_in(const Profile& profile, std::string_view name) {
  const auto found = profile.find(name);
  return found == profile.end() ? std::string() : found->second;
}

class ProfileSource final : public CredentialSource {
 public:
  ProfileSource(SharedSurroundings surroundings, std::string name)
      : surroundings_(std::move(surroundings)), name_(std::move(name)) {
    is_named_ = !name_.empty();
    if (is_named_) return;
    name_ = surroundings_->value_of("AWS_PROFILE");
    is_named_ = !name_.empty();
    if (!is_named_) name_ = "default";
  }

  base::Result<std::optional<ExpiringKeys>> fetch() override {
    TRY(const Profiles profiles, read_files());
    if (!profiles.contains(name_)) {
      if (!is_named_) return std::nullopt;
      return base::fail(base::ErrorCode::not_found,
                        "there is no profile " + name_ + " in " + credentials_file() + " and " + config_file());
    }
    TRY(std::optional<ExpiringKeys> keys, resolve(profiles, name_, 1));
    if (!keys && is_named_)
      return base::fail(base::ErrorCode::not_found, "the profile " + name_ + " says nothing about access keys");
    return keys;
  }

  std::string describe() const override { return "profile " + name_ + " of " + credentials_file(); }

 private:
  std::string file(const std::string& variable, const std::string& usual) const {
    const std::string home = surroundings_->value_of("HOME");
    std::string path = surroundings_->value_of(variable);
    if (path.empty()) path = "~/.aws/" + usual;
    return path.starts_with("~/") ? home + path.substr(1) : path;
  }
  std::string credentials_file() const { return file("AWS_SHARED_CREDENTIALS_FILE", "credentials"); }
  std::string config_file() const { return file("AWS_CONFIG_FILE", "config"); }

  // Again each time: keys are replaced in them. Where both files say something, the one for credentials counts.
  base::Result<Profiles> read_files() const {
    Profiles profiles;
    for (const auto& [path, kind] :
         {std::pair(config_file(), ProfileFile::config), std::pair(credentials_file(), ProfileFile::credentials)}) {
      const auto text = read_small_file(path);
      if (text)
        read_profiles(*text, kind, profiles);
      else if (text.error().code != base::ErrorCode::not_found)
        return base::invalid(text.error().message);  // it does not become readable by waiting
    }
    return profiles;
  }

  base::Result<std::optional<ExpiringKeys>> resolve(const Profiles& profiles, const std::string& name, int depth) {
    const auto found = profiles.find(name);
    if (found == profiles.end())
      return base::fail(base::ErrorCode::not_found, "there is no profile " + name + ", which another profile names");
    const Profile& profile = found->second;
    if (!value_in(profile, "role_arn").empty()) return role_of(profiles, name, profile, depth);
    return own_keys(name, profile);
  }

  // Those that the profile has without taking on a role.
  base::Result<std::optional<ExpiringKeys>> own_keys(const std::string& name, const Profile& profile) {
    const signature::AccessKeys keys{value_in(profile, "aws_access_key_id"), value_in(profile, "aws_secret_access_key"),
                                     value_in(profile, "aws_session_token")};
    if (!keys.id.empty() && !keys.secret.empty()) return ExpiringKeys{keys, std::nullopt};
    if (!keys.id.empty() || !keys.secret.empty())
      return base::invalid("the profile " + name + " has only one of aws_access_key_id and aws_secret_access_key");
    if (const std::string command = value_in(profile, "credential_process"); !command.empty()) {
      const auto of_program = keys_of_program(command);
      if (of_program) return *of_program;
      return base::fail(of_program.error().code,
                        "credential_process of the profile " + name + ": " + of_program.error().message);
    }
    if (profile.contains("sso_session") || profile.contains("sso_start_url"))
      return base::invalid("the profile " + name +
                           " signs in a person (SSO), which a server cannot: give it a credential_process");
    return std::nullopt;
  }

  base::Result<ExpiringKeys> keys_of_program(const std::string& command) {
    TRY(const std::vector<std::string> words, split_command(command));
    TRY(const std::string printed, surroundings_->programs->run(words, {}));
    return parse_process_keys(printed);
  }

  base::Result<std::optional<ExpiringKeys>> role_of(const Profiles& profiles, const std::string& name,
                                                    const Profile& profile, int depth) {
    if (depth > longest_profile_chain)
      return base::invalid("the profile " + name_ + " leads to too many others, or to itself");
    if (profile.contains("mfa_serial"))
      return base::invalid("the profile " + name + " needs the code of a person (mfa_serial), which a server has not");
    AssumedRole role{value_in(profile, "role_arn"), value_in(profile, "role_session_name"),
                     value_in(profile, "external_id"), std::nullopt};
    if (const std::string seconds = value_in(profile, "duration_seconds"); !seconds.empty()) {
      int number = 0;
      const auto [end, error] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), number);
      if (error != std::errc() || end != seconds.data() + seconds.size() || number < 1)
        return base::invalid("duration_seconds of the profile " + name + " must be a number of seconds");
      role.seconds = number;
    }
    if (const std::string file = value_in(profile, "web_identity_token_file"); !file.empty()) {
      TRY(ExpiringKeys keys, assume_role_with_token(*surroundings_, role, file));
      return keys;
    }
    TRY(const std::optional<ExpiringKeys> own, keys_for_role(profiles, name, profile, depth));
    if (!own)
      return base::invalid("the profile " + name +
                           " names a role, and no source_profile or credential_source with keys");
    TRY(ExpiringKeys keys, assume_role(*surroundings_, role, own->keys));
    return keys;
  }

  // Those that may take on the role of a profile.
  base::Result<std::optional<ExpiringKeys>> keys_for_role(const Profiles& profiles, const std::string& name,
                                                          const Profile& profile, int depth) {
    const std::string source = value_in(profile, "source_profile");
    if (source == name) return own_keys(name, profile);
    if (!source.empty()) return resolve(profiles, source, depth + 1);
    const std::string place = value_in(profile, "credential_source");
    if (place == "Environment") return environment_source(surroundings_)->fetch();
    if (place == "EcsContainer") return container_source(surroundings_)->fetch();
    if (place == "Ec2InstanceMetadata") return instance_source(surroundings_)->fetch();
    if (place.empty()) return std::nullopt;
    return base::invalid("credential_source of the profile " + name +
                         " must be Environment, EcsContainer or Ec2InstanceMetadata");
  }

  const SharedSurroundings surroundings_;
  std::string name_;
  bool is_named_ = false;
};

}  // namespace

std::unique_ptr<CredentialSource> profile_source(SharedSurroundings surroundings, std::string name) {
  return std::make_unique<ProfileSource>(std::move(surroundings), std::move(name));
}

}  // namespace postino::remote
