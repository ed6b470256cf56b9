// A message as services see it, whatever carries it: a broker that speaks AMQP 1.0, or a queue in the store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"

namespace postino::broker {

// Of the id, the other properties of AMQP, and headers that are text. AMQP 0-9-1 can hold no more: brokers that
// translate close the connection over longer ones.
inline constexpr std::size_t longest_message_text = 255;

// text and json are UTF-8.
enum class Format { text, json, binary };

using Scalar = std::variant<std::string, std::int64_t, bool, double>;
using Scalars = std::map<std::string, Scalar, std::less<>>;

struct Message {
  std::string id;  // unique, and the caller's to choose; empty: none
  std::string body;
  Format format = Format::text;

  // What brokers look at, by the names that AMQP 1.0 has for it. Others are refused when a message is sent.
  //
  //   durable               bool     survives a restart of the broker       (overrides ProduceOptions::persistent)
  //   priority              0..255   4 is the usual one
  //   ttl                   integer  milliseconds until it may be dropped   (overrides ProduceOptions::time_to_live)
  //   subject, to           text
  //   user-id               text     brokers refuse any but the connection's own
  //   content-encoding      text
  //   absolute-expiry-time  text     RFC 3339
  //   group-id              text
  //   group-sequence        0..4294967295
  //   reply-to-group-id     text
  //   x-...                 any      annotations, for the broker or from it, such as x-opt-enqueued-time
  //
  // Only on messages that were received, and ignored when one is sent on:
  //
  //   first-acquirer        bool     false: another consumer has had it before
  //   delivery-count        integer  how often it was given out in vain, where the broker counts
  Scalars headers;

  // The application's own: anything goes.
  Scalars properties;

  std::string correlation_id;
  std::string reply_to;
  std::string content_type;  // empty when sent: what the format says
  std::optional<base::TimePoint> created_at;

  // Only on messages that were received: why this one could not be read. The body is what came, or nothing when that
  // was too much to keep. It can be settled like the others.
  std::string fault;

  friend bool operator==(const Message&, const Message&) = default;
};

// What to do with a message that was received.
enum class Disposition : std::uint8_t {
  acknowledge,  // done: the broker forgets it
  release,      // back to the queue, for any consumer
  reject,       // never again: dropped or moved away, as the queue is set up
};

}  // namespace postino::broker
