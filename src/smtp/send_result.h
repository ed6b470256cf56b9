// What became of an attempt to send a message.
#pragma once

#include <string>
#include <vector>

#include "smtp/reply.h"

namespace postino::smtp {

// What became of a message, for one recipient.
struct RecipientResult {
  std::string address;
  Severity severity = Severity::temporary;
  Reply reply;
};

struct SendResult {
  // success: the server has taken the message for those recipients that have it.
  Severity severity = Severity::temporary;
  Reply reply;                              // that settled it; code 0 and a text when the connection broke
  std::vector<RecipientResult> recipients;  // in the envelope's order
  // The end of the message was sent (perhaps only in part) and no reply was read: it may have been taken.
  bool outcome_unknown = false;
  bool session_failed = false;   // another relay may do better; it is not about the message
  bool is_server_unfit = false;  // nothing was sent: it lacks an extension, or the message is too large for it
  bool not_begun = false;        // before_end refused: nothing was delivered, and the session is over
};

}  // namespace postino::smtp
