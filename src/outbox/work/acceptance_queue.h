// E-mails that are handed in at the same time are accepted in one commit, and no caller's thread waits for it.
//
// A commit costs about as much for one e-mail as for ten. While one is written the next gathers, so that the busier it
// is the more share one; when many wait, the next is prepared meanwhile.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "outbox/ledger/ledger.h"
#include "outbox/work/work_signal.h"

namespace postino::outbox {

struct AcceptanceQueueOptions {
  std::size_t batch = max_ledger_batch;         // e-mails in a commit, unless one request has more
  std::size_t max_waiting_emails = 4'096;       // more are refused
  std::size_t max_waiting_bytes = 256U << 20U;  // of payloads and messages
};

// Safe to use from any thread.
class AcceptanceQueue {
 public:
  // In the order of the e-mails. Called on the queue's thread: must not wait, nor throw.
  using Done = std::function<void(base::Result<std::vector<AcceptOutcome>>)>;

  // Both must outlive it. The signal is told how many e-mails arrive.
  AcceptanceQueue(Ledger& ledger, WorkSignal& signal, AcceptanceQueueOptions options = {});
  ~AcceptanceQueue();  // accepts what is waiting
  AcceptanceQueue(const AcceptanceQueue&) = delete;
  AcceptanceQueue& operator=(const AcceptanceQueue&) = delete;

  // False when too much is waiting: then nothing has happened to the e-mails, and `done` will not be called.
  [[nodiscard]] bool try_submit(std::vector<NewEmail>& emails, Done done);

  // Returns when everything that was submitted before has been answered.
  void drain();

 private:
  struct Request {
    std::vector<NewEmail> emails;
    std::size_t bytes = 0;
    Done done;
  };
  using Batch = std::vector<Request>;

  // Has a thread more that rests something to do?
  bool has_work_for_another() const;
  void run();
  Batch take_batch();
  void accept(Batch batch);

  Ledger& ledger_;
  WorkSignal& signal_;
  const AcceptanceQueueOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable idle_;
  std::deque<Request> waiting_;
  std::size_t waiting_emails_ = 0;
  std::size_t waiting_bytes_ = 0;
  int accepting_ = 0;  // threads that do
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace postino::outbox
