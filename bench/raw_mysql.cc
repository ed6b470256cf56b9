#include "raw_mysql.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "outbox/mysql_ledger/mysql_counts.h"
#include "outbox/mysql_ledger/mysql_email_row.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::bench {

namespace {

[[noreturn]] void give_up(const std::string& what, const char* error) {
  std::fprintf(stderr, "bench: %s: %s\n", what.c_str(), error);
  std::abort();
}

long long now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

constexpr const char* recipients = R"([{"address":"bob@example.org","state":"delivered","reply":"250 2.0.0 Ok"}])";
constexpr const char* reached = R"({"ACCEPTED":1,"INTAKING":1,"READY":1,"PROCESSING":1,"SENT":1})";

}  // namespace

RawMysqlLoop::RawMysqlLoop(const mysql::ServerOptions& server) : connection_(mysql_init(nullptr), mysql_close) {
  static std::atomic<unsigned> next_slice = 0;
  slice_ = next_slice++ % outbox::count_slices;
  if (mysql_real_connect(connection_.get(), nullptr, server.user.c_str(), server.password.c_str(),
                         server.database.c_str(), 0, server.socket.c_str(), 0) == nullptr)
    give_up("connect", mysql_error(connection_.get()));
  run("SET NAMES utf8mb4");
  run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
}

void RawMysqlLoop::run(const char* sql) {
  if (mysql_query(connection_.get(), sql) != 0) give_up(sql, mysql_error(connection_.get()));
}

MYSQL_STMT* RawMysqlLoop::send(const std::string& sql, std::vector<Value>& values) {
  MYSQL_STMT*& statement = statements_[sql];
  if (statement == nullptr) {
    statement = mysql_stmt_init(connection_.get());
    if (mysql_stmt_prepare(statement, sql.data(), sql.size()) != 0) give_up(sql, mysql_stmt_error(statement));
  }
  std::vector<MYSQL_BIND> bindings(values.size());
  std::memset(bindings.data(), 0, bindings.size() * sizeof(MYSQL_BIND));
  for (std::size_t i = 0; i < values.size(); ++i) {
    bindings[i].buffer_type = values[i].is_null ? MYSQL_TYPE_NULL : MYSQL_TYPE_LONGLONG;
    bindings[i].buffer = &values[i].number;
    if (values[i].text == nullptr) continue;
    bindings[i].buffer_type = MYSQL_TYPE_STRING;
    bindings[i].buffer = const_cast<char*>(values[i].text);
    bindings[i].buffer_length = values[i].length;
  }
  if (mysql_stmt_bind_param(statement, bindings.data()) != 0 || mysql_stmt_execute(statement) != 0)
    give_up(sql, mysql_stmt_error(statement));
  return statement;
}

std::vector<RawMysqlLoop::Claimed> RawMysqlLoop::claim(int shard, int batch) {
  // The places of these columns among those of the ledger.
  constexpr std::size_t id = 0;
  constexpr std::size_t version = 5;
  constexpr std::size_t due = 13;
  constexpr std::size_t columns = 30;
  const std::string sql = "SELECT " + outbox::email_columns +
                          " FROM emails FORCE INDEX (idx_work) WHERE callback_dead = FALSE AND status = 'READY'"
                          " AND shard = " +
                          std::to_string(shard) +
                          " AND due_ms >= ? AND due_ms <= ? ORDER BY due_ms, id LIMIT ? FOR UPDATE SKIP LOCKED";
  long long& from = due_[static_cast<std::size_t>(shard)];
  std::vector<Value> values = {{nullptr, 0, from}, {nullptr, 0, now()}, {nullptr, 0, batch}};
  MYSQL_STMT* statement = send(sql, values);
  std::array<std::array<char, 1024>, columns> texts{};
  std::array<long long, columns> numbers{};
  std::array<unsigned long, columns> lengths{};
  std::array<MYSQL_BIND, columns> bindings;
  std::memset(bindings.data(), 0, sizeof bindings);
  for (std::size_t i = 0; i < columns; ++i) {
    const bool number = i == version || i == due;
    bindings[i].buffer_type = number ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING;
    bindings[i].buffer = number ? static_cast<void*>(&numbers[i]) : texts[i].data();
    bindings[i].buffer_length = texts[i].size();
    bindings[i].length = &lengths[i];
  }
  if (mysql_stmt_bind_result(statement, bindings.data()) != 0) give_up(sql, mysql_stmt_error(statement));
  std::vector<Claimed> claimed;
  while (mysql_stmt_fetch(statement) == 0) {
    claimed.push_back({std::string(texts[id].data(), lengths[id]), numbers[version]});
    from = numbers[due];
  }
  return claimed;
}

void RawMysqlLoop::lock(const std::vector<Claimed>& emails) {
  std::vector<Value> values;
  for (const Claimed& email : emails) values.push_back({email.id.data(), email.id.size()});
  const std::string sql = "SELECT id, status, version, ledger_status FROM emails FORCE INDEX (PRIMARY) WHERE id IN " +
                          outbox::placeholders(emails.size()) + " ORDER BY id FOR UPDATE";
  MYSQL_STMT* statement = send(sql, values);
  if (mysql_stmt_store_result(statement) != 0 || mysql_stmt_num_rows(statement) != emails.size() ||
      mysql_stmt_free_result(statement) != 0)
    give_up(sql, mysql_stmt_error(statement));
}

void RawMysqlLoop::write(const std::vector<Claimed>& emails, const char* before, const char* after, long long steps) {
  const auto text = [](const char* what) { return Value{what, std::strlen(what)}; };
  const auto number = [](long long what) { return Value{nullptr, 0, what}; };
  const Value null{nullptr, 0, 0, true};
  const long long time = now();
  std::vector<Value> rows;
  std::vector<Value> lines;
  for (const Claimed& email : emails) {
    const Value id{email.id.data(), email.id.size()};
    const long long version = email.version + steps;
    for (const Value& value : {id,
                               text(after),
                               text("2026/11/00000000-0000-4000-8000-000000000000-12345678.eml"),
                               text(""),
                               number(version),
                               number(time / 1'000),
                               number(version),
                               text(after),
                               number(time),
                               number(time + 30'000),
                               text("bench"),
                               number(0),
                               number(0),
                               number(1),
                               number(0),
                               number(0),
                               null,
                               null,
                               null,
                               text(recipients),
                               text(reached),
                               number(time + 1'000'000'000)})
      rows.push_back(value);
    for (const Value& value :
         {id, text(after), text(""), number(time / 1'000), number(time), number(version), number(4711)})
      lines.push_back(value);
  }
  send(outbox::rewrite_emails(emails.size()), rows);
  send("INSERT INTO email_statuses (email_id, status, reason, created_at, at_ms, version, transition) VALUES " +
           outbox::repeated("(?, ?, ?, FROM_UNIXTIME(?), ?, ?, ?)", emails.size()),
       lines);
  const auto count = static_cast<long long>(emails.size());
  std::vector<Value> counts = {text(""), text(before), number(slice_), number(-count),
                               text(""), text(after),  number(slice_), number(count)};
  send(
      "INSERT INTO email_counts (tenant, status, slice, amount) VALUES (?, ?, ?, ?), (?, ?, ?, ?)"
      " ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)",
      counts);
}

int RawMysqlLoop::claim_and_settle(int batch) {
  for (int i = 0; i < outbox::mysql_shards; ++i) {
    const int shard = next_shard_++ % outbox::mysql_shards;
    run("BEGIN");
    const std::vector<Claimed> emails = claim(shard, batch);
    if (!emails.empty()) write(emails, "READY", "PROCESSING", 1);
    run("COMMIT");
    if (emails.empty()) continue;
    run("BEGIN");
    lock(emails);
    write(emails, "PROCESSING", "SENT", 2);
    run("COMMIT");
    return static_cast<int>(emails.size());
  }
  due_ = {};
  return 0;
}

}  // namespace postino::bench
