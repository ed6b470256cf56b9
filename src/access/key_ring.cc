#include "access/key_ring.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/metrics_text.h"

namespace postino::access {

namespace {

std::string rights_text(const KeyRights& rights) {
  std::string text(name_of(rights.kind));
  text += " " + rights.name;
  if (!rights.role.empty()) text += ":" + rights.role;
  if (!rights.tenant.empty()) text += "@" + rights.tenant;
  if (!rights.customer.empty()) text += "/" + rights.customer;
  return text;
}

}  // namespace

const KnownKeys::Known* KnownKeys::find(std::string_view id) const {
  const auto found =
      std::ranges::lower_bound(keys, id, {}, [](const Known& each) { return std::string_view(each.key.id); });
  return found == keys.end() || found->key.id != id ? nullptr : &*found;
}

KeyRing::KeyRing(KeyStore& keys, const base::Clock& clock, Audit* audit, const TenantQuotas& tenant_quotas,
                 KeyRingTiming timing)
    : keys_(keys), clock_(clock), audit_(audit), timing_(timing) {
  for (const auto& [tenant, quota] : tenant_quotas) tenant_meters_[tenant] = meter_of("tenant", tenant, quota);
}

base::Result<std::unique_ptr<KeyRing>> KeyRing::open(KeyStore& keys, const base::Clock& clock, Audit* audit,
                                                     TenantQuotas tenant_quotas, KeyRingTiming timing) {
  std::unique_ptr<KeyRing> ring(new KeyRing(keys, clock, audit, tenant_quotas, timing));
  const std::lock_guard lock(ring->mutex_);
  TRY_VOID(ring->read());
  for (const KeySet::Unreadable& each : ring->set_.unreadable)
    if (each.why.code == base::ErrorCode::not_found)
      return base::fail(base::ErrorCode::conflict, "the key " + each.id + " in table " + keys.table().name +
                                                       " cannot be used: " + each.why.message +
                                                       ". Give back the file of the sealing key (--sealing-key), or "
                                                       "start with --no-stored-keys");
  return ring;
}

KeyRing::~KeyRing() { stop(); }

void KeyRing::listen(Listener listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
  if (listener_) listener_(*known_.get());
}

base::Result<void> KeyRing::read() {
  auto set = keys_.read();
  if (!set) return base::propagate(std::move(set).error());
  publish(*std::move(set));
  looked_at_ = clock_.monotonic().count();
  return {};
}

// The one that there is, so that keys of one holder share it, with what was used today. A key without a quota has none.
std::shared_ptr<QuotaMeter> KeyRing::meter_of(std::string_view of, const std::string& name, const Quota& quota) {
  if (quota == Quota()) return nullptr;
  std::shared_ptr<QuotaMeter>& meter = meters_[std::string(of) + "#" + name];
  if (meter) {
    meter->set_quota(quota);
    return meter;
  }
  meter = std::make_shared<QuotaMeter>(of, name, quota);
  if (const auto used = keys_.emails_of_today(*meter)) meter->note_written(*used);
  return meter;
}

void KeyRing::publish(KeySet set) {
  for (const KeySet::Unreadable& each : set.unreadable) {
    const bool is_known = std::ranges::any_of(set_.unreadable, [&](const auto& old) { return old.id == each.id; });
    if (!is_known) base::log_error("keys", "a key does not count", {{"id", each.id}, {"cause", each.why.message}});
  }
  set_ = std::move(set);
  // An API that was closed is not opened again by what happens to the table.
  closes_api_ |= set_.had_api_keys;
  closes_dynamodb_ |= set_.had_access_keys;
  auto known = std::make_shared<KnownKeys>();
  known->closes_api = closes_api_;
  known->closes_dynamodb = closes_dynamodb_;
  known->unreadable = set_.unreadable;
  known->tenant_meters = tenant_meters_;
  std::map<std::string, std::shared_ptr<KeyUse>, std::less<>> uses;
  for (const StoredKey& key : set_.keys) {
    const auto used = uses_.find(key.id);
    auto use = used == uses_.end() ? std::make_shared<KeyUse>() : used->second;
    uses.emplace(key.id, use);
    known->keys.push_back({key, std::move(use), meter_of(name_of(key.rights.kind), key.rights.name, key.rights.quota)});
  }
  uses_ = std::move(uses);
  std::erase_if(written_uses_, [this](const auto& each) { return !uses_.contains(each.first); });
  known_.set(known);
  if (listener_) listener_(*known);
}

// It counts at once, also if the table cannot be read now. The version stays the old one, so the next look reads it.
void KeyRing::change(const std::string& id, const StoredKey* key) {
  const std::lock_guard lock(mutex_);
  KeySet set = set_;
  std::erase_if(set.keys, [&](const StoredKey& each) { return each.id == id; });
  std::erase_if(set.unreadable, [&](const KeySet::Unreadable& each) { return each.id == id; });
  if (key != nullptr) {
    const auto place = std::ranges::lower_bound(set.keys, id, {}, &StoredKey::id);
    set.keys.insert(place, *key);
    (key->rights.kind == KeyKind::api ? set.had_api_keys : set.had_access_keys) = true;
  }
  publish(std::move(set));
  if (const auto done = read(); !done)
    base::log_warning("keys", "the keys cannot be read now", {{"cause", done.error().message}});
}

void KeyRing::tell(std::string_view action, const StoredKey& key, const KeyChanger& by,
                   const std::string& detail) const {
  if (audit_ != nullptr)
    audit_->note({.actor = by.name,
                  .kind = by.kind,
                  .tenant = key.rights.tenant,
                  .action = std::string(action),
                  .subject = key.id,
                  .detail = detail});
  base::log_info("keys", std::string(action), {{"id", key.id}, {"name", key.rights.name}, {"by", by.name}});
}

base::Result<MadeKey> KeyRing::create(const KeyRights& rights, std::optional<base::TimePoint> expires_at,
                                      const KeyChanger& by) {
  TRY(MadeKey made, keys_.create(rights, expires_at, by.name));
  change(made.key.id, &made.key);
  tell("keys.created", made.key, by, rights_text(rights));
  return made;
}

base::Result<MadeKey> KeyRing::replace(const std::string& id, base::Milliseconds overlap, const KeyChanger& by) {
  TRY(MadeKey made, keys_.replace(id, overlap, by.name));
  change(made.key.id, &made.key);
  tell("keys.created", made.key, by, rights_text(made.key.rights) + " instead of " + id);
  return made;
}

base::Result<StoredKey> KeyRing::set_disabled(const std::string& id, bool is_disabled, const KeyChanger& by) {
  TRY(StoredKey changed, keys_.set_disabled(id, is_disabled));
  change(id, &changed);
  tell(is_disabled ? "keys.disabled" : "keys.enabled", changed, by, rights_text(changed.rights));
  return changed;
}

base::Result<void> KeyRing::remove(const std::string& id, const KeyChanger& by) {
  const auto before = known();
  TRY_VOID(keys_.remove(id));
  change(id, nullptr);
  StoredKey gone;
  gone.id = id;
  if (const KnownKeys::Known* const found = before->find(id)) gone = found->key;
  tell("keys.deleted", gone, by, rights_text(gone.rights));
  return {};
}

base::Result<KeyStore::Session> KeyRing::begin_session(const std::string& id, base::Milliseconds life,
                                                       const std::string& policy, const KeyChanger& by) {
  const auto known = this->known();
  const KnownKeys::Known* const found = known->find(id);
  if (found == nullptr) return base::fail(base::ErrorCode::not_found, "no key has this id");
  TRY(KeyStore::Session session, keys_.begin_session(found->key, life, policy));
  tell("keys.sessionBegun", found->key, by, session.key.id);
  return session;
}

std::vector<StoredKey> KeyRing::list() const {
  std::vector<StoredKey> keys;
  const auto known = this->known();
  for (const KnownKeys::Known& each : known->keys) {
    keys.push_back(each.key);
    const auto last = each.use->last();
    if (last && (!keys.back().last_used_at || *keys.back().last_used_at < *last)) keys.back().last_used_at = last;
  }
  return keys;
}

void KeyRing::look() {
  std::string problem;
  if (const auto version = keys_.version(); !version) {
    problem = version.error().message;
  } else {
    const std::lock_guard lock(mutex_);
    if (*version == set_.version)
      looked_at_ = clock_.monotonic().count();
    else if (const auto done = read(); !done)
      problem = done.error().message;
  }
  const std::lock_guard lock(problem_mutex_);
  if (!problem.empty() && problem_.empty())
    base::log_warning("keys", "the keys cannot be read, and those that are known go on counting", {{"cause", problem}});
  problem_ = std::move(problem);
}

void KeyRing::write_uses() {
  const auto is_written = [this](const std::string& id, base::TimePoint last) {
    const std::lock_guard lock(mutex_);
    const auto written = written_uses_.find(id);
    return written != written_uses_.end() && written->second == last;
  };
  const auto known = this->known();
  for (const KnownKeys::Known& each : known->keys) {
    const auto last = each.use->last();
    if (!last || is_written(each.key.id, *last)) continue;
    if (const auto done = keys_.note_use(each.key.id, *last); !done) return;  // in a while again
    const std::lock_guard lock(mutex_);
    written_uses_[each.key.id] = *last;
  }
}

void KeyRing::write_quotas() {
  std::vector<std::shared_ptr<QuotaMeter>> meters;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, meter] : meters_) meters.push_back(meter);
  }
  for (const auto& meter : meters) {
    const auto unwritten = meter->take_unwritten();
    if (!unwritten) continue;
    if (const auto total = keys_.add_emails(*meter, *unwritten))
      meter->note_written(*total);
    else
      meter->give_back_unwritten(*unwritten);
  }
}

void KeyRing::start() {
  thread_ = std::thread([this] { run(); });
}

void KeyRing::run() {
  base::name_thread("keys");
  base::Milliseconds wrote_at = clock_.monotonic();
  while (true) {
    pause_.wait(timing_.look_every);
    if (ends_) return;
    look();
    if (clock_.monotonic() - wrote_at < timing_.write_uses_every) continue;
    write_uses();
    write_quotas();
    wrote_at = clock_.monotonic();
  }
}

void KeyRing::stop() {
  ends_ = true;
  pause_.end();
  if (!thread_.joinable()) return;
  thread_.join();
  write_uses();
  write_quotas();
}

std::optional<std::string> KeyRing::problem() const {
  const std::lock_guard lock(problem_mutex_);
  if (!problem_.empty()) return "the keys cannot be read: " + problem_;
  if (const auto known = this->known(); !known->unreadable.empty())
    return "the key " + known->unreadable.front().id + " does not count: " + known->unreadable.front().why.message;
  return std::nullopt;
}

// Before a quota is used up, these show how near it is.
void KeyRing::append_quota_metrics(std::string& out) const {
  std::vector<std::shared_ptr<QuotaMeter>> meters;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, meter] : meters_) meters.push_back(meter);
  }
  const base::TimePoint now = clock_.now();
  const auto append = [&](std::string_view name, std::string_view type, std::string_view help, const auto& value) {
    base::append_metric_head(out, name, type, help);
    for (const auto& meter : meters)
      out.append(name)
          .append("{of=\"")
          .append(meter->of())
          .append("\",name=\"")
          .append(meter->name())
          .append("\"} ")
          .append(std::to_string(value(*meter)))
          .append("\n");
  };
  append("postino_quota_requests_limit", "gauge",
         "Requests a second that the holder of a key, or a tenant, may make; 0: any number.",
         [](QuotaMeter& meter) { return meter.quota().requests_per_second; });
  append("postino_quota_requests_total", "counter", "Requests of those who have a quota.",
         [&](QuotaMeter& meter) { return meter.counts(now).requests; });
  append("postino_quota_emails_limit", "gauge",
         "E-mails a day that the holder of a key, or a tenant, may hand in; 0: any number.",
         [](QuotaMeter& meter) { return meter.quota().emails_per_day; });
  append("postino_quota_emails_today", "gauge", "E-mails that were handed in today by those who have a quota.",
         [&](QuotaMeter& meter) { return meter.counts(now).emails_today; });
  append("postino_quota_refused_total", "counter", "Requests that were refused because a quota was used up.",
         [&](QuotaMeter& meter) { return meter.counts(now).refused; });
}

void KeyRing::append_metrics(std::string& out) const {
  const auto known = this->known();
  const base::TimePoint now = clock_.now();
  std::map<std::pair<std::string_view, std::string_view>, int> counts;
  for (const KeyKind kind : {KeyKind::api, KeyKind::access})
    for (const std::string_view state : {"active", "disabled", "expired"}) counts[{name_of(kind), state}] = 0;
  for (const KnownKeys::Known& each : known->keys) {
    const std::string_view state = each.key.is_disabled ? "disabled" : each.key.has_expired(now) ? "expired" : "active";
    ++counts[{name_of(each.key.rights.kind), state}];
  }
  constexpr std::string_view name = "postino_keys";
  base::append_metric_head(out, name, "gauge", "Keys in the store, by their kind and state.");
  for (const auto& [labels, count] : counts)
    out.append(name)
        .append("{kind=\"")
        .append(labels.first)
        .append("\",state=\"")
        .append(labels.second)
        .append("\"} ")
        .append(std::to_string(count))
        .append("\n");
  base::append_metric(out, "postino_keys_unreadable", "gauge", "Keys in the store that do not open, and do not count.",
                      std::to_string(known->unreadable.size()));
  append_quota_metrics(out);
  const auto age = std::max<std::int64_t>(0, clock_.monotonic().count() - looked_at_) / 1'000;
  base::append_metric(out, "postino_keys_age_seconds", "gauge",
                      "Time since this server has last looked whether the keys in the store were changed.",
                      std::to_string(age));
}

}  // namespace postino::access
