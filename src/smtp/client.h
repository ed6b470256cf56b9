// Sends messages over SMTP: one session is one connection, used by one thread at a time for one message after another.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client_stream.h"
#include "smtp/reply.h"
#include "smtp/send_result.h"

namespace postino::smtp {

enum class TlsPolicy {
  off,
  opportunistic,  // STARTTLS when it is offered; the certificate is not looked at
  required,       // STARTTLS, with a valid certificate
  implicit,       // TLS from the first byte, with a valid certificate
};

struct Options {
  std::string host;
  std::uint16_t port = 25;
  TlsPolicy tls = TlsPolicy::opportunistic;
  std::string certificate_file;  // authorities to trust (PEM); empty: those of the system
  std::string user;              // empty: no AUTH
  // Only a server with a valid certificate gets it, or this machine where TLS is off.
  std::string password;
  bool password_to_anyone = false;       // any server that answers gets it, over TLS or not
  std::string local_name = "localhost";  // for EHLO

  std::chrono::milliseconds connect_timeout{30'000};
  std::chrono::milliseconds greeting_timeout{60'000};              // and not longer than for commands
  std::chrono::milliseconds command_timeout{60'000};               // EHLO, AUTH, MAIL, RCPT
  std::chrono::milliseconds data_timeout{120'000};                 // for each block of the message
  std::chrono::milliseconds end_timeout{300'000};                  // for the reply to the end of the message
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline;  // nothing outlasts it; may be null
};

// The policy that is followed. A password is not for any server that answers: with one, TLS and a valid certificate
// are no matter of opportunity.
TlsPolicy followed_policy(const Options& options);

struct Envelope {
  std::string sender;                   // may be empty: <>
  std::vector<std::string> recipients;  // at least one
  std::string envelope_id;              // ENVID, where the server knows DSN; may be empty
  bool only_whole = false;              // send nothing if the server cannot take it for all, for want of an extension
};

class Session {
 public:
  // Connects, greets, starts TLS and authenticates as the options say. The error is the reply (or the broken
  // connection) and where it came.
  struct OpenFailure {
    Reply reply;
    Stage stage = Stage::connect;
  };
  // `tls` may be null when the policy that is followed is off. It must verify, except for an opportunistic one.
  static base::Result<std::unique_ptr<Session>, OpenFailure> open(const Options& options,
                                                                  const std::shared_ptr<net::ClientTls>& tls);
  ~Session();  // closes without a word

  // Called when everything but the last block of the message is on its way, right before that block with the end of the
  // message; when it fails the message is not delivered.
  using BeforeEnd = std::function<base::Result<void>()>;
  // `message` has CRLF line ends; dots are doubled here. Recipients that are refused do not stop the others.
  SendResult send(const Envelope& envelope, std::string_view message, const BeforeEnd& before_end);

  // Can it take another message? False after a broken connection, a 421, or when the server has closed it.
  bool usable() const;
  void quit();  // says QUIT, does not wait for long

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::smtp
