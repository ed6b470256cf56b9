// What is to be looked at again: an e-mail of a reminder, and one that the outbox does not have yet.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"

namespace postino::reminders {

// Of every reminder's e-mail, until nothing more is expected of it. It leads from the e-mail to the record.
struct Watch {
  std::string email_id;
  std::string tenant;
  std::string customer_id;
  std::string record;  // the id of the sent reminder
  int looks = 0;       // so far, since something happened
  // When the outbox was found to have finished with it. Empty: it waits, however long: it may be held. Then it is
  // looked at again and again, and does not expire.
  std::optional<base::TimePoint> settled_at = {};
};

// How long something may happen to an e-mail that is settled, such as a bounce; after that only news of it are looked
// at, until the item expires.
inline constexpr base::Milliseconds watch_time = std::chrono::hours(24 * 5);
inline constexpr base::Milliseconds watch_life = std::chrono::hours(24 * 45);

// As it is after a look at this time: does the e-mail still wait?
Watch after_look(Watch watch, bool waits, base::TimePoint now);
// The later, the longer.
base::Milliseconds pause_before_look(int looks);
item::Item watch_item(const Watch& watch, base::TimePoint now);
base::Result<Watch> read_watch(const item::Item& item);

// An e-mail that was approved and is to be brought to an outbox that shares no commits. Its text is in the record.
struct Handover {
  std::string email_id;
  std::string tenant;
  std::string customer_id;
  std::string record;
  std::string from;
  std::string reply_to;
};
item::Key handover_key(const std::string& email_id);
item::Item handover_item(const Handover& handover);
base::Result<Handover> read_handover(const item::Item& item);

}  // namespace postino::reminders
