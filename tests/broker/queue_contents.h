// What is in a queue, found out without waiting for time to pass.
#pragma once

#include <string>
#include <vector>

#include "broker/broker.h"

namespace postino::broker {

// Takes everything that the queue gives to a consumer, in its order, and acknowledges it. The first `known` messages
// are waited for, however busy the machine is: some return to a queue only when the connection of another consumer
// ends. Then a marker is sent to the queue, which gives it out after everything that it had before. So the result is
// complete, and an empty one proves that the queue was empty.
std::vector<Message> drain_queue(Broker& broker, const std::string& queue, std::size_t known = 0);

// By a marker as well; a message that is found returns to the queue.
bool is_empty(Broker& broker, const std::string& queue);

// Whether a consumer that does not wait finds nothing. It sends no marker, which another consumer might take. A message
// that is found returns to the queue.
bool has_nothing_to_give(Broker& broker, const std::string& queue);

}  // namespace postino::broker
