#include "mysql/statistics.h"

#include "base/metrics_text.h"

namespace postino::mysql {

void Statistics::repeated(const Error& error) {
  const std::lock_guard lock(mutex_);
  ++repeats_[error.code];
}

std::uint64_t Statistics::repeats() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [code, count] : repeats_) sum += count;
  return sum;
}

std::uint64_t Statistics::repeats(unsigned code) const {
  const std::lock_guard lock(mutex_);
  const auto found = repeats_.find(code);
  return found == repeats_.end() ? 0 : found->second;
}

void Statistics::append_to(std::string& out) const {
  base::append_metric_head(out, "postino_mysql_retries_total", "counter",
                           "Transactions and statements repeated after an error, by the error number of the database.");
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [code, count] : repeats_)
      out += "postino_mysql_retries_total{code=\"" + std::to_string(code) + "\"} " + std::to_string(count) + "\n";
  }
  base::append_metric(out, "postino_mysql_deadlocks_total", "counter",
                      "Transactions and statements repeated after a deadlock.", std::to_string(deadlocks()));
  base::append_metric(out, "postino_mysql_surrenders_total", "counter",
                      "Transactions and statements given up after the last attempt.", std::to_string(surrenders()));
  base::append_metric(out, "postino_mysql_connections_opened_total", "counter",
                      "Connections to the database opened by the pool.", std::to_string(connections()));
  base::append_metric(out, "postino_mysql_connections_broken_total", "counter",
                      "Connections to the database found broken.", std::to_string(broken_connections()));
  base::append_metric(out, "postino_mysql_pool_waits_total", "counter",
                      "Waits for a free connection because all of the pool were in use.", std::to_string(waits()));
  base::append_metric(out, "postino_mysql_pool_timeouts_total", "counter",
                      "Waits for a free connection that ended without one.", std::to_string(vain_waits()));
}

}  // namespace postino::mysql
