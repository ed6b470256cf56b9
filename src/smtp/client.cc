#include "smtp/client.h"

#include <algorithm>

#include "smtp/opening.h"
#include "smtp/transaction.h"

namespace postino::smtp {

namespace {

constexpr std::chrono::milliseconds farewell_patience{2'000};

}  // namespace

TlsPolicy followed_policy(const Options& options) {
  const bool has_secret = !options.user.empty() && !options.password_to_anyone;
  return has_secret && options.tls == TlsPolicy::opportunistic ? TlsPolicy::required : options.tls;
}

struct Session::Impl {
  Impl(const Options& chosen, OpenedConnection opened)
      : options(chosen),
        connection(std::move(opened.connection)),
        capabilities(opened.capabilities),
        state{options, *connection, capabilities} {}

  const Options options;
  const std::unique_ptr<Connection> connection;
  const Capabilities capabilities;
  SessionState state;
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

base::Result<std::unique_ptr<Session>, Session::OpenFailure> Session::open(const Options& options,
                                                                           const std::shared_ptr<net::ClientTls>& tls) {
  TRY(auto opened, open_connection(options, tls.get()));
  return std::unique_ptr<Session>(new Session(std::make_unique<Impl>(options, std::move(opened))));
}

SendResult Session::send(const Envelope& envelope, std::string_view message, const BeforeEnd& before_end) {
  return Transaction(impl_->state, envelope, message).run(before_end);
}

bool Session::usable() const { return !impl_->connection->is_stale(); }

void Session::quit() {
  if (impl_->connection->broken()) return;
  const auto patience = std::min(impl_->options.command_timeout, farewell_patience);
  impl_->connection->command("QUIT", patience);
  impl_->connection->break_off(no_reply("the session is over"));
}

}  // namespace postino::smtp
