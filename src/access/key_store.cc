#include "access/key_store.h"

#include <algorithm>
#include <utility>

#include "access/policies.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "item/fields.h"

namespace postino::access {

namespace {

constexpr std::string_view state_key = "STATE";
constexpr int most_attempts_to_change = 10;
constexpr base::Milliseconds longest_overlap = std::chrono::days(90);

template <class T>
base::Result<T> passed_on(store::Answer<T> answer) {
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return *std::move(answer);
}

item::Key state_item_key() { return {{"PK", std::string(state_key)}, {"SK", std::string(state_key)}}; }

bool is_overtaken(const store::Error& error) {
  if (error.type != store::ErrorType::transaction_canceled || error.details == nullptr) return false;
  return std::ranges::any_of(error.details->reasons,
                             [](const auto& reason) { return reason.code == "ConditionalCheckFailed"; });
}

base::Result<void> check_rights(const KeyRights& rights) {
  TRY_VOID(check_key_name("name", rights.name));
  if (!rights.tenant.empty()) TRY_VOID(check_key_name("tenant", rights.tenant));
  if (!rights.customer.empty()) TRY_VOID(check_key_name("customer", rights.customer));
  if (rights.policy.size() > KeyLimits::policy) return base::invalid("policy must have 16384 bytes at most");
  if (rights.policy.empty()) return {};
  if (const auto policy = parse_policy(rights.policy, PolicyKind::identity, "policy"); !policy)
    return base::invalid("policy: " + policy.error().message);
  return {};
}

bool has_same_holder(const StoredKey& key, const KeyRights& rights) {
  return key.rights.kind == rights.kind && key.rights.name == rights.name;
}

std::size_t active_of(const KeySet& keys, const KeyRights& rights, base::TimePoint now) {
  return static_cast<std::size_t>(std::ranges::count_if(
      keys.keys, [&](const StoredKey& key) { return has_same_holder(key, rights) && key.counts(now); }));
}

base::Result<void> check_room(const KeySet& keys) {
  if (keys.keys.size() + keys.unreadable.size() < KeyLimits::keys) return {};
  return base::fail(base::ErrorCode::conflict, "there are " + std::to_string(KeyLimits::keys) +
                                                   " keys, which is the most: delete some that are not used");
}

tl::unexpected<base::Error> no_such_key() { return base::fail(base::ErrorCode::not_found, "no key has this id"); }

item::Key used_key(const QuotaMeter& of, const std::string& day) {
  return {{"PK", "USED"}, {"SK", std::string(of.of()) + "#" + of.name() + "#" + day}};
}

QuotaMeter::Day emails_in(const item::Item& item, const std::string& day) {
  item::Fields fields(item);
  return {day, fields.whole("emails")};
}

}  // namespace

store::TableSetup key_table_setup(const KeyTable& table) {
  store::TableSetup setup;
  setup.request = store::table_request(table.name, {{"PK", item::Type::string}, {"SK", item::Type::string}});
  if (table.is_marked) setup.request.tags = {{std::string(store::read_only_tag), "keys"}};
  setup.expiry = "ttl";
  return setup;
}

base::Result<void> prepare_keys(store::Store& store, const KeyTable& table) {
  const store::TableSetup setup = key_table_setup(table);
  TRY_VOID(store::prepare_table(store, setup.request, setup.expiry));
  if (!table.is_marked) return {};
  return store::mark_read_only(store, table.name, "keys");
}

const StoredKey* KeySet::find(std::string_view id) const {
  const auto found =
      std::ranges::lower_bound(keys, id, {}, [](const StoredKey& key) { return std::string_view(key.id); });
  return found == keys.end() || found->id != id ? nullptr : &*found;
}

base::Result<std::int64_t> KeyStore::version() {
  store::GetItemRequest get;
  get.table_name = table_.name;
  get.key = state_item_key();
  get.consistent_read = true;
  TRY(const store::GetItemResponse found, passed_on(store_.get_item(get)));
  if (!found.item) return 0;
  item::Fields fields(*found.item);
  const std::int64_t version = fields.count("version");
  TRY_VOID(fields.check("state of keys"));
  return version;
}

base::Result<KeySet> KeyStore::read() {
  KeySet set;
  // The state first: what changes meanwhile has a later version, and is read again.
  store::GetItemRequest get;
  get.table_name = table_.name;
  get.key = state_item_key();
  get.consistent_read = true;
  TRY(const store::GetItemResponse state, passed_on(retry_([&] { return store_.get_item(get); })));
  if (state.item) {
    item::Fields fields(*state.item);
    set.version = fields.count("version");
    set.had_api_keys = fields.flag("had_api_keys");
    set.had_access_keys = fields.flag("had_access_keys");
    TRY_VOID(fields.check("state of keys"));
  }
  TRY(const std::shared_ptr<const sealing::Sealer> sealer, sealing_.for_opening());
  store::QueryRequest query;
  query.table_name = table_.name;
  query.key_condition = "PK = :keys";
  query.placeholders.values = item::Map{{":keys", std::string(keys_partition)}};
  query.consistent_read = true;
  do {
    TRY(store::PageResponse page, passed_on(retry_([&] { return store_.query(query); })));
    for (const item::Item& item : page.items) {
      auto key = read_stored_key(item, sealer.get());
      if (!key) {
        set.unreadable.push_back({item::attribute_text(item, "SK"), key.error()});
        continue;
      }
      (key->rights.kind == KeyKind::api ? set.had_api_keys : set.had_access_keys) = true;
      set.keys.push_back(*std::move(key));
    }
    query.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (query.exclusive_start_key);
  return set;
}

base::Result<store::TransactWriteItemsRequest> KeyStore::request_for(const KeySet& keys, const Change& change) {
  store::TransactWriteItemsRequest request;
  const auto put = [&](const StoredKey& key, const sealing::Sealer& sealer) -> store::TransactPut& {
    store::TransactPut action;
    action.table_name = table_.name;
    action.item = item_of(key, sealer);
    request.actions.emplace_back(std::move(action));
    return std::get<store::TransactPut>(request.actions.back());
  };
  if (!change.puts.empty() || !change.replaced.empty()) {
    TRY(const std::shared_ptr<const sealing::Sealer> sealer, sealing_.for_sealing());
    for (const StoredKey& key : change.puts) put(key, *sealer).condition = "attribute_not_exists(PK)";
    for (const StoredKey& key : change.replaced) put(key, *sealer).condition = "attribute_exists(PK)";
  }
  if (!change.removed.empty()) {
    store::TransactDelete action;
    action.table_name = table_.name;
    action.key = {{"PK", std::string(keys_partition)}, {"SK", change.removed}};
    action.condition = "attribute_exists(PK)";
    request.actions.emplace_back(std::move(action));
  }
  const auto has_kind = [&](KeyKind kind) {
    return std::ranges::any_of(change.puts, [kind](const StoredKey& key) { return key.rights.kind == kind; });
  };
  store::TransactPut state;
  state.table_name = table_.name;
  state.item = state_item_key();
  state.item.set("entity_type", "key_state");
  state.item.set("version", keys.version + 1);
  state.item.set("had_api_keys", keys.had_api_keys || has_kind(KeyKind::api));
  state.item.set("had_access_keys", keys.had_access_keys || has_kind(KeyKind::access));
  if (keys.version == 0) {
    state.condition = "attribute_not_exists(PK)";
  } else {
    state.condition = "version = :version";
    state.placeholders.values = item::Map{{":version", keys.version}};
  }
  request.actions.emplace_back(std::move(state));
  return request;
}

template <class Plan>
base::Result<void> KeyStore::apply(const Plan& plan) {
  for (int attempt = 0; attempt < most_attempts_to_change; ++attempt) {
    TRY(const KeySet keys, read());
    TRY(const Change change, plan(keys));
    TRY(const store::TransactWriteItemsRequest request, request_for(keys, change));
    const auto done = retry_.transact(store_, request);
    if (done) return {};
    if (!is_overtaken(done.error())) return base::propagate(store::as_error(done.error()));
  }
  return base::fail(base::ErrorCode::exhausted, "others change the keys at the same time");
}

StoredKey KeyStore::make(const KeyRights& rights, const std::string& created_by) const {
  StoredKey key;
  key.id = make_key_id(rights.kind, random_);
  key.rights = rights;
  key.created_at = clock_.now();
  key.created_by = created_by;
  return key;
}

base::Result<MadeKey> KeyStore::create(const KeyRights& rights, std::optional<base::TimePoint> expires_at,
                                       const std::string& created_by) {
  TRY_VOID(check_rights(rights));
  if (expires_at && *expires_at <= clock_.now()) return base::invalid("expires_at must be in the future");
  MadeKey made{make(rights, created_by), {}};
  made.key.expires_at = expires_at;
  made.secret = make_key_secret(made.key.id, rights.kind, random_);
  made.key.proof = rights.kind == KeyKind::api ? hash_of_secret(made.key.id, made.secret) : made.secret;
  const auto plan = [&](const KeySet& keys) -> base::Result<Change> {
    TRY_VOID(check_room(keys));
    const auto is_taken = [&](const StoredKey& key) {
      return has_same_holder(key, rights) && key.counts(clock_.now());
    };
    if (std::ranges::any_of(keys.keys, is_taken))
      return base::fail(base::ErrorCode::conflict,
                        "there is a key of this name that counts: rotate it, or give this one another name");
    return Change{.puts = {made.key}};
  };
  TRY_VOID(apply(plan));
  return made;
}

base::Result<MadeKey> KeyStore::replace(const std::string& id, base::Milliseconds overlap,
                                        const std::string& created_by) {
  if (overlap < base::Milliseconds(0) || overlap > longest_overlap)
    return base::invalid("overlap_seconds must be from 0 to 90 days");
  MadeKey made;
  const auto plan = [&](const KeySet& keys) -> base::Result<Change> {
    const StoredKey* const found = keys.find(id);
    if (found == nullptr) return no_such_key();
    const base::TimePoint now = clock_.now();
    TRY_VOID(check_room(keys));
    if (!found->counts(now))
      return base::fail(base::ErrorCode::conflict, "the key is disabled or has expired: make another one");
    if (active_of(keys, found->rights, now) >= KeyLimits::active_of_name)
      return base::fail(base::ErrorCode::conflict,
                        "two keys of this name count already: disable or delete one of them first");
    made.key = make(found->rights, created_by);
    if (found->expires_at) made.key.expires_at = now + (*found->expires_at - found->created_at);
    made.secret = make_key_secret(made.key.id, found->rights.kind, random_);
    made.key.proof = found->rights.kind == KeyKind::api ? hash_of_secret(made.key.id, made.secret) : made.secret;
    StoredKey earlier = *found;
    ++earlier.revision;
    earlier.replaced_by = made.key.id;
    const base::TimePoint end = now + overlap;
    if (!earlier.expires_at || *earlier.expires_at > end) earlier.expires_at = end;
    return Change{.puts = {made.key}, .replaced = {std::move(earlier)}};
  };
  TRY_VOID(apply(plan));
  return made;
}

base::Result<StoredKey> KeyStore::set_disabled(const std::string& id, bool is_disabled) {
  StoredKey changed;
  const auto plan = [&](const KeySet& keys) -> base::Result<Change> {
    const StoredKey* const found = keys.find(id);
    if (found == nullptr) return no_such_key();
    const base::TimePoint now = clock_.now();
    if (!is_disabled && found->is_disabled && !found->has_expired(now) &&
        active_of(keys, found->rights, now) >= KeyLimits::active_of_name)
      return base::fail(base::ErrorCode::conflict, "two other keys of this name count already");
    changed = *found;
    changed.is_disabled = is_disabled;
    ++changed.revision;
    return Change{.replaced = {changed}};
  };
  TRY_VOID(apply(plan));
  return changed;
}

// Also one that nothing opens.
base::Result<void> KeyStore::remove(const std::string& id) {
  return apply([&](const KeySet& keys) -> base::Result<Change> {
    const auto has_id = [&](const auto& each) { return each.id == id; };
    if (keys.find(id) == nullptr && std::ranges::none_of(keys.unreadable, has_id)) return no_such_key();
    return Change{.removed = id};
  });
}

base::Result<KeyStore::Session> KeyStore::begin_session(const StoredKey& key, base::Milliseconds life,
                                                        const std::string& policy) {
  using Limits = TemporaryKeyLimits;
  if (life < Limits::shortest_life || life > Limits::longest_life)
    return base::invalid("duration_seconds must be from 900 to 129600");
  if (policy.size() > Limits::policy) return base::invalid("policy must have 2048 bytes at most");
  if (!policy.empty())
    if (const auto read = parse_policy(policy, PolicyKind::identity, "policy"); !read)
      return base::invalid("policy: " + read.error().message);
  const base::TimePoint now = clock_.now();
  if (key.rights.kind != KeyKind::access)
    return base::fail(base::ErrorCode::conflict, "it is an API key: sign in with it for a session");
  if (!key.counts(now)) return base::fail(base::ErrorCode::conflict, "the key is disabled or has expired");
  base::TimePoint end = now + life;
  if (key.expires_at) end = std::min(end, *key.expires_at);
  TRY(const std::shared_ptr<const sealing::Sealer> sealer, sealing_.for_sealing());
  Session session{make_temporary_key(key.id, end, policy, random_), {}};
  session.token = session_token(session.key, *sealer);
  return session;
}

base::Result<TemporaryKey> KeyStore::open_token(std::string_view token) {
  TRY(const std::shared_ptr<const sealing::Sealer> sealer, sealing_.for_opening());
  if (!sealer) return base::fail(base::ErrorCode::not_found, "there is no sealing key");
  return open_session_token(token, *sealer);
}

base::Result<QuotaMeter::Day> KeyStore::add_emails(const QuotaMeter& of, const QuotaMeter::Day& day) {
  constexpr base::Milliseconds kept = std::chrono::days(3);
  store::UpdateItemRequest update;
  update.table_name = table_.name;
  update.key = used_key(of, day.day);
  update.update = "SET #ttl = :ttl, entity_type = :type ADD emails :count";
  update.placeholders.names = expr::Names{{"#ttl", "ttl"}};
  update.placeholders.values =
      item::Map{{":ttl", base::epoch_seconds(clock_.now() + kept)}, {":type", "used_quota"}, {":count", day.emails}};
  update.return_values = store::ReturnValues::all_new;
  TRY(const store::WriteItemResponse done, passed_on(store_.update_item(update)));
  return emails_in(done.attributes.value_or(item::Item()), day.day);
}

base::Result<QuotaMeter::Day> KeyStore::emails_of_today(const QuotaMeter& of) {
  const std::string day = base::format_day(clock_.now());
  store::GetItemRequest get;
  get.table_name = table_.name;
  get.key = used_key(of, day);
  get.consistent_read = true;
  TRY(const store::GetItemResponse found, passed_on(store_.get_item(get)));
  return emails_in(found.item.value_or(item::Item()), day);
}

base::Result<void> KeyStore::note_use(const std::string& id, base::TimePoint when) {
  store::UpdateItemRequest update;
  update.table_name = table_.name;
  update.key = {{"PK", std::string(keys_partition)}, {"SK", id}};
  update.update = "SET last_used_at = :when";
  // Another process may have seen it later.
  update.condition = "attribute_exists(PK) AND (attribute_not_exists(last_used_at) OR last_used_at < :when)";
  update.placeholders.values = item::Map{{":when", base::format_timestamp(when)}};
  const auto done = store_.update_item(update);
  if (done || done.error().type == store::ErrorType::conditional_check_failed) return {};
  return base::propagate(store::as_error(done.error()));
}

}  // namespace postino::access
