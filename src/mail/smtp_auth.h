// Proving to a server who we are (RFC 4954).
#pragma once

#include <chrono>
#include <string>

#include "mail/smtp_capabilities.h"
#include "mail/smtp_connection.h"
#include "net/address.h"

namespace postino::mail {

// A password does not travel in the clear, unless it stays on this machine.
bool may_send_password(bool secure, const net::Address& peer);

// With PLAIN, or LOGIN where the server does not know that. Returns the reply that ended it, which has code 0 when the
// server knows neither.
SmtpReply authenticate(SmtpConnection& connection, const SmtpCapabilities& capabilities, const std::string& user,
                       const std::string& password, std::chrono::milliseconds timeout);

}  // namespace postino::mail
