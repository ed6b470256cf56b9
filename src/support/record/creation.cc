#include "support/record/creation.h"

#include "base/hash.h"
#include "item/attribute_text.h"
#include "item/end_of_life.h"
#include "item/plain_json.h"

namespace postino::support {

using item::attribute_text;

item::Item creation_item(const Keys& keys, const std::string& key, const Creation& creation, base::TimePoint now,
                         base::Milliseconds life) {
  item::Item item = Keys::key(keys.idempotency(key), metadata_sort);
  item.set("ticket_id", creation.ticket_id);
  item.set("created_at", creation.created_at);
  item.set("request_hash", creation.request_hash);
  item.set("response",
           item::to_plain_json(item::Map{
               {"ticket_id", creation.ticket_id}, {"status", creation.status}, {"created_at", creation.created_at}}));
  item.set(std::string(ttl_attribute), base::epoch_seconds(item::end_of_life(now, life)));
  return item;
}

std::optional<Creation> read_creation(const item::Item& item, base::TimePoint now) {
  const item::AttributeValue* const ttl = item.find(ttl_attribute);
  const auto* const end = ttl != nullptr ? ttl->get_if<item::Number>() : nullptr;
  if (end != nullptr && *end < item::Number(base::epoch_seconds(now))) return std::nullopt;
  Creation creation{attribute_text(item, "ticket_id"), "", attribute_text(item, "created_at"),
                    attribute_text(item, "request_hash")};
  if (const auto response = item::parse_plain_json(attribute_text(item, "response")))
    if (const auto* const map = response->get_if<item::Map>()) {
      creation.status = attribute_text(*map, "status");
      if (creation.ticket_id.empty()) creation.ticket_id = attribute_text(*map, "ticket_id");
      if (const std::string at = attribute_text(*map, "created_at"); !at.empty()) creation.created_at = at;
    }
  if (creation.status.empty()) creation.status = std::string(name_of(TicketStatus::fresh));
  if (creation.ticket_id.empty()) return std::nullopt;
  return creation;
}

std::string hash_of_request(const std::string& canonical) { return base::to_hex(base::sha256(canonical)); }

}  // namespace postino::support
