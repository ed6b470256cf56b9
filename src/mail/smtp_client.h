// Sends messages over SMTP: one session is one connection, used by one thread at a time for one message after another.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mail/send_result.h"
#include "mail/smtp_reply.h"
#include "net/client_stream.h"

namespace postino::mail {

enum class TlsPolicy {
  off,
  opportunistic,  // STARTTLS when it is offered; the certificate is not looked at
  required,       // STARTTLS, with a valid certificate
  implicit,       // TLS from the first byte, with a valid certificate
};

struct SmtpOptions {
  std::string host;
  std::uint16_t port = 25;
  TlsPolicy tls = TlsPolicy::opportunistic;
  std::string certificate_file;  // authorities to trust (PEM); empty: those of the system
  std::string user;              // empty: no AUTH. Never sent in the clear, unless to loopback.
  std::string password;
  std::string local_name = "localhost";  // for EHLO

  std::chrono::milliseconds connect_timeout{30'000};
  std::chrono::milliseconds command_timeout{60'000};  // greeting, EHLO, AUTH, MAIL, RCPT
  std::chrono::milliseconds data_timeout{120'000};    // for each block of the message
  std::chrono::milliseconds end_timeout{300'000};     // for the reply to the end of the message
};

struct Envelope {
  std::string sender;                   // may be empty: <>
  std::vector<std::string> recipients;  // at least one
  std::string envelope_id;              // ENVID, where the server knows DSN; may be empty
};

class SmtpSession {
 public:
  // Connects, greets, starts TLS and authenticates as the options say. The error is the reply (or the broken
  // connection) and where it came.
  struct OpenFailure {
    SmtpReply reply;
    SmtpStage stage = SmtpStage::connect;
  };
  // `tls` may be null when the policy is off. It must verify, except for an opportunistic policy.
  static base::Result<std::unique_ptr<SmtpSession>, OpenFailure> open(const SmtpOptions& options,
                                                                      const std::shared_ptr<net::ClientTls>& tls);
  ~SmtpSession();  // closes without a word

  // Called once the server waits for the message and before its end is sent; when it fails the message is not
  // delivered.
  using BeforeEnd = std::function<base::Result<void>()>;
  // `message` has CRLF line ends; dots are doubled here. Recipients that are refused do not stop the others.
  SendResult send(const Envelope& envelope, std::string_view message, const BeforeEnd& before_end);

  // Can it take another message? False after a broken connection, a 421, or when the server has closed it.
  bool usable() const;
  void quit();  // says QUIT, does not wait for long

 private:
  struct Impl;
  explicit SmtpSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::mail
