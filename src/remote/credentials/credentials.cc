#include "remote/credentials/credentials.h"

#include <utility>

namespace postino::remote {

namespace {

class FixedCredentials final : public Credentials {
 public:
  explicit FixedCredentials(signature::AccessKeys keys) : keys_(std::move(keys)) {}

  base::Result<signature::AccessKeys> keys() override { return keys_; }
  void refused() override {}
  std::string describe() const override { return "access key " + keys_.id; }

 private:
  const signature::AccessKeys keys_;
};

}  // namespace

std::unique_ptr<Credentials> fixed_credentials(signature::AccessKeys keys) {
  return std::make_unique<FixedCredentials>(std::move(keys));
}

}  // namespace postino::remote
