// Messages as AMQP 1.0 carries them: a header, annotations, properties, application properties and a body.
//
// The body of TEXT and JSON is one data section with the content type text/plain or application/json, that of BINARY
// one with application/octet-stream; a content type of the message's own goes instead. What is received is TEXT, JSON
// or BINARY by its content type, or TEXT when it is an AMQP string; other values of AMQP become JSON. What claims to be
// text and is not UTF-8 is BINARY.
#pragma once

#include <string_view>
#include <vector>

#include "broker/broker.h"
#include "broker/protocol/failure.h"
#include "broker/protocol/message.h"

namespace postino::broker {

// What the whole call wants of each message.
struct Encoding {
  bool persistent = true;
  std::optional<Milliseconds> time_to_live;
  std::optional<Milliseconds> delay;
  bool schedule_for_azure = false;  // the delay as a time of day
  base::TimePoint now;              // that the delay begins at
  bool text_as_value = false;
};

// invalid, with the rule, when a header is unknown or of the wrong kind, or something is too long.
Result<std::vector<char>> encode(const Message& message, const Encoding& encoding);

// What is no message has a fault.
Message decode(std::vector<char> bytes);

}  // namespace postino::broker
