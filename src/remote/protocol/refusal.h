// What the service says when it does not do what was asked.
#pragma once

#include <optional>
#include <string>

#include "store/error.h"

namespace postino::remote {

struct Refusal {
  std::string type;    // the exception's name, as the service has it: "ExpiredTokenException"
  store::Error error;  // what callers of the store are told
};

// nullopt when the body is none of the service: a page of a proxy, or nothing at all. Exceptions that the store does
// not have become those that are nearest to them, with their name in front of the message.
std::optional<Refusal> decode_refusal(int status, std::string body);

}  // namespace postino::remote
