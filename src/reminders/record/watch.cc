#include "reminders/record/watch.h"

#include <algorithm>

#include "base/timestamp.h"
#include "reminders/record/item_fields.h"
#include "reminders/record/keys.h"

namespace postino::reminders {

base::Milliseconds pause_before_look(int looks) {
  using namespace std::chrono_literals;
  constexpr base::Milliseconds first = 10s, longest = 6h;
  constexpr int most_doublings = 12;  // enough for the longest one
  return std::min(longest, first * (1 << std::min(looks, most_doublings)));
}

item::Item watch_item(const Watch& watch, base::TimePoint now) {
  item::Item item = Keys::key(Keys::email(watch.email_id), watch_sort);
  if (now < watch.sent_at + watch_time) {
    item.set("GSI1PK", Keys::watch(Keys::work_shard(watch.email_id)));
    item.set("GSI1SK", base::format_timestamp(now + pause_before_look(watch.looks)));
  }
  item.set("email_id", watch.email_id);
  set_text(item, "tenant", watch.tenant);
  item.set("customer_id", watch.customer_id);
  item.set("record", watch.record);
  item.set("sent_at_ms", base::epoch_milliseconds(watch.sent_at));
  set_count(item, "looks", watch.looks);
  item.set(std::string(ttl_attribute), base::epoch_seconds(watch.sent_at + watch_life));
  return item;
}

base::Result<Watch> read_watch(const item::Item& item) {
  ItemFields fields(item);
  Watch watch{fields.text("email_id"),
              fields.text("tenant"),
              fields.text("customer_id"),
              fields.text("record"),
              fields.moment("sent_at_ms").value_or(base::TimePoint()),
              fields.count("looks")};
  TRY_VOID(fields.check());
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
