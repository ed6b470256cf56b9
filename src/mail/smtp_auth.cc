#include "mail/smtp_auth.h"

#include "base/base64.h"

namespace postino::mail {

namespace {

constexpr int go_on = 334;

SmtpReply authenticate_plain(SmtpConnection& connection, const std::string& user, const std::string& password,
                             std::chrono::milliseconds timeout) {
  const std::string response = base::to_base64('\0' + user + '\0' + password);
  SmtpReply reply = connection.command("AUTH PLAIN " + response, timeout);
  // Some servers ask for what they have been told already.
  if (reply.code == go_on) reply = connection.command(response, timeout);
  return reply;
}

SmtpReply authenticate_login(SmtpConnection& connection, const std::string& user, const std::string& password,
                             std::chrono::milliseconds timeout) {
  SmtpReply reply = connection.command("AUTH LOGIN", timeout);
  if (reply.code == go_on) reply = connection.command(base::to_base64(user), timeout);
  if (reply.code == go_on) reply = connection.command(base::to_base64(password), timeout);
  return reply;
}

}  // namespace

bool may_send_password(bool secure, const net::Address& peer) { return secure || peer.is_loopback(); }

SmtpReply authenticate(SmtpConnection& connection, const SmtpCapabilities& capabilities, const std::string& user,
                       const std::string& password, std::chrono::milliseconds timeout) {
  if (capabilities.auth_plain) return authenticate_plain(connection, user, password, timeout);
  if (capabilities.auth_login) return authenticate_login(connection, user, password, timeout);
  return no_reply("the server offers neither AUTH PLAIN nor AUTH LOGIN");
}

}  // namespace postino::mail
