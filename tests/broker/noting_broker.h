// RabbitMQ 3.10 breaks off now and then soon after a link is opened, when a channel of its own is gone before it looks
// for it. What was unconfirmed then is sent again, and may be in the queue twice. Tests that count must not mind.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "broker/broker.h"

namespace postino::broker {

// Notes how many messages are sent again to each queue.
std::unique_ptr<Broker> noting(std::unique_ptr<Broker> broker);

// Removes messages with an id that another one has, as many as were sent again to the queue.
void drop_doubles(const std::string& queue, std::vector<Message>& messages);

}  // namespace postino::broker
