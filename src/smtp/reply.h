// Replies of SMTP servers, and what they mean. The whole policy of failure is here: no other file looks at a code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace postino::smtp {

struct Reply {
  int code = 0;          // 0: there was none
  std::string enhanced;  // "4.2.2"; may be empty
  std::string text;      // as one line, printable, at most 512 bytes; with the codes in front, as people want to see it

  bool positive() const { return code >= 200 && code < 400; }
};

// At which command it came.
enum class Stage { connect, hello, start_tls, authenticate, mail_from, recipient, data, end_of_data, quit };

enum class Severity {
  success,
  temporary,  // try again later: every 4xx, every broken connection
  permanent,  // never again
};
// What a failure is about: with `session` another message over this connection, or another relay, would fare no better
// or no worse for it; the message itself is not to blame.
enum class Scope { recipient, message, session };

struct Classification {
  Severity severity = Severity::temporary;
  Scope scope = Scope::message;
};

// A broken connection is a reply with code 0. For example: 550 at RCPT is permanent for the recipient; 421 anywhere is
// temporary for the session; 535 at AUTH is temporary for the message (our credentials are wrong, not its content) and
// concerns the session; 552 5.3.4 at MAIL is permanent for the message; anything at QUIT is a success.
Classification classify(const Reply& reply, Stage stage);

// Is this a reply as programs note it, "550 5.1.1 no such user"? What they say themselves has no code in front.
bool is_reply(std::string_view text);

// Should this address get no further mail? 5.1.1 (no such mailbox), 5.1.2, 5.1.3, 5.1.6, 5.1.10, 5.2.1 and the like:
// not for full mailboxes, policy or spam.
bool means_bad_address(std::string_view enhanced_status);

}  // namespace postino::smtp
