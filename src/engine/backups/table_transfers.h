// What exports and imports of tables need of the store: tables as they were, tables to be filled, and records.
#pragma once

#include "engine/catalog/core.h"
#include "store/store.h"

namespace postino::engine {

// Stateless apart from the core; any thread. Those who use its readers end before the core does.
class EngineTransfers final : public store::TableTransfers {
 public:
  explicit EngineTransfers(Core& core) : core_(core) {}

  store::Answer<store::PastTable> past_table(const std::string& table_arn,
                                             std::optional<base::TimePoint> time) override;
  store::Answer<std::unique_ptr<store::ItemReader>> read_items(const store::PastTable& table) override;
  store::Answer<std::unique_ptr<store::ChangeReader>> read_changes(const store::PastTable& table,
                                                                   base::TimePoint from) override;
  store::Answer<store::TableDescription> begin_import(const store::CreateTableRequest& request,
                                                      const store::TransferRecord& record) override;
  store::Answer<store::ImportedItems> import_items(const std::string& table_name,
                                                   std::vector<item::Item> items) override;
  store::Answer<void> end_import(const std::string& table_name, bool keep_table,
                                 const store::TransferRecord& record) override;
  store::Answer<void> put_record(const store::TransferRecord& record) override;
  store::Answer<void> remove_record(const std::string& id) override;
  store::Answer<std::vector<store::TransferRecord>> records() override;

 private:
  // The table of that name and id, if it can still be read as it was from `from` on.
  store::Answer<TablePointer> restorable(const store::PastTable& past, base::TimePoint from) const;

  Core& core_;
};

}  // namespace postino::engine
