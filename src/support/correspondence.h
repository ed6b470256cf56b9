// E-mails of tickets: sent through the outbox in one commit with the ticket, and answers that find their ticket by
// In-Reply-To and References. Safe to call from any thread.
#pragma once

#include <string>

#include "support/letters.h"
#include "support/received_message.h"
#include "support/record/ticket_email.h"
#include "support/ticket_store.h"
#include "support/ticket_writer.h"

namespace postino::support {

struct TakenEmail {
  TicketEmail email;
  bool is_repeated = false;  // it was there before
};

class Correspondence {
 public:
  Correspondence(TicketStore& store, TicketWriter& writer, const Letters& letters)
      : store_(store), writer_(writer), letters_(letters) {}

  // With the key of an earlier letter it sends nothing, and answers that one.
  OrRefusal<TakenEmail> send(const std::string& ticket_id, const Letter& letter, const Actor& actor);
  // Adds it to the ticket that it answers: unknown_answer when there is none that the caller may see. A message that
  // came before is known by its Message-ID, and is added once. Its text is kept up to 200,000 bytes; control characters
  // in it become spaces.
  OrRefusal<TakenEmail> receive(const ReceivedMessage& message, const Actor& actor);
  // The e-mail of a ticket that has this Message-ID; unknown_answer when there is none that the caller may see.
  OrRefusal<TicketEmail> find(const std::string& message_id, const Actor& actor);
  // Newest first. Pages of 50.
  OrRefusal<Page<TicketEmail>> list(const std::string& ticket_id, const PageRequest& page, const Actor& actor);

 private:
  // The one that has this Message-ID, if the caller may see it.
  OrRefusal<std::optional<TicketEmail>> known(const Keys& keys, const std::string& message_id, const Scope& scope);
  // The ticket that one of these messages belongs to; the first that there is.
  OrRefusal<std::string> ticket_of(const Keys& keys, const std::vector<std::string>& message_ids, const Scope& scope);

  TicketStore& store_;
  TicketWriter& writer_;
  const Letters& letters_;
};

}  // namespace postino::support
