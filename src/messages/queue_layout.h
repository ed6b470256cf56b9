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
#include "broker/message.h"
#include "item/value.h"

namespace postino::messages {

enum class Shelf { ready, later, held };
inline constexpr std::size_t shelf_count = 3;
inline constexpr int count_slices = 8;

std::string shelf_name(Shelf shelf, std::string_view queue);
std::string counts_name(std::string_view queue);
// Where rejected messages go; nothing when they are rejected there.
std::optional<std::string> dead_queue(std::string_view queue);

// Positions sort like the moments they begin with.
std::string position_at(base::TimePoint time);  // before all others of that moment
std::string position_of(base::TimePoint time, std::uint32_t number, std::string_view tag);
std::string held_position(base::TimePoint lease_end, const std::string& ready_position);
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
};

item::Key key_of(const StoredMessage& message);
item::Item to_item(const StoredMessage& message);
// What lacks its attributes has no content, which is no message either.
StoredMessage stored_message(Shelf shelf, const std::string& queue, const item::Item& item);

// As a receiver gets it.
broker::Message to_message(const StoredMessage& stored);

}  // namespace postino::messages
