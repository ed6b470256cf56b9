// The outbox put together: ledger, spool, transport, pipelines and REST API.
#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "access/key_ring.h"
#include "app/access/audit_service.h"
#include "app/server/memory_limits.h"
#include "app/server/message_gateway.h"
#include "app/settings/settings.h"
#include "backup/backups.h"
#include "base/plausible_clock.h"
#include "base/random.h"
#include "capacity/planner.h"
#include "http/message.h"
#include "mail/dkim.h"
#include "metrics/metrics.h"
#include "outbox/store_ledger/foreign_writes.h"
#include "signature/key_source.h"
#include "store/store.h"

namespace postino::app {

class OutboxService {
 public:
  // Prepares the tables; the pipelines do not run yet. The store, the gateway and the clock must outlive it; with a
  // ledger elsewhere the store still has the sandbox. `log` tells what other programs write to the table of e-mails; it
  // may be null. Without a planner capacity is planned with the prices that come with the program. Metrics may be null,
  // too, and must outlive it, and so must the audit, the backups and the keys in the store. `keys` are for buckets,
  // where the settings have none.
  static base::Result<std::unique_ptr<OutboxService>> create(
      store::Store& store, MessageGateway& gateway, const Settings& settings, const MemoryLimits& memory,
      const base::PlausibleClock& clock, std::shared_ptr<outbox::ForeignWriteLog> log = nullptr,
      std::shared_ptr<const capacity::Planner> planner = nullptr, metrics::Metrics* metrics = nullptr,
      std::shared_ptr<signature::KeySource> keys = nullptr, AuditAccess audit = {}, backup::Backups* backups = nullptr,
      access::KeyRing* stored_keys = nullptr);
  ~OutboxService();

  void start();
  std::optional<http::Response> refuse_early(const http::Request& request);
  void handle(const http::Request& request, http::Responder respond);
  // Workers begin nothing more; requests may still come. Mail servers and receivers of callbacks that have not answered
  // by `leave_at` are left. A ledger that cannot be reached may come back until `give_up_at`.
  void begin_stop(std::chrono::steady_clock::time_point leave_at, std::chrono::steady_clock::time_point give_up_at);
  // After that: finishes calls and e-mails that are under way. No request may come any more.
  void stop(std::chrono::steady_clock::time_point give_up_at);

  // From now on these keys and users count, and no others.
  void set_callers(const std::vector<api::ApiKey>& keys, const std::vector<api::User>& users);
  // The same of API keys in the store.
  void set_stored_keys(const access::KnownKeys& known);
  // From now on messages are signed as this one signs; only if they were signed before.
  void set_dkim_signer(const mail::DkimSigner& signer);

  // Sends an e-mail to the sandbox, waits until it is there, and shows its history. For those who see it run for the
  // first time.
  base::Result<void> show_sample(std::ostream& out);

  // Asks the ledger, which may take its time.
  void append_metrics(std::string& out) const;
  // Why it cannot work at the moment, if it cannot. Answers at once.
  std::optional<std::string> problem() const;
  // What does not work, though e-mails are accepted and wait for it: mail servers, a queue. Answers at once.
  std::vector<std::string> troubles() const;
  std::string describe_transport() const;  // for people: where mail goes
  std::string describe_storage() const;    // and where the e-mails are

 private:
  struct Parts;
  explicit OutboxService(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace postino::app
