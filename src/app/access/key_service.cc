#include "app/access/key_service.h"

#include "access/policies.h"
#include "app/store/service_tables.h"
#include "base/log.h"
#include "net/address.h"

namespace postino::app {

namespace {

std::filesystem::path sealing_file(const Settings& settings) {
  constexpr const char* usual_name = "sealing.key";
  return settings.keys.sealing_key.empty() ? settings.data / usual_name
                                           : std::filesystem::path(settings.keys.sealing_key);
}

// What policies know of the holder: the name, and the tenant as a tag.
access::Principal principal_of(const access::StoredKey& key, const std::string& account) {
  access::Principal principal{account, key.rights.name, key.id};
  if (key.rights.tenant.empty()) return principal;
  if (auto tag = access::KeyReference::parse("aws:PrincipalTag/tenant"))
    principal.values.emplace_back(*std::move(tag), key.rights.tenant);
  return principal;
}

}  // namespace

KeyService::KeyService(store::Store& store, const Settings& settings, const base::Clock& clock)
    : sealing_(sealing_file(settings), settings.store == StoreKind::embedded, random_),
      keys_(store, *key_table(settings), sealing_, clock, random_,
            store::Retry(random_, [this](base::Milliseconds delay) { pause_.wait(delay); })) {}

base::Result<std::unique_ptr<KeyService>> KeyService::create(store::Store& store, const Settings& settings,
                                                             const base::Clock& clock, access::Audit* audit) {
  TRY_VOID(access::prepare_keys(store, *key_table(settings)));
  std::unique_ptr<KeyService> service(new KeyService(store, settings, clock));
  TRY(service->ring_, access::KeyRing::open(service->keys_, clock, audit, settings.keys.tenant_quotas));
  return service;
}

std::vector<wire::AccessKey> access_keys_of(const access::KnownKeys& known, const std::string& account) {
  std::vector<wire::AccessKey> keys;
  for (const access::KnownKeys::Known& each : known.keys) {
    const access::StoredKey& stored = each.key;
    if (stored.rights.kind != access::KeyKind::access || stored.is_disabled) continue;
    wire::AccessKey key{stored.id, stored.proof};
    key.expires_at = stored.expires_at;
    key.use = each.use;
    key.principal = principal_of(stored, account);
    if (each.meter) key.quotas.push_back(each.meter);
    if (const auto tenant = known.tenant_meters.find(stored.rights.tenant);
        tenant != known.tenant_meters.end() && tenant->second)
      key.quotas.push_back(tenant->second);
    if (!stored.rights.policy.empty()) {
      auto policy = access::parse_policy(stored.rights.policy, access::PolicyKind::identity, "policy of " + stored.id);
      if (!policy) {  // it was one when the key was made; without it the key would have all rights
        base::log_error("keys", "a key does not count", {{"id", stored.id}, {"cause", policy.error().message}});
        continue;
      }
      std::vector<std::shared_ptr<const access::Policy>> policies;
      policies.push_back(std::make_shared<const access::Policy>(*std::move(policy)));
      key.policies = std::make_shared<const access::KeyPolicies>(key.principal, std::move(policies));
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

base::Result<void> check_addresses(const Settings& settings, const access::KnownKeys& known) {
  SettingErrors errors;
  std::string make_one = "make one with 'postino keys init --name NAME'";
  if (settings.store == StoreKind::embedded) make_one.insert(make_one.size() - 1, " --data " + settings.data.string());
  const net::Address rest{settings.outbox.http_host, settings.outbox.http_port};
  const bool has_callers = settings.outbox.has_callers() || known.closes_api;
  if (!settings.outbox.off && !rest.is_loopback() && !has_callers)
    errors.add("--http " + rest.text() + " can be reached from other machines, so callers need an API key: " +
               make_one + ", give an --api-key or a --user, or listen on 127.0.0.1");
  const net::Address dynamodb{settings.dynamodb_host, settings.dynamodb_port};
  if (!dynamodb.is_loopback() && settings.access_keys.empty() && !known.closes_dynamodb && !has_callers)
    errors.add("--dynamodb " + dynamodb.text() +
               " can be reached from other machines, so requests must be signed: give an --access-key, or make an API "
               "key first (" +
               make_one + ") and with it an access key, or listen on 127.0.0.1");
  return errors.result();
}

}  // namespace postino::app
