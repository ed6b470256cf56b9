// The client library: entered before use, and what it says when something failed.
#pragma once

#include <mysql.h>

#include <memory>

#include "mysql/error.h"

namespace postino::mysql {

struct ConnectionCloser {
  void operator()(MYSQL* connection) const { mysql_close(connection); }
};
using ConnectionHandle = std::unique_ptr<MYSQL, ConnectionCloser>;

struct StatementCloser {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};
using StatementHandle = std::unique_ptr<MYSQL_STMT, StatementCloser>;

// In every thread, before anything of the library is called there. Costs nothing from the second time on.
void enter_library();

Error last_error(MYSQL* connection);
Error last_error(MYSQL_STMT* statement);

// Did the library find the fault itself? Then nothing is certain about the state of the connection.
bool found_by_library(unsigned code);

}  // namespace postino::mysql
