#include "smtp/opening.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "net/resolve.h"
#include "smtp/auth.h"
#include "smtp/command.h"

namespace postino::smtp {

namespace {

using Failure = Session::OpenFailure;
using Step = base::Result<void, Failure>;

constexpr std::size_t most_addresses = 8;  // to try of one host

tl::unexpected<Failure> failure(Reply reply, Stage stage) {
  return tl::unexpected<Failure>(Failure{std::move(reply), stage});
}

Step judge(Reply reply, Stage stage) {
  if (classify(reply, stage).severity == Severity::success) return {};
  return failure(std::move(reply), stage);
}

// One connection to one address.
class Attempt {
 public:
  Attempt(const Options& options, const net::ClientTls* tls, const net::Address& peer, TlsPolicy policy)
      : options_(options), tls_(tls), peer_(peer), policy_(policy) {}

  base::Result<OpenedConnection, Failure> run();
  // TLS did not work, but nothing was done to the connection.
  bool tls_unavailable() const { return tls_unavailable_; }

 private:
  Step connect();
  Step greet();
  Step say_hello();
  Step start_tls();
  Step encrypt();
  Step log_in();

  const Options& options_;
  const net::ClientTls* const tls_;
  const net::Address& peer_;
  const TlsPolicy policy_;
  OpenedConnection opened_;
  bool tls_unavailable_ = false;
};

base::Result<OpenedConnection, Failure> Attempt::run() {
  TRY_VOID(connect());
  if (policy_ == TlsPolicy::implicit) TRY_VOID(encrypt());
  TRY_VOID(greet());
  TRY_VOID(say_hello());
  const bool wants_tls = policy_ == TlsPolicy::opportunistic && opened_.capabilities.start_tls;
  if (wants_tls || policy_ == TlsPolicy::required) {
    TRY_VOID(start_tls());
    TRY_VOID(say_hello());  // what was said before could have been anyone's words
  }
  if (!options_.user.empty()) TRY_VOID(log_in());
  return std::move(opened_);
}

Step Attempt::connect() {
  auto stream =
      net::ClientStream::connect(peer_, net::deadline_in(options_.connect_timeout), options_.shutdown_deadline);
  if (!stream) return failure(no_reply(stream.error().message), Stage::connect);
  opened_.connection = std::make_unique<Connection>(*std::move(stream));
  return {};
}

Step Attempt::greet() {
  const auto patience = std::min(options_.greeting_timeout, options_.command_timeout);
  return judge(opened_.connection->read_reply(patience), Stage::connect);
}

Step Attempt::say_hello() {
  if (!fits_in_path(options_.local_name)) return failure(no_reply("the name for EHLO is invalid"), Stage::hello);
  opened_.capabilities = {};
  std::vector<std::string> lines;
  Reply reply = opened_.connection->command("EHLO " + options_.local_name, options_.command_timeout, &lines);
  if (reply.positive()) opened_.capabilities = parse_capabilities(lines);
  // A server that does not know EHLO says so with a 5xx.
  if (reply.code >= 500) reply = opened_.connection->command("HELO " + options_.local_name, options_.command_timeout);
  return judge(std::move(reply), Stage::hello);
}

Step Attempt::start_tls() {
  if (!opened_.capabilities.start_tls)
    return failure(no_reply("TLS is required, but the server does not offer STARTTLS"), Stage::start_tls);
  tls_unavailable_ = true;
  TRY_VOID(judge(opened_.connection->command("STARTTLS", options_.command_timeout), Stage::start_tls));
  tls_unavailable_ = false;
  // It would be read as if it had come encrypted.
  if (opened_.connection->has_unread())
    return failure(no_reply("the server sent unencrypted data after its reply to STARTTLS"), Stage::start_tls);
  return encrypt();
}

Step Attempt::encrypt() {
  const auto started = opened_.connection->start_tls(*tls_, options_.host, options_.command_timeout);
  tls_unavailable_ = !started;
  if (!started) return failure(no_reply(started.error().message), Stage::start_tls);
  return {};
}

Step Attempt::log_in() {
  const bool verified = opened_.connection->secure() && tls_->verifies();
  if (!options_.password_to_anyone && !may_send_password(verified, peer_))
    return failure(no_reply("the password is not sent over a connection without TLS"), Stage::authenticate);
  return judge(authenticate(*opened_.connection, opened_.capabilities, options_.user, options_.password,
                            options_.command_timeout),
               Stage::authenticate);
}

base::Result<OpenedConnection, Failure> open_address(const Options& options, const net::ClientTls* tls,
                                                     const net::Address& peer) {
  const TlsPolicy policy = followed_policy(options);
  Attempt attempt(options, tls, peer, policy);
  auto opened = attempt.run();
  if (opened || policy != TlsPolicy::opportunistic || !attempt.tls_unavailable()) return opened;
  // A client that takes any certificate takes none as well. It needs a new connection: the state of the old one is not
  // known.
  return Attempt(options, tls, peer, TlsPolicy::off).run();
}

// Of two failures the one that says more: the one that got further, and rather the server's words than silence.
bool says_more(const Failure& a, const Failure& b) {
  return std::tuple(a.stage, a.reply.code != 0) > std::tuple(b.stage, b.reply.code != 0);
}

}  // namespace

base::Result<OpenedConnection, Failure> open_connection(const Options& options, const net::ClientTls* tls) {
  // A context that does not verify would make `required` a lie; one that does would drive `opportunistic` to plain
  // text.
  if (const TlsPolicy policy = followed_policy(options); policy != TlsPolicy::off)
    CHECK(tls != nullptr && tls->verifies() == (policy != TlsPolicy::opportunistic));
  auto addresses = net::resolve(options.host, options.port, net::deadline_in(options.connect_timeout),
                                options.shutdown_deadline.get());
  if (!addresses) return failure(no_reply(addresses.error().message), Stage::connect);

  Failure telling{no_reply(options.host + " has no address"), Stage::connect};
  const std::size_t count = std::min(addresses->size(), most_addresses);
  for (std::size_t i = 0; i < count; ++i) {
    auto opened = open_address(options, tls, (*addresses)[i]);
    if (opened) return opened;
    if (i == 0 || says_more(opened.error(), telling)) telling = std::move(opened).error();
    // Wrong here is wrong everywhere, and too many failures lock an account.
    if (telling.stage == Stage::authenticate) break;
  }
  return tl::unexpected<Failure>(std::move(telling));
}

}  // namespace postino::smtp
