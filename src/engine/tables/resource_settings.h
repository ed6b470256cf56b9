// Policies and contributor insights of tables, kept in the catalog.
#pragma once

#include "engine/catalog/core.h"
#include "store/store.h"

namespace postino::engine {

// Stateless apart from the core; any thread.
class ResourceSettings final : public store::ResourceSettings {
 public:
  explicit ResourceSettings(Core& core) : core_(core) {}

  bool has_policies() const override { return core_.catalog->has_policies(); }
  store::ResourcePolicyPointer policy_of(std::string_view arn) const override;
  store::Answer<store::ResourcePolicyPointer> get_policy(const std::string& arn) override;
  store::Answer<std::string> put_policy(const std::string& arn, const std::string& text,
                                        const std::optional<std::string>& expected_revision) override;
  store::Answer<std::optional<std::string>> delete_policy(const std::string& arn,
                                                          const std::optional<std::string>& expected_revision) override;

  store::Answer<store::InsightsDescription> describe_insights(const store::InsightsTarget& target) override;
  store::Answer<store::InsightsDescription> update_insights(const store::InsightsTarget& target, bool enabled,
                                                            std::optional<store::InsightsMode> mode) override;
  store::Answer<std::vector<store::InsightsDescription>> list_insights(
      const std::optional<std::string>& table_name) override;

 private:
  Core& core_;
};

}  // namespace postino::engine
