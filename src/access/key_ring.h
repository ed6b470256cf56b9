// The keys of the store as a server knows them: in memory, so that no request waits for the store.
//
// What is changed by this process counts when the call that changes it returns. What another process has changed is
// seen within seconds: a thread looks at the version of the table, and reads the keys when it is another one. While the
// store cannot be read, the keys that are known go on counting.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "access/audit.h"
#include "access/key_store.h"
#include "access/quota_meter.h"
#include "base/swappable.h"
#include "base/this_thread.h"

namespace postino::access {

// What is known of a key while a server runs. Safe to use from any thread.
class KeyUse {
 public:
  void note(base::TimePoint now) { last_.store(base::epoch_milliseconds(now), std::memory_order_relaxed); }
  std::optional<base::TimePoint> last() const {
    const std::int64_t last = last_.load(std::memory_order_relaxed);
    return last == 0 ? std::nullopt : std::optional(base::from_epoch_milliseconds(last));
  }

 private:
  std::atomic<std::int64_t> last_ = 0;
};

// Immutable.
struct KnownKeys {
  struct Known {
    StoredKey key;
    std::shared_ptr<KeyUse> use;
    std::shared_ptr<QuotaMeter> meter = nullptr;  // of its holder; nullptr: there is no quota
  };
  std::vector<Known> keys;  // in the order of ids
  // Was there ever a key of this kind? Then callers need one.
  bool closes_api = false;
  bool closes_dynamodb = false;
  std::vector<KeySet::Unreadable> unreadable;
  std::map<std::string, std::shared_ptr<QuotaMeter>, std::less<>> tenant_meters;

  const Known* find(std::string_view id) const;
};

struct KeyRingTiming {
  base::Milliseconds look_every = std::chrono::seconds(2);
  base::Milliseconds write_uses_every = std::chrono::minutes(1);
};

// By the name of the tenant.
using TenantQuotas = std::map<std::string, Quota, std::less<>>;

// Who changes keys, for the audit.
struct KeyChanger {
  std::string name;
  std::string_view kind = AuditEvent::unknown;
};

// Safe to use from any thread.
class KeyRing {
 public:
  using Listener = std::function<void(const KnownKeys&)>;

  // Reads the keys. Fails when some were sealed with a sealing key that is not here: a server must not start and
  // refuse their holders. Everything given must outlive it; the audit may be null.
  static base::Result<std::unique_ptr<KeyRing>> open(KeyStore& keys, const base::Clock& clock, Audit* audit,
                                                     TenantQuotas tenant_quotas = {}, KeyRingTiming timing = {});
  ~KeyRing();
  KeyRing(const KeyRing&) = delete;
  KeyRing& operator=(const KeyRing&) = delete;

  std::shared_ptr<const KnownKeys> known() const { return known_.get(); }
  // Called now, and after each change: one call at a time, before the change is told to who has made it.
  void listen(Listener listener);

  // As those of KeyStore.
  base::Result<MadeKey> create(const KeyRights& rights, std::optional<base::TimePoint> expires_at,
                               const KeyChanger& by);
  base::Result<MadeKey> replace(const std::string& id, base::Milliseconds overlap, const KeyChanger& by);
  base::Result<StoredKey> set_disabled(const std::string& id, bool is_disabled, const KeyChanger& by);
  base::Result<void> remove(const std::string& id, const KeyChanger& by);
  base::Result<KeyStore::Session> begin_session(const std::string& id, base::Milliseconds life,
                                                const std::string& policy, const KeyChanger& by);
  // What a session token of DynamoDB's API stands for. Whether it counts is for who asks to see.
  base::Result<TemporaryKey> open_token(std::string_view token) { return keys_.open_token(token); }

  // Has DynamoDB's API access keys, in the store or in the settings? Then callers without a key get none.
  bool guards_dynamodb() const { return has_configured_access_keys_ || known()->closes_dynamodb; }
  void note_configured_access_keys(bool are_there) { has_configured_access_keys_ = are_there; }
  // With the last use that this process knows of.
  std::vector<StoredKey> list() const;

  void start();
  void stop();  // writes down the last uses
  // One round of what the thread does.
  void look();
  void write_uses();
  void write_quotas();

  // In Prometheus' text format.
  void append_metrics(std::string& out) const;
  // What is wrong, if anything. Answers at once.
  std::optional<std::string> problem() const;

 private:
  KeyRing(KeyStore& keys, const base::Clock& clock, Audit* audit, const TenantQuotas& tenant_quotas,
          KeyRingTiming timing);
  void run();
  void append_quota_metrics(std::string& out) const;
  base::Result<void> read();  // under the lock
  std::shared_ptr<QuotaMeter> meter_of(std::string_view of, const std::string& name, const Quota& quota);
  void publish(KeySet set);                                  // under the lock
  void change(const std::string& id, const StoredKey* key);  // of this process; nullptr: it is gone
  void tell(std::string_view action, const StoredKey& key, const KeyChanger& by, const std::string& detail) const;

  KeyStore& keys_;
  const base::Clock& clock_;
  Audit* const audit_;
  const KeyRingTiming timing_;

  mutable std::mutex mutex_;  // of who reads and publishes
  KeySet set_;
  std::map<std::string, std::shared_ptr<KeyUse>, std::less<>> uses_;
  std::map<std::string, base::TimePoint, std::less<>> written_uses_;
  std::map<std::string, std::shared_ptr<QuotaMeter>, std::less<>> meters_;
  std::map<std::string, std::shared_ptr<QuotaMeter>, std::less<>> tenant_meters_;
  bool closes_api_ = false;
  bool closes_dynamodb_ = false;
  Listener listener_;
  base::Swappable<KnownKeys> known_{std::make_shared<const KnownKeys>()};

  mutable std::mutex problem_mutex_;
  std::string problem_;
  std::atomic<std::int64_t> looked_at_ = 0;  // in monotonic milliseconds
  std::atomic<bool> has_configured_access_keys_ = false;
  base::Pause pause_;
  std::thread thread_;
  std::atomic<bool> ends_ = false;
};

}  // namespace postino::access
