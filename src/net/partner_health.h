// Trouble with those whom this process calls, in the log: a line for each outage and each recovery, however many calls
// meet it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "net/trouble.h"

namespace postino::net {

// Whether a server that this process needs does what is asked, as the last attempt found it. Safe to use from any
// thread.
class PartnerHealth {
 public:
  using Instant = LastingTrouble::Instant;

  // `part` of the program tells it: "outbox" of "the mail server" and "mail.example:25".
  PartnerHealth(std::string part, std::string what, std::string name)
      : part_(std::move(part)), what_(std::move(what)), name_(std::move(name)) {}

  // What came of an attempt. The beginning and the end of an outage are told, as a LastingTrouble is.
  void works();
  void fails(const std::string& why, Instant now);

  bool is_up() const { return !trouble_.is_there(); }
  const std::string& name() const { return name_; }
  // "the mail server mail.example:25 could not be used at the last attempt: connection refused"
  std::optional<std::string> problem() const;

 private:
  const std::string part_;
  const std::string what_;
  const std::string name_;
  LastingTrouble trouble_;
};

}  // namespace postino::net
