// Feedback of operators on the help that tickets got. Safe to call from any thread.
#pragma once

#include <optional>
#include <string>

#include "support/record/feedback.h"
#include "support/ticket_store.h"
#include "support/ticket_writer.h"

namespace postino::support {

struct NewFeedback {
  std::string operator_id = {};
  int rating = 0;
  std::optional<bool> was_helpful = std::nullopt;
  std::optional<bool> resolved_issue = std::nullopt;
  std::string comments = {};
};

struct TicketWithFeedback {
  Ticket ticket;
  Page<Feedback> feedback;  // newest first
};

class FeedbackRecords {
 public:
  FeedbackRecords(TicketStore& store, TicketWriter& writer) : store_(store), writer_(writer) {}

  // Callers that are bound to a customer give it once for each operator and ticket, and not to a ticket that has 50
  // feedbacks, so that no customer decides on figures by repetition. That the operator has worked on the ticket is not
  // checked.
  OrRefusal<Feedback> add(const std::string& ticket_id, const NewFeedback& feedback, const Actor& actor);
  // By its time, as it is written. unknown_ticket when there is none.
  OrRefusal<Feedback> find(const std::string& ticket_id, const std::string& submitted_at, const Actor& actor);
  // The first page is one query, for the ticket and its last feedback.
  OrRefusal<TicketWithFeedback> of_ticket(const std::string& ticket_id, const PageRequest& page, const Actor& actor);
  // Newest first. Callers that are bound to a customer see that of the customer's tickets.
  OrRefusal<Page<Feedback>> by_operator(const std::string& operator_id, const PageRequest& page, const Actor& actor);

 private:
  OrRefusal<std::string> last_in_millisecond(const Keys& keys, const std::string& ticket_id, base::TimePoint time);
  // May a caller that is bound to a customer add feedback of this operator?
  OrRefusal<void> check_bound(const Keys& keys, const std::string& ticket_id, const std::string& operator_id);
  OrRefusal<Page<Feedback>> read_page(Page<item::Item> items);

  TicketStore& store_;
  TicketWriter& writer_;
};

}  // namespace postino::support
