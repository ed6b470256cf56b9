// From a host's name to a session that takes messages.
#pragma once

#include <memory>

#include "mail/smtp_capabilities.h"
#include "mail/smtp_client.h"
#include "mail/smtp_connection.h"

namespace postino::mail {

struct OpenedConnection {
  std::unique_ptr<SmtpConnection> connection;
  SmtpCapabilities capabilities;
};

// Tries the addresses of the host in their order. See SmtpSession::open.
base::Result<OpenedConnection, SmtpSession::OpenFailure> open_connection(const SmtpOptions& options,
                                                                         const net::ClientTls* tls);

}  // namespace postino::mail
