// The suppression lists on a store with DynamoDB's data model.
#pragma once

#include "outbox/ledger/suppressions.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::outbox {

class StoreSuppressions : public SuppressionList {
 public:
  // The tables must be there (prepare_tables); the store must outlive it.
  StoreSuppressions(store::Store& store, const StoreTables& tables, store::Retry retry)
      : store_(store), table_(tables.suppressions()), retry_(std::move(retry)) {}

  base::Result<void> add(const std::string& tenant, const Suppression& suppression) override;
  base::Result<bool> remove(const std::string& tenant, const std::string& address) override;
  base::Result<std::vector<Suppression>> find(const std::string& tenant,
                                              const std::vector<std::string>& addresses) override;
  base::Result<SuppressionPage> list(const std::string& tenant, const std::string& cursor, int limit) override;
  base::Result<std::vector<std::string>> tenants() override;

 private:
  base::Result<std::vector<item::Item>> read(std::vector<item::Key> keys);

  store::Store& store_;
  const std::string table_;
  const store::Retry retry_;
};

}  // namespace postino::outbox
