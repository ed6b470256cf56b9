// Names of queues, as addresses of AMQP.
#pragma once

#include <string>
#include <string_view>

#include "broker/connection/connection_settings.h"
#include "broker/connection/peer.h"
#include "broker/protocol/failure.h"

namespace postino::broker {

// What automatic means for this broker; the others stay what they are.
AddressStyle choose_style(AddressStyle style, const Peer& peer);

inline constexpr std::size_t longest_queue_name = 255;

// invalid when the name is empty, longer than that, not UTF-8, has control characters, or cannot be written in
// that style, which must not be automatic.
Result<std::string> queue_address(std::string_view queue, AddressStyle style, std::string_view prefix);

}  // namespace postino::broker
