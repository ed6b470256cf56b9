// The outbox's tables on MySQL, as numbered migrations. The first makes the tables that other programs know; later ones
// add columns with defaults and further tables, so that the statements of those programs go on working.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mysql/connection.h"

namespace postino::outbox {

// What is to be done to the schema under a number. MySQL cannot roll it back, so each can be run again after it was
// broken off anywhere.
struct Migration {
  int number = 0;
  std::string_view name;
  mysql::Result<void> (*run)(mysql::Connection& connection) = nullptr;
};

// In their order, from 1 without gaps.
const std::vector<Migration>& mysql_migrations();

}  // namespace postino::outbox
