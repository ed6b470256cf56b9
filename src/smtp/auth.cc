#include "smtp/auth.h"

#include "base/base64.h"

namespace postino::smtp {

namespace {

constexpr int go_on = 334;

Reply authenticate_plain(Connection& connection, const std::string& user, const std::string& password,
                         std::chrono::milliseconds timeout) {
  const std::string response = base::to_base64('\0' + user + '\0' + password);
  Reply reply = connection.command("AUTH PLAIN " + response, timeout);
  // Some servers ask for what they have been told already.
  if (reply.code == go_on) reply = connection.command(response, timeout);
  return reply;
}

Reply authenticate_login(Connection& connection, const std::string& user, const std::string& password,
                         std::chrono::milliseconds timeout) {
  Reply reply = connection.command("AUTH LOGIN", timeout);
  if (reply.code == go_on) reply = connection.command(base::to_base64(user), timeout);
  if (reply.code == go_on) reply = connection.command(base::to_base64(password), timeout);
  return reply;
}

}  // namespace

bool may_send_password(bool verified, const net::Address& peer) { return verified || peer.is_loopback(); }

Reply authenticate(Connection& connection, const Capabilities& capabilities, const std::string& user,
                   const std::string& password, std::chrono::milliseconds timeout) {
  if (capabilities.auth_plain) return authenticate_plain(connection, user, password, timeout);
  if (capabilities.auth_login) return authenticate_login(connection, user, password, timeout);
  return no_reply("the server offers neither AUTH PLAIN nor AUTH LOGIN");
}

}  // namespace postino::smtp
