#include "support/cache.h"

#include "support/field_rules.h"

namespace postino::support {

namespace {

constexpr base::Milliseconds longest_cache_life = std::chrono::hours(24);

}  // namespace

OrRefusal<void> Cache::put(const std::string& key, const item::Map& data, const Actor& actor, base::Milliseconds life) {
  FieldRules rules;
  rules.name("key", key, TicketLimits::key_bytes);
  rules.details("data", data, TicketLimits::cached_bytes);
  if (life <= base::Milliseconds(0) || life > longest_cache_life) rules.add("life", "must be up to 24 hours");
  TRY_VOID(rules.outcome());
  item::Item item = Keys::key(store_.keys(actor.scope).cache(key), cache_sort);
  item.set("data", data);
  item.set(std::string(ttl_attribute), base::epoch_seconds(store_.clock().now() + life));
  return store_.write({store_.put(std::move(item))});
}

OrRefusal<std::optional<item::Map>> Cache::get(const std::string& key, const Actor& actor) {
  FieldRules rules;
  rules.name("key", key, TicketLimits::key_bytes);
  TRY_VOID(rules.outcome());
  TRY(std::optional<item::Item> item, store_.get(Keys::key(store_.keys(actor.scope).cache(key), cache_sort)));
  if (!item) return std::nullopt;
  const item::AttributeValue* const ttl = item->find(ttl_attribute);
  const auto* const end = ttl != nullptr ? ttl->get_if<item::Number>() : nullptr;
  if (end != nullptr && *end <= item::Number(base::epoch_seconds(store_.clock().now()))) return std::nullopt;
  item::AttributeValue* const data = item->find("data");
  auto* const map = data != nullptr ? data->get_if<item::Map>() : nullptr;
  if (map == nullptr) return std::nullopt;
  return std::optional<item::Map>(std::move(*map));
}

}  // namespace postino::support
