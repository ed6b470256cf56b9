#include "app/server/caller_updates.h"

#include <utility>

#include "app/access/key_service.h"
#include "app/settings/policy_settings.h"

namespace postino::app {

bool needs_access_key(const Settings& settings, const access::KnownKeys& known) {
  return settings.outbox.has_callers() || known.closes_api || known.closes_dynamodb;
}

std::vector<wire::AccessKey> all_access_keys(const Settings& settings, const access::KnownKeys& known) {
  std::vector<wire::AccessKey> keys = with_policies(settings.access_keys, settings.account, settings.access.policies);
  for (wire::AccessKey& key : access_keys_of(known, settings.account)) keys.push_back(std::move(key));
  return keys;
}

std::shared_ptr<const api::Access> metrics_readers(const Settings& settings, const access::KnownKeys& known,
                                                   const base::Clock& clock) {
  const http::OriginPolicy origin_policy(settings.access.origin_policy);
  if (settings.access.metrics_require_key) {
    api::StoredApiKeys stored{api::api_keys_of(known), known.closes_api, &clock};
    return std::make_shared<api::Access>(settings.outbox.api_keys, origin_policy, std::vector<api::User>(), nullptr,
                                         std::move(stored));
  }
  if (!settings.access_keys.empty() || needs_access_key(settings, known)) return nullptr;
  return std::make_shared<api::Access>(std::vector<api::ApiKey>(), origin_policy);
}

CallerUpdates::CallerUpdates(const Settings& settings, wire::Endpoint& endpoint, Monitor& monitor,
                             OutboxService* outbox, access::KeyRing* keys, const base::Clock& clock)
    : endpoint_(endpoint), monitor_(monitor), outbox_(outbox), keys_(keys), clock_(clock), settings_(settings) {
  if (keys_ == nullptr) return;
  keys_->note_configured_access_keys(!settings.access_keys.empty());
  keys_->listen([this](const access::KnownKeys& known) { take(known); });
}

CallerUpdates::~CallerUpdates() {
  if (keys_ != nullptr) keys_->listen(nullptr);
}

void CallerUpdates::take(const Settings& settings) {
  if (keys_ != nullptr) keys_->note_configured_access_keys(!settings.access_keys.empty());
  const std::lock_guard lock(mutex_);
  settings_ = settings;
  if (outbox_ != nullptr) outbox_->set_callers(settings.outbox.api_keys, settings.outbox.users);
  tell();
}

void CallerUpdates::take(const access::KnownKeys& known) {
  const std::lock_guard lock(mutex_);
  known_ = known;
  if (outbox_ != nullptr) outbox_->set_stored_keys(known_);
  tell();
}

void CallerUpdates::tell() {
  endpoint_.set_access_keys(all_access_keys(settings_, known_), needs_access_key(settings_, known_));
  monitor_.set_readers(metrics_readers(settings_, known_, clock_));
}

}  // namespace postino::app
