// A Postfix of the benchmark's own: its configuration, queue and data in a directory, on free ports of the loopback
// interface. Nothing of the system's Postfix is used but its programs and its users.
//
// It is set up for this race: no look-ups, no TLS, no limits on clients, no throttling of what comes in, many
// deliveries at a time. Queue files are synced before a message is taken, as they always are.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "rounds.h"

namespace postino::bench {

class PostfixProcess {
 public:
  // Relays all mail to this port. Returns nullptr, after a message on stderr, when there is no Postfix, when this is
  // not root, or when it does not start. The directory must be there, and reachable by everybody.
  static std::unique_ptr<PostfixProcess> start(const std::filesystem::path& directory, std::uint16_t relay_port);
  ~PostfixProcess();
  PostfixProcess(const PostfixProcess&) = delete;
  PostfixProcess& operator=(const PostfixProcess&) = delete;

  pid_t process() const { return process_; }

  // Hands in messages with smtp-source over some sessions, each of which sends one message after the other: from its
  // start to its end. Ends the process with a message when that fails.
  enum class Then { deliver, hold };
  Work take(std::uint64_t messages, std::size_t bytes, int sessions, Then then) const;

  // Messages that are in its queue to stay.
  std::uint64_t held() const;

 private:
  PostfixProcess(const std::filesystem::path& directory, std::uint16_t relay_port);
  void configure(std::uint16_t relay_port) const;
  // False when it does not.
  bool run();

  std::filesystem::path directory_;
  std::uint16_t deliver_port_;
  std::uint16_t hold_port_;
  pid_t process_ = -1;
};

}  // namespace postino::bench
