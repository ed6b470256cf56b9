// The prepared statements of a connection: the ones used last, up to a number.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mysql/statement.h"

namespace postino::mysql {

// A server keeps 16,382 for all its connections by default.
inline constexpr std::size_t max_prepared_statements = 64;

class StatementCache {
 public:
  // The statement with this text, prepared now when it is not there. Valid until the next call.
  Result<Statement*> get(MYSQL* connection, std::string_view sql);
  void clear();

 private:
  struct Entry {
    std::string sql;
    std::unique_ptr<Statement> statement;
  };

  std::list<Entry> entries_;                                                  // the one used last in front
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_text_;  // the texts are those of the entries
};

}  // namespace postino::mysql
