#include "outbox/mysql_ledger/mysql_records.h"

#include "base/hash.h"
#include "item/json_codec.h"

namespace postino::outbox {

using idempotency::Record;
using idempotency::Status;
using mysql::Attempt;
using mysql::Connection;

namespace {

// The database was asked patiently already: this is not repeated, as a busy store would be.
constexpr store::ErrorType database_failed = store::ErrorType::limit_exceeded;

// Keys may be longer than an index takes, and differ in nothing but case.
std::string hash_of_key(const std::string& partition_key) { return base::to_hex(base::sha256(partition_key)); }

store::Error store_error(const mysql::Error& error) { return {database_failed, mysql::as_error(error).message}; }

// What another program has damaged is a record that cannot be read, and not none.
item::Item item_in(const mysql::Row& row, const std::string& partition_key) {
  auto item = item::parse_item(row.text(0));
  return item ? *std::move(item) : item::Item{{"pk", partition_key}};
}

mysql::Result<std::optional<item::Item>> lock_record(Connection& connection, const std::string& partition_key) {
  TRY(const mysql::Rows rows, connection.query("SELECT record FROM idempotency_records WHERE key_hash = ? FOR UPDATE",
                                               {hash_of_key(partition_key)}));
  if (rows.empty()) return std::optional<item::Item>();
  return std::optional(item_in(rows[0], partition_key));
}

mysql::Result<void> write_record(Connection& connection, const std::string& partition_key, const item::Item& item,
                                 bool is_new) {
  const auto record = idempotency::from_item(item);
  const std::int64_t expires = record ? base::epoch_milliseconds(record->expires_at) : 0;
  const std::string text = item::to_json(item);
  const std::string hash = hash_of_key(partition_key);
  if (!is_new) {
    TRY_VOID(connection.execute("UPDATE idempotency_records SET record = ?, expires_ms = ? WHERE key_hash = ?",
                                {mysql::Bytes{text}, expires, hash}));
    return {};
  }
  const auto inserted =
      connection.execute("INSERT INTO idempotency_records (key_hash, record, expires_ms) VALUES (?, ?, ?)",
                         {hash, mysql::Bytes{text}, expires});
  if (inserted) return {};
  // Another request has come in between: this one looks again.
  if (inserted.error().kind == mysql::ErrorKind::duplicate_key)
    return mysql::fail(mysql::ErrorKind::transient, 0, "another request has just taken the idempotency key");
  return base::propagate(inserted.error());
}

// With what is there, as a store tells it.
store::Error other_record(std::optional<item::Item> found) {
  store::Error error(store::ErrorType::conditional_check_failed, "The conditional request failed");
  auto details = std::make_shared<store::ErrorDetails>();
  details->item = std::move(found);
  error.details = std::move(details);
  return error;
}

}  // namespace

store::Answer<std::optional<item::Item>> MysqlRecords::find(const std::string& partition_key) {
  const auto rows = database_.read([&](Connection& connection, const Attempt&) {
    return connection.query("SELECT record FROM idempotency_records WHERE key_hash = ?", {hash_of_key(partition_key)});
  });
  if (!rows) return base::propagate(store_error(rows.error()));
  if (rows->empty()) return std::optional<item::Item>();
  return std::optional(item_in((*rows)[0], partition_key));
}

store::Answer<void> MysqlRecords::change(const std::string& partition_key, const Decide& decide) {
  std::optional<item::Item> written;
  std::optional<item::Item> in_the_way;
  bool is_refused = false;
  const auto done = database_.transact([&](Connection& connection, const Attempt& attempt) -> mysql::Result<void> {
    TRY(const std::optional<item::Item> found, lock_record(connection, partition_key));
    is_refused = false;
    // An attempt of ours of which no answer came may have done it.
    if (attempt.commit_unknown && written && found == written) return {};
    std::optional<item::Item> wanted = decide(found);
    is_refused = !wanted;
    if (is_refused) {
      in_the_way = found;
      return {};
    }
    written = std::move(wanted);
    return write_record(connection, partition_key, *written, !found);
  });
  if (!done) return base::propagate(store_error(done.error()));
  if (is_refused) return base::propagate(other_record(std::move(in_the_way)));
  return {};
}

store::Answer<void> MysqlRecords::change_owned(const Record& record, Status status,
                                               const std::function<item::Item(Record found)>& decide) {
  return change(idempotency::partition_key(record.operation, record.key),
                [&](const std::optional<item::Item>& found) -> std::optional<item::Item> {
                  auto present = found ? idempotency::from_item(*found) : base::Result<Record>(base::invalid("none"));
                  if (!present || !present->has_lease() || present->owner != record.owner || present->status != status)
                    return std::nullopt;
                  return decide(*std::move(present));
                });
}

store::Answer<void> MysqlRecords::insert(const Record& record) {
  return change(idempotency::partition_key(record.operation, record.key),
                [&](const std::optional<item::Item>& found) -> std::optional<item::Item> {
                  return found ? std::nullopt : std::optional(idempotency::to_item(record));
                });
}

store::Answer<void> MysqlRecords::replace(const item::Item& seen, const Record& record) {
  return change(idempotency::partition_key(record.operation, record.key),
                [&](const std::optional<item::Item>& found) -> std::optional<item::Item> {
                  return found == seen ? std::optional(idempotency::to_item(record)) : std::nullopt;
                });
}

store::Answer<void> MysqlRecords::replace_owned(const Record& record) {
  return change_owned(record, Status::in_progress, [&](const Record&) { return idempotency::to_item(record); });
}

store::Answer<void> MysqlRecords::hold(const Record& record, bool notes_progress) {
  return change_owned(record, Status::in_progress, [&](Record held) {
    held.updated_at = record.updated_at;
    held.lease_until = record.lease_until;
    held.expires_at = record.expires_at;
    if (notes_progress) held.progress = record.progress;
    return idempotency::to_item(held);
  });
}

store::Answer<void> MysqlRecords::settle(const Record& record) {
  return change_owned(record, Status::completed, [&](Record settled) {
    settled.updated_at = record.updated_at;
    if (record.life_ends > record.updated_at) settled.expires_at = record.life_ends;
    settled.progress.clear();
    return idempotency::to_item(settled);
  });
}

store::Answer<void> MysqlRecords::put_part(const std::string& name, std::int64_t part, std::string bytes,
                                           base::TimePoint keep_until) {
  // The name is unique, so that what is there came from an attempt of this call.
  const auto put = database_.read([&](Connection& connection, const Attempt&) {
    return connection.execute(
        "INSERT INTO idempotency_answers (key_hash, part, content, expires_ms) VALUES (?, ?, ?, ?)"
        " ON DUPLICATE KEY UPDATE expires_ms = expires_ms",
        {hash_of_key(name), part, mysql::Bytes{bytes}, base::epoch_milliseconds(keep_until)});
  });
  if (!put) return base::propagate(store_error(put.error()));
  return {};
}

store::Answer<std::optional<std::string>> MysqlRecords::find_part(const std::string& name, std::int64_t part) {
  const auto rows = database_.read([&](Connection& connection, const Attempt&) {
    return connection.query("SELECT content FROM idempotency_answers WHERE key_hash = ? AND part = ?",
                            {hash_of_key(name), part});
  });
  if (!rows) return base::propagate(store_error(rows.error()));
  return rows->empty() ? std::nullopt : std::optional(std::string((*rows)[0].text(0)));
}

}  // namespace postino::outbox
