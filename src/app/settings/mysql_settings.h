// What can be configured about the outbox on MySQL or MariaDB.
#pragma once

#include "base/result.h"
#include "mysql/pool.h"
#include "mysql/server_options.h"

namespace postino::app {

struct MysqlSettings {
  MysqlSettings() {
    server.user = "postino";
    server.database = "postino";
  }

  mysql::ServerOptions server;
  mysql::PoolOptions pool;
  bool several_servers = false;  // share the database, and with it the keys of all requests
  bool migrate = false;          // at start, whatever the database holds; one that holds nothing is always prepared
};

// Rules that concern several settings.
base::Result<void> check(const MysqlSettings& settings);

}  // namespace postino::app
