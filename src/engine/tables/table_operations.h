// The control plane of the embedded store.
#pragma once

#include "engine/catalog/core.h"
#include "store/table_operations.h"

namespace postino::engine {

// Stateless apart from the core; any thread.
class TableOperations {
 public:
  explicit TableOperations(Core& core) : core_(core) {}

  store::Answer<store::TableDescription> create(const store::CreateTableRequest& request);
  store::Answer<store::TableDescription> describe(const std::string& table_name);
  store::Answer<store::TableDescription> update(const store::UpdateTableRequest& request);
  store::Answer<store::TableDescription> remove(const std::string& table_name);
  store::Answer<store::ListTablesResponse> list(const store::ListTablesRequest& request);
  store::Answer<store::TimeToLiveSpecification> update_time_to_live(
      const std::string& table_name, const store::TimeToLiveSpecification& specification);
  store::Answer<store::TimeToLiveDescription> describe_time_to_live(const std::string& table_name);
  store::Answer<void> tag(const std::string& arn, const std::vector<store::Tag>& tags);
  store::Answer<void> untag(const std::string& arn, const std::vector<std::string>& keys);
  store::Answer<store::ListTagsResponse> list_tags(const std::string& arn);

 private:
  Core& core_;
};

}  // namespace postino::engine
