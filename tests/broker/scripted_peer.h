// A peer that does what no RabbitMQ can be made to do: rejects, stays silent, breaks off, offers what others offer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "broker/connection/connection_settings.h"
#include "broker/protocol/message.h"

namespace postino::broker {

class ScriptedPeer {
 public:
  enum class Reply { accept, reject, release, silence, disconnect };

  struct Script {
    std::string product;
    std::vector<std::string> capabilities;
    std::uint64_t max_message_size = 0;
    // To the message with this number, counted over all connections.
    std::function<Reply(std::size_t number)> reply = [](std::size_t) { return Reply::accept; };
    std::vector<Message> queue;    // to be given out, once
    bool drains = true;            // gives back credit that it has no use for, when it is asked to
    bool refuses_links = false;    // closes them with an error of its own
    bool answers_nothing = false;  // not even that the connection is open
  };

  explicit ScriptedPeer(Script script);
  ~ScriptedPeer();

  // Without a name.
  ConnectionSettings settings() const;
  // That have come, decoded; and the addresses they came to.
  std::vector<Message> messages() const;
  std::vector<std::string> addresses() const;
  // How many of those that it gave out were accepted, released and rejected.
  struct Outcomes {
    int accepted = 0, released = 0, rejected = 0;
    friend bool operator==(const Outcomes&, const Outcomes&) = default;
  };
  Outcomes outcomes() const;

 private:
  class Handler;
  std::unique_ptr<Handler> handler_;
  std::thread thread_;
};

}  // namespace postino::broker
