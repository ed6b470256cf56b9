// Renewing leases: each is an update of its own, and many are under way at a time. So the leases of a process that has
// hundreds of e-mails are renewed in a moment, also where each request takes a while.
#include <condition_variable>
#include <mutex>

#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_ledger.h"

namespace postino::outbox {

namespace {

constexpr std::size_t most_renewals_under_way = 32;

// What becomes of renewals, as the answers come.
class RenewalAnswers {
 public:
  // Waits until one more may be under way.
  void begin() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return under_way_ < most_renewals_under_way; });
    ++under_way_;
  }

  void end(const std::string& id, const store::Answer<store::WriteItemResponse>& answer) {
    const std::lock_guard lock(mutex_);
    --under_way_;
    if (answer)
      outcome_.kept.push_back(id);
    else if (answer.error().type == store::ErrorType::conditional_check_failed)
      outcome_.lost.push_back(id);
    else if (!is_for_now(answer.error().type))
      outcome_.error = store::as_error(answer.error()).message;
    changed_.notify_all();  // the waiting thread may end this object as soon as the mutex is free
  }

  Renewals await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return under_way_ == 0; });
    return std::move(outcome_);
  }

 private:
  // Others are at this record, or there were too many requests: the next call comes soon enough.
  static bool is_for_now(store::ErrorType type) {
    using enum store::ErrorType;
    return type == transaction_conflict || type == provisioned_throughput_exceeded || type == throttling ||
           type == request_limit_exceeded;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t under_way_ = 0;
  Renewals outcome_;
};

}  // namespace

// What fails is not repeated here: the next call comes before the lease is over, and the others must not wait for it.
Renewals StoreLedger::renew(const std::vector<Change>& renewals) {
  std::vector<store::UpdateItemRequest> requests;
  for (const Change& renewal : renewals) requests.push_back(meta_amendment(tables_.emails, renewal, shards_.most()));
  RenewalAnswers answers;
  for (std::size_t i = 0; i < renewals.size(); ++i) {
    answers.begin();
    store_.update_item(requests[i],
                       [&answers, &id = renewals[i].after.id](const store::Answer<store::WriteItemResponse>& answer) {
                         answers.end(id, answer);
                       });
  }
  return answers.await();
}

}  // namespace postino::outbox
