#include "mysql/database.h"

#include <utility>

#include "base/backoff.h"

namespace postino::mysql {

Database::Database(ServerOptions server, PoolOptions pool, base::Random& random, Sleep sleep)
    : random_(random),
      sleep_(std::move(sleep)),
      patience_(server.statement_timeout),
      pool_(std::move(server), pool, statistics_) {}

bool Database::again(Error& error, Attempt& attempt) {
  attempt.commit_unknown = attempt.commit_unknown || error.at_commit;
  error.at_commit = attempt.commit_unknown;
  attempt.connection_lost = attempt.connection_lost || error.kind == ErrorKind::lost;
  if (error.kind == ErrorKind::silent) statistics_.given_up();
  if (!worth_repeating(error)) return false;
  const auto now = std::chrono::steady_clock::now();
  // A caller whom the server did not answer tries once more: it may have been the connection alone.
  const bool waited_long = attempt.number > 1 && patience_ > base::Milliseconds(0) && now - attempt.began >= patience_;
  const bool hopeless = error.kind == ErrorKind::lost && (waited_long || now >= give_up_at_.load());
  if (attempt.number == database_attempts || hopeless) {
    statistics_.given_up();
    return false;
  }
  statistics_.repeated(error);
  sleep_(base::Backoff().full_jitter(attempt.number, random_));
  return true;
}

}  // namespace postino::mysql
