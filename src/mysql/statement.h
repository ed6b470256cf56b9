// A prepared statement of a connection.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mysql/client_library.h"
#include "mysql/rows.h"
#include "mysql/value.h"

namespace postino::mysql {

class Statement {
 public:
  static Result<std::unique_ptr<Statement>> prepare(MYSQL* connection, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Whatever is answered is read to its end, so that the connection is ready for the next statement.
  Result<Rows> query(std::span<const Parameter> parameters);
  Result<std::uint64_t> execute(std::span<const Parameter> parameters);

  std::size_t largest_text() const { return largest_text_; }  // that was ever fetched

 private:
  // A column of the answer. Numbers arrive here; texts have their lengths here and are fetched into the rows.
  struct Column {
    enum class Kind { number, real, text } kind = Kind::text;
    std::int64_t number = 0;
    double real = 0;
    unsigned long length = 0;
    my_bool is_null = 0;
    bool is_unsigned = false;
  };

  Statement(MYSQL* connection, StatementHandle handle) : connection_(connection), handle_(std::move(handle)) {}
  Result<void> bind_columns();
  Result<void> send(std::span<const Parameter> parameters);
  Result<void> fetch(std::size_t index, Rows& rows);
  Result<void> fetch_text(std::size_t index, Rows& rows);

  MYSQL* connection_;
  StatementHandle handle_;
  std::vector<MYSQL_BIND> parameters_;
  std::vector<Column> columns_;
  std::size_t largest_text_ = 0;
};

}  // namespace postino::mysql
