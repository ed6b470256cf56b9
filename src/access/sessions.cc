#include "access/sessions.h"

#include <openssl/crypto.h>

#include <functional>
#include <map>
#include <set>

#include "access/caller_scope.h"
#include "base/hash.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"

namespace postino::access {

namespace {

constexpr std::string_view id_begin = "sess_";
constexpr std::size_t uuid_size = 36;
constexpr std::size_t id_size = id_begin.size() + uuid_size;
constexpr std::size_t secret_size = 64;  // 32 bytes, in hexadecimal digits

std::string partition_of(const std::string& id) { return std::string(session_partitions) + id; }

// API keys of several tenants and customers may have the same name.
std::string holder_of(const Session& session) {
  std::string holder = std::string(session.of_api_key ? "KEY#" : "USER#") + session.tenant;
  if (!session.customer.empty()) holder += "/" + session.customer;
  return holder + "#" + session.user_id;
}

// In the index, and the partition of entries.
std::string listing_of(const Session& session) { return "SESSIONS#" + holder_of(session); }
std::string entries_of(const Session& session) { return "SESSION#OF#" + holder_of(session); }

// As Python's utcnow().isoformat(): the seed compares it with a time that knows no zone.
std::string time_text(base::TimePoint time) {
  std::string text = base::format_timestamp(time);
  text.pop_back();
  return text;
}

std::optional<base::TimePoint> time_of(const item::Item& item, std::string_view name) {
  const auto time = base::parse_timestamp(item::attribute_text(item, name) + "Z");
  if (!time) return std::nullopt;
  return *time;
}

std::string make_secret(base::Random& random) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) {
    std::uint64_t number = random.next();
    for (int j = 0; j < 8; ++j, number >>= 8) bytes += static_cast<char>(number & 0xFF);
  }
  return base::to_hex(bytes);
}

// Among the sessions of a user: by age.
std::string place_of(const Session& session) { return time_text(session.created_at) + "#" + session.id; }

item::Item item_of(const Session& session, const std::string& secret) {
  item::Map data{{"user_id", session.user_id}, {"session_id", session.id}};
  item::Item item{{"PK", partition_of(session.id)},
                  {"SK", "METADATA"},
                  {"entity_type", "session"},
                  {"session_id", session.id},
                  {"user_id", session.user_id},
                  {"created_at", time_text(session.created_at)},
                  {"expires_at", time_text(session.expires_at)},
                  {"ttl", base::epoch_seconds(session.expires_at)},
                  {"secret_digest", base::to_hex(base::sha256(secret))},
                  {"GSI1PK", listing_of(session)},
                  {"GSI1SK", place_of(session)}};
  item.set("data", std::move(data));
  if (session.of_api_key) item.set("of_api_key", true);
  if (!session.tenant.empty()) item.set("tenant", session.tenant);
  if (!session.customer.empty()) item.set("customer", session.customer);
  if (!session.credential.empty()) item.set("credential", session.credential);
  if (!session.from.empty()) item.set("signed_in_from", session.from);
  return item;
}

// nullopt: it is none of ours. The seed's own program makes sessions without a secret; these open nothing here.
std::optional<Session> session_of(const item::Item& item) {
  Session session;
  session.id = item::attribute_text(item, "session_id");
  session.user_id = item::attribute_text(item, "user_id");
  session.tenant = item::attribute_text(item, "tenant");
  session.customer = item::attribute_text(item, "customer");
  session.credential = item::attribute_text(item, "credential");
  session.from = item::attribute_text(item, "signed_in_from");
  if (const item::AttributeValue* const of_key = item.find("of_api_key"))
    session.of_api_key = of_key->get_if<bool>() != nullptr && of_key->as<bool>();
  const auto created_at = time_of(item, "created_at");
  const auto expires_at = time_of(item, "expires_at");
  if (session.id.empty() || session.user_id.empty() || !created_at || !expires_at) return std::nullopt;
  session.created_at = *created_at;
  session.expires_at = *expires_at;
  return session;
}

bool has_secret(const item::Item& item, std::string_view secret) {
  const std::string stored = item::attribute_text(item, "secret_digest");
  const std::string given = base::to_hex(base::sha256(secret));
  return stored.size() == given.size() && CRYPTO_memcmp(stored.data(), given.data(), given.size()) == 0;
}

store::GetItemRequest get_request(const std::string& table, const std::string& id) {
  store::GetItemRequest get;
  get.table_name = table;
  get.key = {{"PK", partition_of(id)}, {"SK", "METADATA"}};
  get.consistent_read = true;
  return get;
}

item::Key entry_key(const Session& session) { return {{"PK", entries_of(session)}, {"SK", place_of(session)}}; }

item::Item entry_of(const Session& session) {
  item::Item entry = entry_key(session);
  entry.set("entity_type", "session_entry");
  entry.set("session_id", session.id);
  entry.set("ttl", base::epoch_seconds(session.expires_at));
  return entry;
}

// The table: no session was ever created.
bool is_absent(const store::Error& error) { return error.type == store::ErrorType::resource_not_found; }

}  // namespace

bool have_same_holder(const Session& one, const Session& other) {
  return one.user_id == other.user_id && one.of_api_key == other.of_api_key && one.tenant == other.tenant &&
         one.customer == other.customer && one.credential == other.credential;
}

// Two that come first at the same time both prepare it, which does no harm.
store::Answer<void> Sessions::prepare_once() {
  if (is_prepared_ || !options_.prepare) return {};
  TRY_VOID(options_.prepare());
  is_prepared_ = true;
  return {};
}

store::Answer<Sessions::Created> Sessions::create(Session session) {
  session.id = std::string(id_begin) + base::make_uuid(random_);
  session.created_at = clock_.now();
  session.expires_at = session.created_at + options_.life;
  const std::string secret = make_secret(random_);
  TRY_VOID(prepare_once());
  TRY(const std::vector<item::Item> earlier, items_of(session, most_of_one_user));
  if (earlier.size() >= most_of_one_user)
    if (const std::optional<Session> oldest = session_of(earlier.back())) TRY_VOID(remove(*oldest));
  TRY_VOID(write(session, secret));
  Created created{.session = std::move(session), .token = {}};
  created.token = created.session.id + "." + secret;
  return created;
}

bool Sessions::is_token(std::string_view text) {
  return text.size() == id_size + 1 + secret_size && text.starts_with(id_begin) && text[id_size] == '.';
}

store::Answer<std::optional<Session>> Sessions::find(std::string_view token) {
  if (!is_token(token)) return std::nullopt;
  const auto answer = store_.get_item(get_request(options_.table, std::string(token.substr(0, id_size))));
  if (!answer && is_absent(answer.error())) return std::nullopt;
  if (!answer) return base::propagate(answer.error());
  const std::optional<item::Item>& item = answer->item;
  if (!item || !has_secret(*item, token.substr(id_size + 1))) return std::nullopt;
  std::optional<Session> session = session_of(*item);
  if (!session || has_ended(*session)) return std::nullopt;
  return session;
}

store::Answer<std::vector<Session>> Sessions::list(const Session& whose) {
  TRY(const std::vector<item::Item> items, items_of(whose, most_of_one_user));
  std::vector<Session> sessions;
  for (const item::Item& item : items)
    if (std::optional<Session> session = session_of(item); session && !has_ended(*session))
      sessions.push_back(*std::move(session));
  return sessions;
}

store::Answer<bool> Sessions::revoke(const Session& whose, const std::string& id) {
  CallerScope::check(whose.tenant, whose.customer);
  if (id.size() != id_size || !id.starts_with(id_begin)) return false;
  TRY(const std::optional<item::Item> item, read(id));
  const std::optional<Session> session = item ? session_of(*item) : std::nullopt;
  if (!session || listing_of(*session) != listing_of(whose) || has_ended(*session)) return false;
  TRY_VOID(remove(*session));
  return true;
}

store::Answer<int> Sessions::revoke_all(const Session& whose) {
  return remove_those(whose, [](const Session&) { return true; });
}

store::Answer<int> Sessions::revoke_credential(const Session& holder) {
  return remove_those(holder, [&](const Session& session) { return have_same_holder(session, holder); });
}

void Sessions::forget(const Session& session) { (void)store_.transact_write_items(removal_of(session)); }

std::vector<Sessions::Source> Sessions::sources() const {
  if (store_.is_shared()) return {Source::entries, Source::index};
  return {Source::index};
}

template <class Which>
store::Answer<int> Sessions::remove_those(const Session& whose, const Which& which) {
  int count = 0;
  for (const Source source : sources()) {
    store::PageResponse page;
    do {
      TRY(page, page_of(source, whose, std::move(page.last_evaluated_key)));
      TRY(const std::vector<item::Item> items, read_all(page.items));
      for (const item::Item& item : items) {
        // What another program puts between them is left alone.
        const std::optional<Session> session = session_of(item);
        if (!session || !which(*session)) continue;
        TRY_VOID(remove(*session));
        ++count;
      }
    } while (page.last_evaluated_key);
  }
  return count;
}

store::Answer<void> Sessions::write(const Session& session, const std::string& secret) {
  store::TransactWriteItemsRequest request;
  store::TransactPut put;
  put.table_name = options_.table;
  put.item = item_of(session, secret);
  request.actions.emplace_back(std::move(put));
  if (store_.is_shared()) {
    store::TransactPut entry;
    entry.table_name = options_.table;
    entry.item = entry_of(session);
    request.actions.emplace_back(std::move(entry));
  }
  TRY_VOID(retry_.transact(store_, request));
  return {};
}

store::TransactWriteItemsRequest Sessions::removal_of(const Session& session) const {
  store::TransactWriteItemsRequest request;
  const auto remove_item = [&](item::Key key) {
    store::TransactDelete removal;
    removal.table_name = options_.table;
    removal.key = std::move(key);
    request.actions.emplace_back(std::move(removal));
  };
  remove_item({{"PK", partition_of(session.id)}, {"SK", "METADATA"}});
  if (store_.is_shared()) remove_item(entry_key(session));
  return request;
}

store::Answer<std::optional<item::Item>> Sessions::read(const std::string& id) {
  const store::GetItemRequest get = get_request(options_.table, id);
  auto answer = retry_([&] { return store_.get_item(get); });
  if (!answer && is_absent(answer.error())) return std::nullopt;
  if (!answer) return base::propagate(std::move(answer).error());
  return std::move(answer->item);
}

store::Answer<std::vector<item::Item>> Sessions::items_of(const Session& whose, std::size_t most) {
  std::map<std::string, item::Item, std::greater<>> newest;  // by place
  for (const Source source : sources()) {
    TRY(const store::PageResponse page, page_of(source, whose, std::nullopt));
    TRY(std::vector<item::Item> items, read_all(page.items));
    for (item::Item& item : items) {
      std::string place = item::attribute_text(item, "GSI1SK") + " " + item::attribute_text(item, "PK");
      newest.emplace(std::move(place), std::move(item));
    }
  }
  std::vector<item::Item> items;
  for (auto& [place, item] : newest)
    if (items.size() < most) items.push_back(std::move(item));
  return items;
}

store::Answer<store::PageResponse> Sessions::page_of(Source source, const Session& whose,
                                                     std::optional<item::Key> after) {
  CallerScope::check(whose.tenant, whose.customer);
  store::QueryRequest query;
  query.table_name = options_.table;
  if (source == Source::index) {
    query.index_name = "GSI1-customer-index";
    query.key_condition = "GSI1PK = :whose";
    query.placeholders.values = item::Map{{":whose", listing_of(whose)}};
  } else {
    query.consistent_read = true;
    query.key_condition = "PK = :whose";
    query.placeholders.values = item::Map{{":whose", entries_of(whose)}};
  }
  query.forward = false;
  query.limit = static_cast<int>(most_of_one_user);
  query.exclusive_start_key = std::move(after);
  auto page = retry_([&] { return store_.query(query); });
  if (!page && is_absent(page.error())) return store::PageResponse();
  if (!page) return base::propagate(std::move(page).error());
  return *std::move(page);
}

// What the embedded store tells is what is there.
store::Answer<std::vector<item::Item>> Sessions::read_all(const std::vector<item::Item>& told) {
  if (!store_.is_shared() || told.empty()) return told;
  store::BatchGetTable wanted;
  wanted.table_name = options_.table;
  wanted.consistent_read = true;
  std::set<std::string> ids;
  for (const item::Item& each : told)
    if (const std::string id = item::attribute_text(each, "session_id"); !id.empty() && ids.insert(id).second)
      wanted.keys.push_back({{"PK", partition_of(id)}, {"SK", "METADATA"}});
  store::BatchGetItemRequest request;
  if (!wanted.keys.empty()) request.tables.push_back(std::move(wanted));
  std::map<std::string, item::Item> found;  // by id
  while (!request.tables.empty()) {
    TRY(store::BatchGetItemResponse response, retry_([&] { return store_.batch_get_item(request); }));
    for (auto& answered : response.tables)
      for (item::Item& item : answered.items) {
        std::string id = item::attribute_text(item, "session_id");
        found.emplace(std::move(id), std::move(item));
      }
    request.tables = std::move(response.unprocessed);
  }
  std::vector<item::Item> items;
  for (const item::Item& each : told)
    if (auto item = found.extract(item::attribute_text(each, "session_id")); !item.empty())
      items.push_back(std::move(item.mapped()));
  return items;
}

store::Answer<void> Sessions::remove(const Session& session) {
  TRY_VOID(retry_.transact(store_, removal_of(session)));
  return {};
}

}  // namespace postino::access
