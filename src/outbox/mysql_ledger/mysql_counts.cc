#include "outbox/mysql_ledger/mysql_counts.h"

#include "outbox/mysql_ledger/mysql_statement.h"

namespace postino::outbox {

namespace {

const std::string all_tenants;  // no tenant has no name

}  // namespace

std::size_t CountLanes::take() {
  const std::lock_guard lock(mutex_);
  std::size_t slice = first_;
  for (std::size_t i = 0; i < count_slices && users_[slice] > 0; ++i) slice = (slice + 1) % count_slices;
  ++users_[slice];
  return slice;
}

void CountLanes::give_back(std::size_t slice) {
  const std::lock_guard lock(mutex_);
  --users_[slice];
}

void CountDifferences::add(const std::string& tenant, State state, std::int64_t difference) {
  differences_[{all_tenants, name_of(state)}] += difference;
  if (!tenant.empty()) differences_[{tenant, name_of(state)}] += difference;
}

mysql::Result<void> CountDifferences::write(mysql::Connection& connection, std::size_t slice) const {
  Parameters parameters;
  std::size_t rows = 0;
  for (const auto& [key, difference] : differences_) {
    if (difference == 0) continue;
    parameters.add(key.first);
    parameters.add(key.second);
    parameters.add(slice);
    parameters.add(difference);
    ++rows;
  }
  if (rows == 0) return {};
  for (; rows < rounded_up(rows); ++rows) {
    const auto& [tenant, state] = differences_.begin()->first;
    parameters.add(tenant);
    parameters.add(state);
    parameters.add(slice);
    parameters.add(0);
  }
  TRY_VOID(connection.execute("INSERT INTO email_counts (tenant, status, slice, amount) VALUES " +
                                  repeated("(?, ?, ?, ?)", rows) +
                                  " ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)",
                              parameters.list()));
  return {};
}

mysql::Result<int> recount(mysql::Connection& connection) {
  TRY_VOID(connection.begin());
  // One process at a time: two would both add what is missing. The row is none of a state.
  TRY_VOID(
      connection.execute("INSERT INTO email_counts (tenant, status, slice, amount) VALUES ('', 'RECOUNT', 0, 0)"
                         " ON DUPLICATE KEY UPDATE amount = 0"));
  // One statement sees rows and counts as of one moment, and every transaction changes both. So what others change
  // meanwhile is right beside the difference of that moment.
  TRY(const mysql::Rows rows,
      connection.query("SELECT tenant, status, SUM(amount) FROM"
                       " (SELECT tenant, ledger_status AS status, COUNT(*) AS amount FROM emails"
                       " WHERE ledger_status IS NOT NULL AND tenant <> '' GROUP BY tenant, ledger_status"
                       " UNION ALL SELECT '', ledger_status, COUNT(*) FROM emails WHERE ledger_status IS NOT NULL"
                       " GROUP BY ledger_status"
                       " UNION ALL SELECT tenant, status, -amount FROM email_counts) AS differences"
                       " GROUP BY tenant, status HAVING SUM(amount) <> 0"));
  CountDifferences differences;
  int wrong = 0;
  for (const mysql::Row row : rows) {
    const auto state = parse_state(row.text(1));
    if (!state) continue;
    differences.correct(std::string(row.text(0)), *state, row.number(2));
    ++wrong;
  }
  TRY_VOID(differences.write(connection, 0));
  TRY_VOID(connection.commit());
  return wrong;
}

mysql::Result<Counts> read_counts(mysql::Connection& connection, const std::optional<std::string>& tenant) {
  TRY(const mysql::Rows rows,
      connection.query("SELECT status, SUM(amount) FROM email_counts WHERE tenant = ? GROUP BY status",
                       {tenant.value_or(all_tenants)}));
  Counts counts{};
  for (const mysql::Row row : rows)
    if (const auto state = parse_state(row.text(0))) counts[static_cast<std::size_t>(*state)] = row.number(1);
  return counts;
}

}  // namespace postino::outbox
