// Trouble with others in the log, without the addresses of people.
#pragma once

#include <string>
#include <string_view>

namespace postino::outbox {

// What servers write into their replies, without addresses: "550 <(address)>: user unknown".
std::string without_addresses(std::string_view text);

}  // namespace postino::outbox
