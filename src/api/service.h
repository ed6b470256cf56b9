// The REST API: from a request to its handler and back, with everything that all calls share: who may call, what is
// taken, limits, request ids, statistics and the log.
#pragma once

#include <bitset>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "access/audit.h"
#include "access/audit_reader.h"
#include "access/key_ring.h"
#include "api/protocol/access.h"
#include "api/protocol/call.h"
#include "api/protocol/sign_ins.h"
#include "api/router.h"
#include "api/statistics.h"
#include "backup/backups.h"
#include "base/memory_budget.h"
#include "base/random.h"
#include "base/swappable.h"
#include "base/thread_pool.h"
#include "http/message.h"
#include "messages/broker_shares.h"

namespace postino::api {

struct ApiOptions {
  std::vector<ApiKey> keys;              // none: programs on this machine may do everything, others nothing
  std::vector<User> users;               // who can sign in with a password
  access::Sessions* sessions = nullptr;  // must outlive the API; without it there are none
  SignInOptions sign_ins;
  http::OriginPolicy origin_policy;  // applies where there are neither keys nor users; and which web pages may call
  int threads = 16;                  // handlers wait for the ledger: these are as many as may wait at a time
  int waiting_threads = 32;          // and these for others, such as a message broker
  int receiving_threads = 64;        // and these for messages that are not there yet
  int max_waiting = 1024;            // requests for a thread; more are answered 503
  bool require_idempotency_key = false;
  // Of requests about records of this server's store, where the others are shared with other servers; must outlive the
  // API.
  idempotency::Guard* store_keys = nullptr;
  reminders::Reminders* reminders = nullptr;  // must outlive the API; without it there are none
  support::SupportDesk* tickets = nullptr;    // the same
  metrics::Metrics* metrics = nullptr;        // the same
  // Both must outlive the API; without them nothing is written down of what callers do.
  access::Audit* audit = nullptr;
  access::AuditReader* audit_reader = nullptr;
  backup::Backups* backups = nullptr;      // must outlive the API; without it none are made
  access::KeyRing* stored_keys = nullptr;  // must outlive the API; without it no key is in the store
  // Without one, capacity is planned with the prices that come with the program, and nothing is watched.
  std::shared_ptr<const capacity::Planner> planner;
  bool log_requests = false;  // failures are logged anyway
  // For reading large bodies; requests that find no room in it are answered 503.
  std::shared_ptr<base::MemoryBudget> reading = std::make_shared<base::MemoryBudget>(512 << 20);
  // Of the server: calls with a large answer that finds no room in it are answered 503.
  std::shared_ptr<base::MemoryBudget> answers;
};

// Safe to use from any thread. It ends in this order: the HTTP server stops, stop() is called, the outbox goes.
class Api {
 public:
  // Without a mailbox there is no sandbox. Everything that is given must outlive it.
  Api(outbox::Outbox& outbox, outbox::SandboxMailbox* mailbox, messages::MessageService& messages,
      idempotency::Guard& request_keys, const base::Clock& clock, base::Random& random, ApiOptions options);
  ~Api();

  // Does not wait: handlers that do run on threads of its own.
  void handle(const http::Request& request, http::Responder respond);

  // For a request whose body has not come yet: the answer if it will be refused whatever the body is.
  std::optional<http::Response> refuse_early(const http::Request& request);

  // Finishes the calls that were taken; from now on none is.
  void stop() {
    pool_.stop();
    waiting_pool_.stop();
    receiving_pool_.stop();
    services_.outbox.drain();
  }

  // From now on these keys and users count, and no others. Safe to call from any thread.
  void set_keys(std::vector<ApiKey> keys, std::vector<User> users = {});
  // The same of those in the store.
  void set_stored_keys(const access::KnownKeys& known);

  // In Prometheus' text format.
  void append_metrics(std::string& out) const;
  const Statistics& statistics() const { return statistics_; }

 private:
  struct Work;
  struct Callers {
    std::vector<ApiKey> keys;
    std::vector<User> users;
    StoredApiKeys stored;
    std::map<std::string, std::shared_ptr<access::QuotaMeter>, std::less<>> tenant_meters;
  };

  std::shared_ptr<const Access> access_of(const Callers& callers) const;
  void set_callers();  // under the lock
  base::Result<void, Problem> admit(Work& work) const;
  base::Result<void, Problem> check_quotas(const Work& work) const;
  base::Result<void, Problem> check_again(Work& work) const;
  base::Result<void, Problem> prepare(Work& work) const;
  bool begin(const std::shared_ptr<Work>& work);
  base::ThreadPool& pool_for(Waits waits);
  // Performs it when it is its turn at the broker that it waits for.
  void perform_in_turn(const std::shared_ptr<Work>& work);
  std::optional<messages::BrokerTarget> target_of(const Work& work) const;
  void perform(Work& work);
  Outcome outcome_of(Work& work);
  Outcome within_budget(AnswerMemory& answer, Outcome outcome) const;
  void finish(Work& work, Outcome outcome);
  void check_documented(const Work& work, int status);
  access::AuditEvent event_of(const Work& work) const;
  base::Result<void, Problem> tell_audit(Work& work) const;
  void tell_audit_of_end(const Work& work, int status, const std::string& code) const;
  void log(const Work& work, int status, std::chrono::steady_clock::duration time, const std::string& cause) const;
  std::string request_id_of(const http::Request& request) const;

  base::Random& random_;
  const bool log_requests_;
  const std::shared_ptr<base::MemoryBudget> reading_;
  const std::shared_ptr<base::MemoryBudget> answers_;
  const http::OriginPolicy origin_policy_;
  access::Sessions* const sessions_;
  access::Audit* const audit_;
  const base::Clock& clock_;
  std::mutex callers_mutex_;
  Callers callers_;
  base::Swappable<Access> access_;
  const std::unique_ptr<SignIns> sign_ins_;  // nullptr without sessions
  const Router router_;
  const std::shared_ptr<const capacity::Planner> planner_;
  const Services services_;
  Statistics statistics_;
  std::vector<std::bitset<600>> promised_;  // the statuses that each route may answer with
  messages::BrokerShares waiting_shares_;   // of the threads below
  messages::BrokerShares receiving_shares_;
  base::ThreadPool pool_;
  base::ThreadPool waiting_pool_;
  base::ThreadPool receiving_pool_;
};

// The answer to a request that never became a call, because it broke the protocol or a limit of the server.
http::Response refusal(int status, base::Random& random);

}  // namespace postino::api
