// Records in tables of a store: "<table>", and "<table>-answers" for answers that are too large.
#pragma once

#include <string>

#include "idempotency/records.h"

namespace postino::idempotency {

class StoreRecords final : public Records {
 public:
  // The store must outlive it.
  StoreRecords(store::Store& store, std::string table) : store_(store), table_(std::move(table)) {}

  const std::string& place() const override { return table_; }
  store::Answer<std::optional<item::Item>> find(const std::string& partition_key) override;
  store::Answer<void> insert(const Record& record) override;
  store::Answer<void> replace(const item::Item& seen, const Record& record) override;
  store::Answer<void> replace_owned(const Record& record) override;
  store::Answer<void> hold(const Record& record, bool notes_progress) override;
  store::Answer<void> settle(const Record& record) override;
  store::Answer<void> put_part(const std::string& name, std::int64_t part, std::string bytes,
                               base::TimePoint keep_until) override;
  store::Answer<std::optional<std::string>> find_part(const std::string& name, std::int64_t part) override;

  // The record as an action of a transaction: if no other execution has the key, by the rule of guards, or if the
  // record is still the owner's.
  store::TransactPut put_if_free(const Record& record, base::TimePoint now) const;
  store::TransactPut put_if_owned(const Record& record) const;
  // hold() with the progress, as an action of a transaction.
  store::TransactUpdate hold_if_owned(const Record& record) const;
  // Of an execution that was completed with the response `noted`: the record has another one.
  store::Answer<void> replace_response(const Record& record, const std::string& noted);

 private:
  store::TransactPut put_of(const Record& record) const;
  store::Answer<void> write(const store::TransactPut& put);
  store::TransactUpdate hold_of(const Record& record, bool notes_progress) const;
  // Changes attributes of a record if it is still the owner's.
  store::TransactUpdate update_if_owned(const Record& record, std::string text, expr::Names names, item::Map values,
                                        Status status) const;
  store::Answer<void> write(store::TransactUpdate update);

  store::Store& store_;
  const std::string table_;
};

}  // namespace postino::idempotency
