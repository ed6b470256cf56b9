// A database that may be busy or away for a moment: what is asked of it is asked again a few times, with growing random
// delays. Safe to use from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <type_traits>

#include "base/random.h"
#include "mysql/pool.h"

namespace postino::mysql {

inline constexpr int database_attempts = 8;

struct Attempt {
  int number = 1;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();  // the first one
  // The answer to an earlier attempt's COMMIT did not arrive. It may have taken effect, or may even be about to: what
  // it wrote must be looked for with a locking read (FOR UPDATE), which waits for it, before it is written again.
  bool commit_unknown = false;
  // The connection of an earlier attempt was lost, at COMMIT or before it.
  bool connection_lost = false;
};

class Database {
 public:
  using Sleep = std::function<void(base::Milliseconds)>;

  // Connects when first used. `random` must outlive it.
  Database(ServerOptions server, PoolOptions pool, base::Random& random, Sleep sleep);

  // Runs body(Connection&, const Attempt&), which answers Result<anything>, in a transaction of its own: committed when
  // it answers a value, rolled back when it answers an error. The whole is repeated, body included, when an error is
  // worth repeating. An error whose at_commit is set leaves open whether any attempt took effect.
  template <class Body>
  auto transact(const Body& body) -> std::invoke_result_t<const Body&, Connection&, const Attempt&> {
    return patiently([&](const Attempt& attempt) { return transact_once(body, attempt); });
  }

  // The same without a transaction: for queries, and for single statements that may as well happen twice.
  template <class Body>
  auto read(const Body& body) -> std::invoke_result_t<const Body&, Connection&, const Attempt&> {
    using Outcome = std::invoke_result_t<const Body&, Connection&, const Attempt&>;
    return patiently([&](const Attempt& attempt) -> Outcome {
      TRY(const PooledConnection connection, pool_.take());
      return body(*connection, attempt);
    });
  }

  // From then on no caller waits for a server that is away: there is no time left for it.
  using Instant = std::chrono::steady_clock::time_point;
  void give_up_at(Instant when) { give_up_at_ = when; }

  const Statistics& statistics() const { return statistics_; }

 private:
  template <class Body>
  auto transact_once(const Body& body, const Attempt& attempt)
      -> std::invoke_result_t<const Body&, Connection&, const Attempt&> {
    TRY(const PooledConnection connection, pool_.take());
    TRY_VOID(connection->begin());
    auto outcome = body(*connection, attempt);
    Result<void> committed;
    if (outcome) committed = connection->commit();
    if (outcome && committed) return outcome;
    // A connection that cannot roll back is broken, and rolls back by that.
    if (!connection->broken()) static_cast<void>(connection->rollback());
    if (!committed) return base::propagate(std::move(committed).error());
    return outcome;
  }

  template <class Once>
  auto patiently(const Once& once) -> std::invoke_result_t<const Once&, const Attempt&> {
    for (Attempt attempt;; ++attempt.number) {
      auto outcome = once(attempt);
      if (outcome || !again(outcome.error(), attempt)) return outcome;
    }
  }
  // After a failed attempt: waits and is true when there shall be another one.
  bool again(Error& error, Attempt& attempt);

  base::Random& random_;
  const Sleep sleep_;
  const base::Milliseconds patience_;  // with a server that does not answer
  std::atomic<Instant> give_up_at_ = Instant::max();
  Statistics statistics_;
  Pool pool_;
};

}  // namespace postino::mysql
