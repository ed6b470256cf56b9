// The spool inside the database of the ledger, for those who share no directory. Large objects are in several rows.
#pragma once

#include <vector>

#include "base/random.h"
#include "mysql/database.h"
#include "outbox/ledger/spool.h"

namespace postino::outbox {

class MysqlSpool final : public Spool {
 public:
  // Both must outlive it.
  MysqlSpool(mysql::Database& database, base::Random& random) : database_(database), random_(random) {}

  base::Result<std::string> write(const SpoolObject& object) override;
  base::Result<std::string> read_if(const std::string& path, const Admit& admit) override;
  base::Result<void> remove(const std::string& path) override;

  // For the ledger, whose transactions write objects along with what names them. A path of its own for each object:
  std::string new_path(const SpoolObject& object);
  struct Placed {
    std::string path;
    SpoolObject object;
  };
  static mysql::Result<void> insert(mysql::Connection& connection, const std::vector<const Placed*>& objects);

 private:
  // The first of those that are there, from a number on.
  mysql::Result<mysql::Rows> read_parts(const std::string& path, std::int64_t from, std::int64_t count);

  mysql::Database& database_;
  base::Random& random_;
};

}  // namespace postino::outbox
