// E-mails that tickets send: what they say, from whom, to whom, and how answers find back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "outbox/mailer.h"
#include "support/field_rules.h"
#include "support/record/ticket_email.h"
#include "support/ticket_writer.h"

namespace postino::support {

struct Letter {
  std::string kind = "answer";  // "acknowledgement", "answer", "escalation", or any word
  // In all three, {ticket_id} and {status} are replaced.
  std::string subject = {};
  std::string text = {};
  std::string html = {};
  std::vector<std::string> to = {};  // empty: the customer's contact address
  std::string key = {};              // of the caller: the same one again sends nothing; empty: none
};

struct LetterRules {
  std::string from = {};      // "Support <support@example.com>"; empty: tickets send no e-mails
  std::string reply_to = {};  // where answers go, if not to `from`
  bool acknowledges = false;  // a new ticket without a letter of its own tells the customer that it is there
  // Addresses of engineers by their names: they are told of an escalation, besides a letter that it has.
  std::map<std::string, std::string> engineers = {};
};

class Letters {
 public:
  // It must outlive this one.
  Letters(LetterRules rules, outbox::Mailer& mail) : rules_(std::move(rules)), mail_(mail) {}

  // Callers that are bound to a customer have no letters: one who chooses both the text and the contact address could
  // send anything to anybody.
  static void check(const Letter& letter, const Scope& scope, FieldRules& rules);

  // The letters that go out by themselves, if the rules say so.
  std::optional<Letter> acknowledgement(const TicketCustomer& customer) const;
  std::optional<Letter> escalation_notice(const std::string& engineer) const;

  struct Prepared {
    outbox::Payload payload;
    TicketEmail email;
  };
  // `stored` is the ticket as it is written with it. `email_id` as new_email_id() gave it.
  OrRefusal<Prepared> prepare(const Letter& letter, const StoredTicket& stored, const std::string& email_id,
                              const Actor& actor, base::TimePoint now) const;
  // One that the key decides on, if there is a key.
  static std::string new_email_id(const Letter& letter, const std::string& ticket_id, const Actor& actor,
                                  base::Random& random);
  // The e-mail goes out with this change; a second one is handed over to the outbox. The condition of the last action
  // that it adds to `beside` fails when it has gone before.
  static void enclose(TicketChange& change, Prepared prepared, const Keys& keys, const TicketStore& store);
  // The next e-mail to the customer goes on with this one, if the customer has it.
  static void continue_thread(StoredTicket& stored, const TicketEmail& email);

 private:
  const LetterRules rules_;
  outbox::Mailer& mail_;
};

}  // namespace postino::support
