// How messages leave: over SMTP, or into the sandbox.
#pragma once

#include <string_view>

#include "outbox/email/email.h"
#include "smtp/client.h"

namespace postino::outbox {

struct Delivery {
  const Email& email;
  smtp::Envelope envelope;
  std::string_view message;
};

// Safe to call from any thread; takes as long as it takes.
class Transport {
 public:
  virtual ~Transport() = default;

  // `before_end` is called before the point of no return, where there is one.
  virtual smtp::SendResult deliver(const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) = 0;
};

}  // namespace postino::outbox
