// Writes the audit: one thread appends what callers tell, in batches, so that many events at once share a commit.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "access/audit.h"
#include "access/audit_chain.h"
#include "base/this_thread.h"

namespace postino::access {

// How many refusals are written. There can be a burst of them.
struct RefusalRate {
  double in_a_second = 10;
  double burst = 100;
};

class AuditLog final : public Audit {
 public:
  static constexpr std::size_t most_waiting = 10'000;  // events; further ones are refused, or left out

  // The table must be there. Everything given must outlive it.
  AuditLog(store::Store& store, const AuditOptions& options, const base::Clock& clock, base::Random& random,
           const RefusalRate& rate = {});
  ~AuditLog() override;
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void note(AuditEvent event) override;
  using Audit::record;
  void record(AuditEvent event, Done done) override;

  // Writes what waits, if the store takes it. Events that come later are refused.
  void stop();

  // In Prometheus' text format.
  void append_metrics(std::string& out) const;
  // Why it cannot be written at the moment, if it cannot.
  std::optional<std::string> problem() const;

 private:
  struct Waiting {
    AuditEvent event;
    Done done;
  };
  void run();
  // False when nothing is left, and nothing will come.
  bool take(std::vector<Waiting>& batch);
  void write(std::vector<Waiting>& batch);
  bool is_admitted(const AuditEvent& event);

  const base::Clock& clock_;
  const RefusalRate rate_;
  base::Pause pause_;
  AuditChain chain_;  // of the thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool ends_ = false;
  std::string problem_;
  double refusals_left_ = 0;
  base::Milliseconds counted_at_{0};
  std::int64_t left_out_ = 0;  // that no entry tells of yet

  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<std::uint64_t> all_left_out_ = 0;
  std::atomic<std::uint64_t> failures_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace postino::access
