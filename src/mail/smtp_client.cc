#include "mail/smtp_client.h"

#include <algorithm>

#include "mail/smtp_opening.h"
#include "mail/smtp_transaction.h"

namespace postino::mail {

namespace {

constexpr std::chrono::milliseconds farewell_patience{2'000};

}  // namespace

struct SmtpSession::Impl {
  Impl(const SmtpOptions& chosen, OpenedConnection opened)
      : options(chosen),
        connection(std::move(opened.connection)),
        capabilities(opened.capabilities),
        state{options, *connection, capabilities} {}

  const SmtpOptions options;
  const std::unique_ptr<SmtpConnection> connection;
  const SmtpCapabilities capabilities;
  SmtpSessionState state;
};

SmtpSession::SmtpSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SmtpSession::~SmtpSession() = default;

base::Result<std::unique_ptr<SmtpSession>, SmtpSession::OpenFailure> SmtpSession::open(
    const SmtpOptions& options, const std::shared_ptr<net::ClientTls>& tls) {
  TRY(auto opened, open_connection(options, tls.get()));
  return std::unique_ptr<SmtpSession>(new SmtpSession(std::make_unique<Impl>(options, std::move(opened))));
}

SendResult SmtpSession::send(const Envelope& envelope, std::string_view message, const BeforeEnd& before_end) {
  return SmtpTransaction(impl_->state, envelope, message).run(before_end);
}

bool SmtpSession::usable() const { return !impl_->connection->is_stale(); }

void SmtpSession::quit() {
  if (impl_->connection->broken()) return;
  const auto patience = std::min(impl_->options.command_timeout, farewell_patience);
  impl_->connection->command("QUIT", patience);
  impl_->connection->break_off(no_reply("the session is over"));
}

}  // namespace postino::mail
