// Tells the service manager (systemd, or what speaks its protocol) how the process is doing.
#pragma once

#include <string_view>

namespace postino::net {

// For example "READY=1" or "STOPPING=1"; several go on lines of their own. Goes to the socket that the environment
// variable NOTIFY_SOCKET names. False when there is none, or the message could not be sent; both may be ignored.
bool notify_service_manager(std::string_view state);

}  // namespace postino::net
