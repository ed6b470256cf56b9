#include "mysql/statement_cache.h"

namespace postino::mysql {

Result<Statement*> StatementCache::get(MYSQL* connection, std::string_view sql) {
  if (const auto found = by_text_.find(sql); found != by_text_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->statement.get();
  }
  if (entries_.size() >= max_prepared_statements) {
    by_text_.erase(entries_.back().sql);
    entries_.pop_back();
  }
  TRY(std::unique_ptr<Statement> statement, Statement::prepare(connection, sql));
  entries_.push_front({std::string(sql), std::move(statement)});
  by_text_.emplace(entries_.front().sql, entries_.begin());
  return entries_.front().statement.get();
}

void StatementCache::clear() {
  by_text_.clear();
  entries_.clear();
}

}  // namespace postino::mysql
