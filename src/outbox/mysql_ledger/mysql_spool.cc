#include "outbox/mysql_ledger/mysql_spool.h"

#include <algorithm>

#include "outbox/mysql_ledger/mysql_statement.h"

namespace postino::outbox {

namespace {

constexpr std::size_t row_part_bytes = 512 << 10;
constexpr std::size_t most_statement_bytes = 4 << 20;
constexpr std::int64_t parts_read_together = 8;
constexpr std::int64_t most_row_parts = 10'000;  // of an object: more than any message has

std::size_t row_part_count(std::size_t bytes) { return bytes == 0 ? 1 : (bytes + row_part_bytes - 1) / row_part_bytes; }

// Rows that are inserted together, as many as fit.
class PartInsertion {
 public:
  explicit PartInsertion(mysql::Connection& connection)
      : connection_(connection), most_bytes_(std::min(most_statement_bytes, connection.largest_statement() / 2)) {}

  mysql::Result<void> add(const MysqlSpool::Placed& placed) {
    const std::string& bytes = placed.object.bytes;
    const std::size_t parts = row_part_count(bytes.size());
    for (std::size_t part = 0; part < parts; ++part) {
      const std::string_view content = std::string_view(bytes).substr(part * row_part_bytes, row_part_bytes);
      if (bytes_ + content.size() > most_bytes_) TRY_VOID(flush());
      parameters_.push_back(placed.path);
      parameters_.push_back(part);
      parameters_.push_back(parts);
      parameters_.push_back(mysql::Bytes{content});
      parameters_.push_back(base::epoch_milliseconds(placed.object.keep_until));
      bytes_ += content.size();
    }
    return {};
  }

  mysql::Result<void> flush() {
    for (std::span<const mysql::Parameter> rest = parameters_; !rest.empty();) {
      const std::size_t rows = rounded_down(rest.size() / columns);
      TRY_VOID(connection_.execute("INSERT INTO email_spool (path, part, parts, content, expires_ms) VALUES " +
                                       repeated("(?, ?, ?, ?, ?)", rows),
                                   rest.first(rows * columns)));
      rest = rest.subspan(rows * columns);
    }
    parameters_.clear();
    bytes_ = 0;
    return {};
  }

 private:
  static constexpr std::size_t columns = 5;

  mysql::Connection& connection_;
  const std::size_t most_bytes_;
  std::vector<mysql::Parameter> parameters_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::string MysqlSpool::new_path(const SpoolObject& object) {
  return spool_path(object, base::make_uuid(random_).substr(0, 8));
}

mysql::Result<void> MysqlSpool::insert(mysql::Connection& connection, const std::vector<const Placed*>& objects) {
  PartInsertion insertion(connection);
  for (const Placed* placed : objects) TRY_VOID(insertion.add(*placed));
  return insertion.flush();
}

base::Result<std::string> MysqlSpool::write(const SpoolObject& object) {
  const Placed placed{new_path(object), object};
  const auto written = database_.transact([&](mysql::Connection& connection, const mysql::Attempt& attempt) {
    auto inserted = insert(connection, {&placed});
    // The path is this object's own: what is there came from an attempt that seemed to have failed.
    if (!inserted && attempt.commit_unknown && inserted.error().kind == mysql::ErrorKind::duplicate_key)
      return mysql::Result<void>();
    return inserted;
  });
  if (!written) return base::propagate(mysql::as_error(written.error()));
  return placed.path;
}

mysql::Result<mysql::Rows> MysqlSpool::read_parts(const std::string& path, std::int64_t from, std::int64_t count) {
  return database_.read([&](mysql::Connection& connection, const mysql::Attempt&) {
    return connection.query(
        "SELECT part, parts, content FROM email_spool WHERE path = ? AND part >= ? ORDER BY part LIMIT ?",
        {path, from, count});
  });
}

// A few parts at a time, because rows that are read together are in memory beside what is made of them.
base::Result<std::string> MysqlSpool::read_if(const std::string& path, const Admit& admit) {
  std::string bytes;
  std::int64_t parts = 1;
  for (std::int64_t next = 0; next < parts;) {
    const auto rows = read_parts(path, next, next == 0 ? 1 : parts_read_together);
    if (!rows) return base::propagate(mysql::as_error(rows.error()));
    if (next == 0) {
      if (rows->empty()) return base::fail(base::ErrorCode::not_found, "there is nothing in the spool at " + path);
      parts = (*rows)[0].number(1);
      if (parts < 1 || parts > most_row_parts)
        return base::fail(base::ErrorCode::corrupt, "the spool entry at " + path + " is malformed");
      const std::size_t bytes_at_most =
          parts > 1 ? static_cast<std::size_t>(parts) * row_part_bytes : (*rows)[0].text(2).size();
      if (!admit(bytes_at_most)) return not_admitted(path);
      bytes.reserve(bytes_at_most);
    }
    if (rows->empty()) return base::fail(base::ErrorCode::corrupt, "a part of " + path + " is missing in the spool");
    for (std::size_t i = 0; i < rows->size(); ++i, ++next) {
      const mysql::Row row = (*rows)[i];
      if (row.number(0) != next || row.number(1) != parts)
        return base::fail(base::ErrorCode::corrupt, "a part of " + path + " is missing in the spool");
      bytes += row.text(2);
    }
  }
  return bytes;
}

base::Result<void> MysqlSpool::remove(const std::string& path) {
  const auto removed = database_.read([&](mysql::Connection& connection, const mysql::Attempt&) {
    return connection.execute("DELETE FROM email_spool WHERE path = ?", {path});
  });
  if (!removed) return base::propagate(mysql::as_error(removed.error()));
  if (*removed == 0) return base::fail(base::ErrorCode::not_found, "there is nothing in the spool at " + path);
  return {};
}

}  // namespace postino::outbox
