// One connection to the database, with its prepared statements. For one thread at a time.
//
// The session is set up to be the same everywhere: UTC, utf8mb4, strict, READ COMMITTED, autocommit, time limits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "mysql/error.h"
#include "mysql/flavour.h"
#include "mysql/rows.h"
#include "mysql/server_options.h"
#include "mysql/value.h"

namespace postino::mysql {

class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const ServerOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Statements with placeholders (?). They are prepared when first seen and kept, so the text must be one of few: put
  // values into parameters. All rows are read before query() returns; the statement says how many that can be.
  Result<Rows> query(std::string_view sql, std::span<const Parameter> parameters);
  Result<Rows> query(std::string_view sql, std::initializer_list<Parameter> parameters = {}) {
    return query(sql, std::span(parameters.begin(), parameters.size()));
  }
  // How many rows were changed. A row that an UPDATE finds and leaves as it is does not count.
  Result<std::uint64_t> execute(std::string_view sql, std::span<const Parameter> parameters);
  Result<std::uint64_t> execute(std::string_view sql, std::initializer_list<Parameter> parameters = {}) {
    return execute(sql, std::span(parameters.begin(), parameters.size()));
  }
  // A single statement without placeholders and without rows, not prepared: for what changes the schema or the session.
  Result<void> run(std::string_view sql);

  Result<void> begin();
  // Fails as well when the server had rolled the transaction back on its own and the caller went on regardless.
  Result<void> commit();
  Result<void> rollback();
  bool in_transaction() const;

  // The server is there and answers.
  bool ping();
  // After an error that no later statement can get over. A broken connection is of no use any more.
  bool broken() const;
  // It is broken because the server did not answer in time.
  bool silent() const;
  // It has read something so large that it keeps too much memory. It works, but a new one is better.
  bool swollen() const;

  const Flavour& flavour() const;
  // The most bytes that a statement with its parameters may have (the server's max_allowed_packet). More is an error
  // of kind other.
  std::uint64_t largest_statement() const;

 private:
  class Session;
  explicit Connection(std::unique_ptr<Session> session);

  std::unique_ptr<Session> session_;
};

}  // namespace postino::mysql
