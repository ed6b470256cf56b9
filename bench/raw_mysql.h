// The statements of the outbox's ledger on MySQL, on the C library alone: what they cost without the rules around them.
#pragma once

#include <mysql.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mysql/server_options.h"

namespace postino::bench {

// For one thread. Ends the process when a statement fails.
class RawMysqlLoop {
 public:
  explicit RawMysqlLoop(const mysql::ServerOptions& server);

  // Claims up to so many e-mails that are ready, and says in a second transaction that they are sent. How many it were.
  int claim_and_settle(int batch);

 private:
  struct Claimed {
    std::string id;
    long long version = 0;
  };
  // Parameters of a statement: text, unless that is null; then the number.
  struct Value {
    const char* text = nullptr;
    std::size_t length = 0;
    long long number = 0;
    bool is_null = false;
  };

  MYSQL_STMT* send(const std::string& sql, std::vector<Value>& values);
  void run(const char* sql);
  std::vector<Claimed> claim(int shard, int batch);
  void lock(const std::vector<Claimed>& emails);
  void write(const std::vector<Claimed>& emails, const char* before, const char* after, long long steps);

  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
  std::map<std::string, MYSQL_STMT*> statements_;  // closed with the connection
  std::array<long long, 64> due_{};                // by shard, where to begin
  int next_shard_ = 0;
  unsigned slice_;
};

}  // namespace postino::bench
