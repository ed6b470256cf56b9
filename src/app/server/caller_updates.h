// Who may call, told to all who ask for keys: what the settings say, which are read again, and what is in the store,
// which callers change.
#pragma once

#include <memory>
#include <mutex>

#include "access/key_ring.h"
#include "app/server/monitor.h"
#include "app/server/outbox_service.h"
#include "app/settings/settings.h"
#include "wire/endpoint.h"

namespace postino::app {

// A caller who may not read e-mails by one API may not read them by the other.
bool needs_access_key(const Settings& settings, const access::KnownKeys& known);

// The access keys of the settings and of the store.
std::vector<wire::AccessKey> all_access_keys(const Settings& settings, const access::KnownKeys& known);

// Who may read /metrics; nullptr: everybody, as the APIs themselves ask for keys. The clock must outlive it.
std::shared_ptr<const api::Access> metrics_readers(const Settings& settings, const access::KnownKeys& known,
                                                   const base::Clock& clock);

// Safe to use from any thread.
class CallerUpdates {
 public:
  // The outbox and the keys may be null; all must outlive it. From now on changes of the keys are passed on.
  CallerUpdates(const Settings& settings, wire::Endpoint& endpoint, Monitor& monitor, OutboxService* outbox,
                access::KeyRing* keys, const base::Clock& clock);
  ~CallerUpdates();
  CallerUpdates(const CallerUpdates&) = delete;
  CallerUpdates& operator=(const CallerUpdates&) = delete;

  // Settings that were read again.
  void take(const Settings& settings);

 private:
  void take(const access::KnownKeys& known);
  void tell();  // under the lock

  wire::Endpoint& endpoint_;
  Monitor& monitor_;
  OutboxService* const outbox_;
  access::KeyRing* const keys_;
  const base::Clock& clock_;
  std::mutex mutex_;
  Settings settings_;
  access::KnownKeys known_;
};

}  // namespace postino::app
