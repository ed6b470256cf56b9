// The suppression lists in MySQL or MariaDB.
#pragma once

#include "mysql/database.h"
#include "outbox/ledger/suppressions.h"

namespace postino::outbox {

class MysqlSuppressions final : public SuppressionList {
 public:
  // The schema must be there (migrate); the database must outlive it.
  explicit MysqlSuppressions(mysql::Database& database) : database_(database) {}

  base::Result<void> add(const std::string& tenant, const Suppression& suppression) override;
  base::Result<bool> remove(const std::string& tenant, const std::string& address) override;
  base::Result<std::vector<Suppression>> find(const std::string& tenant,
                                              const std::vector<std::string>& addresses) override;
  base::Result<SuppressionPage> list(const std::string& tenant, const std::string& cursor, int limit) override;
  base::Result<std::vector<std::string>> tenants() override;

 private:
  mysql::Database& database_;
};

}  // namespace postino::outbox
