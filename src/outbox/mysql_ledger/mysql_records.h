// Records of requests that are executed once, in a database that several servers share.
#pragma once

#include <functional>
#include <string>

#include "idempotency/records.h"
#include "mysql/database.h"

namespace postino::outbox {

class MysqlRecords final : public idempotency::Records {
 public:
  // The database has the tables of the outbox, and must outlive it.
  explicit MysqlRecords(mysql::Database& database) : database_(database) {}

  const std::string& place() const override { return place_; }
  store::Answer<std::optional<item::Item>> find(const std::string& partition_key) override;
  store::Answer<void> insert(const idempotency::Record& record) override;
  store::Answer<void> replace(const item::Item& seen, const idempotency::Record& record) override;
  store::Answer<void> replace_owned(const idempotency::Record& record) override;
  store::Answer<void> hold(const idempotency::Record& record, bool notes_progress) override;
  store::Answer<void> settle(const idempotency::Record& record) override;
  store::Answer<void> put_part(const std::string& name, std::int64_t part, std::string bytes,
                               base::TimePoint keep_until) override;
  store::Answer<std::optional<std::string>> find_part(const std::string& name, std::int64_t part) override;

 private:
  // What the record becomes; nothing when it must stay as it is.
  using Decide = std::function<std::optional<item::Item>(const std::optional<item::Item>& found)>;
  // In one transaction, with the row locked. May call `decide` again.
  store::Answer<void> change(const std::string& partition_key, const Decide& decide);
  // The same for a record that the owner of the one given has, with this status.
  store::Answer<void> change_owned(const idempotency::Record& record, idempotency::Status status,
                                   const std::function<item::Item(idempotency::Record found)>& decide);

  mysql::Database& database_;
  const std::string place_ = "idempotency_records";
};

}  // namespace postino::outbox
