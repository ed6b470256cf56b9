#include "outbox/mysql_ledger/mysql_suppressions.h"

#include <map>

#include "mail/address.h"
#include "outbox/mysql_ledger/mysql_statement.h"
#include "store/list_cursor.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;

namespace {

Suppression suppression_in(const mysql::Row& row) {
  return {std::string(row.text(0)), std::string(row.text(1)), base::from_epoch_milliseconds(row.number(2))};
}

}  // namespace

base::Result<void> MysqlSuppressions::add(const std::string& tenant, const Suppression& suppression) {
  const auto written = database_.read([&](Connection& connection, const Attempt&) {
    Parameters parameters;
    parameters.add(tenant);
    parameters.keep(mail::comparable_address(suppression.address));
    parameters.add_text(suppression.reason);
    parameters.add(base::epoch_milliseconds(suppression.since));
    return connection.execute(
        "INSERT INTO email_suppressions (tenant, address, reason, since_ms) VALUES (?, ?, ?, ?)"
        " ON DUPLICATE KEY UPDATE reason = VALUES(reason), since_ms = VALUES(since_ms)",
        parameters.list());
  });
  if (!written) return base::propagate(mysql::as_write_error(written.error()));
  return {};
}

base::Result<bool> MysqlSuppressions::remove(const std::string& tenant, const std::string& address) {
  const auto removed = database_.read([&](Connection& connection, const Attempt& attempt) -> mysql::Result<bool> {
    TRY(const std::uint64_t rows, connection.execute("DELETE FROM email_suppressions WHERE tenant = ? AND address = ?",
                                                     {tenant, mail::comparable_address(address)}));
    return rows > 0 || attempt.commit_unknown;  // an earlier attempt may have been the one that removed it
  });
  if (!removed) return base::propagate(mysql::as_write_error(removed.error()));
  return *removed;
}

base::Result<std::vector<Suppression>> MysqlSuppressions::find(const std::string& tenant,
                                                               const std::vector<std::string>& addresses) {
  if (addresses.empty()) return std::vector<Suppression>();
  Parameters parameters;
  parameters.add(tenant);
  for (const std::string& address : addresses) parameters.keep(mail::comparable_address(address));
  parameters.repeat_last(1, 1 + rounded_up(addresses.size()));
  const std::string sql =
      "SELECT address, reason, since_ms FROM email_suppressions WHERE tenant IN ('', ?) AND address IN " +
      placeholders(rounded_up(addresses.size())) + " ORDER BY tenant";
  const auto rows =
      database_.read([&](Connection& connection, const Attempt&) { return connection.query(sql, parameters.list()); });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  std::map<std::string, Suppression> known;  // those of the empty tenant come first, and stay
  for (const mysql::Row row : *rows) known.emplace(row.text(0), suppression_in(row));
  std::vector<Suppression> found;
  for (const std::string& address : addresses)
    if (const auto each = known.find(mail::comparable_address(address)); each != known.end())
      found.push_back(each->second);
  return found;
}

base::Result<SuppressionPage> MysqlSuppressions::list(const std::string& tenant, const std::string& cursor, int limit) {
  std::string after;
  if (!cursor.empty()) {
    TRY(after, store::read_cursor("suppressions", cursor));
  }
  const auto rows = database_.read([&](Connection& connection, const Attempt&) {
    return connection.query(
        "SELECT address, reason, since_ms FROM email_suppressions WHERE tenant = ? AND address > ?"
        " ORDER BY address LIMIT ?",
        {tenant, after, limit + 1});
  });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  SuppressionPage page;
  for (const mysql::Row row : *rows) page.suppressions.push_back(suppression_in(row));
  if (page.suppressions.size() > static_cast<std::size_t>(limit)) {
    page.suppressions.resize(static_cast<std::size_t>(limit));
    page.cursor = store::make_cursor("suppressions", page.suppressions.back().address);
  }
  return page;
}

base::Result<std::vector<std::string>> MysqlSuppressions::tenants() {
  const auto rows = database_.read([&](Connection& connection, const Attempt&) {
    return connection.query("SELECT DISTINCT tenant FROM email_suppressions ORDER BY tenant");
  });
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  std::vector<std::string> tenants;
  for (const mysql::Row row : *rows) tenants.emplace_back(row.text(0));
  return tenants;
}

}  // namespace postino::outbox
