// How queues are kept in a table with DynamoDB's model.
//
// A message is one item. It stands on one of its queue's shelves, ordered by position: "ready/<queue>" by the time it
// was put in, "later/<queue>" by the time it may be given out, "held/<queue>" by the time its lease ends. What is done
// with is deleted, so that a shelf is as long as what waits on it. How many stand on each shelf is kept on
// "counts/<queue>", in slices that are added up.
//
//   Shelf, Position   the key
//   Content           the message as AMQP 1.0 writes it
//   MessageId         its id, for those who look at the table
//   Deliveries        how often it was given out
//   ExpiresAt         when it may be dropped, in milliseconds since 1970, if it has a time to live
//   ReadyPosition     of one that is held: its place on the shelf "ready"
//   LeaseOwner        of one that is held: who holds it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "broker/broker.h"
#include "item/value.h"

namespace postino::messages {

enum class Shelf { ready, later, held };
inline constexpr std::size_t shelf_count = 3;
inline constexpr std::string_view count_names[shelf_count] = {"Ready", "Later", "Held"};  // by shelf
inline constexpr int count_slices = 8;
inline constexpr std::size_t longest_stored_queue_name = 250;        // without the ending of a dead queue
inline constexpr std::string_view fault_property = "postino-fault";  // of a message that was set aside: why

std::string shelf_name(Shelf shelf, std::string_view queue);
std::string counts_name(std::string_view queue);
// The reverse of shelf_name(); nothing when it is none.
struct ShelfPlace {
  Shelf shelf = Shelf::ready;
  std::string queue;
};
std::optional<ShelfPlace> place_of_shelf(std::string_view name);
// How long the name of this queue may be: that of a dead queue may be longer by its ending.
std::size_t longest_name_like(std::string_view queue);
// Where rejected messages go, and those that cannot be read; nothing when it is a dead queue itself.
std::optional<std::string> dead_queue(std::string_view queue);

// Positions sort like the moments they begin with.
std::string position_at(base::TimePoint time);  // before all others of that moment
// The same for those who read; at the beginning of time it is before all positions, also those that are no times.
std::string position_from(base::TimePoint time);
std::string position_of(base::TimePoint time, std::uint32_t number, std::string_view tag);
std::string held_position(base::TimePoint lease_end, const std::string& ready_position);
bool begins_with_time(std::string_view position);
base::TimePoint time_of(std::string_view position);

// A message on a shelf.
struct StoredMessage {
  Shelf shelf = Shelf::ready;
  std::string queue;
  std::string position;
  std::string content;
  std::string id;
  std::int64_t deliveries = 0;
  std::optional<base::TimePoint> expires_at;
  std::string ready_position;  // when held
  std::string owner;           // when held
  // Why it cannot be read, if so. Its content is then a message that says so, in the property fault_property, and has
  // what was there instead as its body.
  std::string fault;
};

item::Key key_of(const StoredMessage& message);
item::Item to_item(const StoredMessage& message);
// Another program may have written the item. One without content is a message with a fault. Other attributes that are
// not what they should be count as if they were not there.
StoredMessage stored_message(Shelf shelf, const std::string& queue, const item::Item& item);

// As a receiver gets it.
broker::Message to_message(const StoredMessage& stored);

}  // namespace postino::messages
