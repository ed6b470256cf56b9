// The outbox, as tickets see it: an e-mail goes in together with a commit of theirs if that is possible. app connects
// the two; tests have one of their own.
#pragma once

#include <string>
#include <vector>

#include "outbox/outbox.h"
#include "store/transaction.h"

namespace postino::support {

class MailRoom {
 public:
  virtual ~MailRoom() = default;

  // Can an e-mail be accepted in one commit with items of the tickets' store?
  virtual bool shares_commits() const = 0;
  // In one commit with these actions, whose conditions count: reasons of a cancelled transaction begin with those of
  // `actions`, in their order.
  virtual outbox::JoinedOutcome accept_with(const outbox::Payload& payload, const std::string& tenant,
                                            std::vector<store::TransactAction> actions) = 0;
  // By itself. This e-mail is there already: a success. Another one has its id: corrupt.
  virtual base::Result<void> accept(const outbox::Payload& payload, const std::string& tenant) = 0;
  // The Message-ID of an e-mail from this address, without angle brackets.
  virtual std::string message_id_of(const std::string& email_id, const std::string& sender) const = 0;
};

}  // namespace postino::support
