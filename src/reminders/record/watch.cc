#include "reminders/record/watch.h"

#include <algorithm>

#include "base/timestamp.h"
#include "reminders/record/item_fields.h"
#include "reminders/record/keys.h"

namespace postino::reminders {

Watch after_look(Watch watch, bool waits, base::TimePoint now) {
  if (waits)
    watch.settled_at.reset();
  else if (!watch.settled_at)
    watch.settled_at = now;
  return watch;
}

base::Milliseconds pause_before_look(int looks) {
  using namespace std::chrono_literals;
  constexpr base::Milliseconds first = 10s, longest = 6h;
  constexpr int most_doublings = 12;  // enough for the longest one
  return std::min(longest, first * (1 << std::min(looks, most_doublings)));
}

item::Item watch_item(const Watch& watch, base::TimePoint now) {
  item::Item item = Keys::key(Keys::email(watch.email_id), watch_sort);
  if (!watch.settled_at || now < *watch.settled_at + watch_time) {
    item.set("GSI1PK", Keys::watch(Keys::work_shard(watch.email_id)));
    item.set("GSI1SK", base::format_timestamp(now + pause_before_look(watch.looks)));
  }
  item.set("email_id", watch.email_id);
  set_text(item, "tenant", watch.tenant);
  item.set("customer_id", watch.customer_id);
  item.set("record", watch.record);
  set_count(item, "looks", watch.looks);
  set_moment(item, "settled_at_ms", watch.settled_at);
  if (watch.settled_at) item.set(std::string(ttl_attribute), base::epoch_seconds(*watch.settled_at + watch_life));
  return item;
}

base::Result<Watch> read_watch(const item::Item& item) {
  ItemFields fields(item);
  Watch watch{fields.text("email_id"), fields.text("tenant"), fields.text("customer_id"),
              fields.text("record"),   fields.count("looks"), fields.moment("settled_at_ms")};
  const bool is_of_its_key = fields.text("PK") == Keys::email(watch.email_id);
  TRY_VOID(fields.check());
  // What leads elsewhere, or nowhere, would be looked for again and again.
  if (!is_of_its_key || watch.customer_id.empty() || watch.record.empty())
    return base::fail(
        base::ErrorCode::corrupt,
        "the record " + key_text(item) + " cannot be read: it must have its email_id, customer_id and record");
  return watch;
}

item::Key handover_key(const std::string& email_id) {
  return Keys::key(Keys::handover(Keys::work_shard(email_id)), email_id);
}

item::Item handover_item(const Handover& handover) {
  item::Item item = handover_key(handover.email_id);
  set_text(item, "tenant", handover.tenant);
  item.set("customer_id", handover.customer_id);
  item.set("record", handover.record);
  item.set("email_from", handover.from);
  set_text(item, "email_reply_to", handover.reply_to);
  return item;
}

base::Result<Handover> read_handover(const item::Item& item) {
  ItemFields fields(item);
  Handover handover{fields.text("SK"),     fields.text("tenant"),     fields.text("customer_id"),
                    fields.text("record"), fields.text("email_from"), fields.text("email_reply_to")};
  TRY_VOID(fields.check());
  return handover;
}

}  // namespace postino::reminders
