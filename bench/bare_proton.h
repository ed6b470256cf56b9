// The same work as a broker's client does, by plain handlers of Qpid Proton and nothing around them.
#pragma once

#include <cstdint>
#include <string>

#include "rounds.h"

namespace postino::bench {

// Without TLS, to this machine, as guest. What is measured begins when the link is open, and ends when the last message
// is confirmed or received. Ends the process with a message when that fails.
class BareProton {
 public:
  BareProton(std::uint16_t port, std::string queue) : port_(port), queue_(std::move(queue)) {}

  // Persistent messages with ids, each confirmed.
  Work send(std::uint64_t messages, const std::string& body) const;
  // Acknowledges each.
  Work receive(std::uint64_t messages) const;

 private:
  const std::uint16_t port_;
  const std::string queue_;
};

}  // namespace postino::bench
