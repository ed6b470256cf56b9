// Tickets: made once for each request, read, and moved along the edges that there are. Safe to call from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/letters.h"
#include "support/record/creation.h"
#include "support/ticket_store.h"
#include "support/ticket_writer.h"

namespace postino::support {

struct NewTicket {
  TicketCustomer customer = {};
  Asset asset = {};
  std::string symptom_text = {};
  std::string error_code = {};
  std::string priority = std::string(usual_priority);
  std::string lang = {};
  std::optional<Letter> letter = std::nullopt;  // goes out with the ticket; without one, what the rules say
};

struct Created {
  Creation answer;
  bool is_repeated = false;  // an earlier request with this key made it
};

// What the caller saw of the ticket that is to be changed. Without either, what is read decides.
struct Seen {
  std::optional<std::int64_t> version = std::nullopt;
  std::optional<TicketStatus> status = std::nullopt;
};

class Tickets {
 public:
  Tickets(TicketStore& store, TicketWriter& writer, const Letters& letters)
      : store_(store), writer_(writer), letters_(letters) {}

  // Ticket, first event, the record of the key and the e-mail in one commit. The same key again gets the first answer,
  // for 24 hours or as long as `key_life` says; with other contents: key_reused. An empty key is none.
  OrRefusal<Created> create(const NewTicket& ticket, const std::string& key, const Actor& actor,
                            base::Milliseconds key_life = creation_key_life);

  OrRefusal<Ticket> get(const std::string& id, const Actor& actor);
  // Those that there are, in the order of the ids. At most 100 ids.
  OrRefusal<std::vector<Ticket>> get_many(const std::vector<std::string>& ids, const Actor& actor);

  // other_version when the caller saw another one; wrong_state when there is no such move. An escalation needs an
  // engineer.
  OrRefusal<Ticket> move(const std::string& id, const Move& move, const Seen& seen, const Actor& actor,
                         const std::optional<Letter>& letter = std::nullopt);
  OrRefusal<Ticket> escalate(const std::string& id, const std::string& engineer, const std::string& reason,
                             const Seen& seen, const Actor& actor, const std::optional<Letter>& letter = std::nullopt);
  // Back to PROCESSING, from ESCALATED alone.
  OrRefusal<Ticket> deescalate(const std::string& id, const std::string& reason, const Seen& seen, const Actor& actor,
                               const std::optional<Letter>& letter = std::nullopt);
  OrRefusal<Ticket> change_priority(const std::string& id, const std::string& priority, const Seen& seen,
                                    const Actor& actor);

 private:
  // What an earlier request with this key was answered; nothing when there was none after all.
  OrRefusal<std::optional<Created>> earlier(const Keys& keys, const std::string& key, const Creation& own,
                                            base::TimePoint now);
  OrRefusal<void> add_letter(TicketChange& change, const std::optional<Letter>& letter, const std::string& email_id,
                             const Actor& actor, const Keys& keys) const;

  TicketStore& store_;
  TicketWriter& writer_;
  const Letters& letters_;
};

}  // namespace postino::support
