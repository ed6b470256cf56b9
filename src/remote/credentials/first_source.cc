#include <atomic>
#include <utility>
#include <vector>

#include "remote/credentials/credential_source.h"

namespace postino::remote {

namespace {

class FirstSource final : public CredentialSource {
 public:
  explicit FirstSource(std::vector<std::unique_ptr<CredentialSource>> sources) : sources_(std::move(sources)) {}

  base::Result<std::optional<ExpiringKeys>> fetch() override {
    if (CredentialSource* const chosen = chosen_) {
      TRY(std::optional<ExpiringKeys> keys, chosen->fetch());
      if (keys) return keys;
      chosen_ = nullptr;
    }
    std::string without;  // those that have none
    for (const auto& source : sources_) {
      auto keys = source->fetch();
      if (!keys)
        return base::fail(keys.error().code, "no access keys from the " + source->describe() + ": " +
                                                 keys.error().message +
                                                 (without.empty() ? "" : "; none from " + without));
      if (!*keys) without.append(without.empty() ? "the " : ", the ").append(source->describe());
      if (!*keys) continue;
      chosen_ = source.get();
      return keys;
    }
    return std::nullopt;
  }

  std::string describe() const override {
    if (const CredentialSource* const chosen = chosen_) return chosen->describe();
    std::string all;
    for (const auto& source : sources_) all.append(all.empty() ? "" : ", ").append(source->describe());
    return all;
  }
  bool outlives_expiry() const override {
    const CredentialSource* const chosen = chosen_;
    return chosen != nullptr && chosen->outlives_expiry();
  }

 private:
  const std::vector<std::unique_ptr<CredentialSource>> sources_;
  std::atomic<CredentialSource*> chosen_ = nullptr;
};

}  // namespace

std::unique_ptr<CredentialSource> first_source(std::vector<std::unique_ptr<CredentialSource>> sources) {
  return std::make_unique<FirstSource>(std::move(sources));
}

}  // namespace postino::remote
