// What requests about tickets say, and what the support desk answers to the API.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/protocol/call.h"
#include "api/protocol/route.h"
#include "support/support_desk.h"

namespace postino::api {

// Bytes, unless it says otherwise.
struct TicketSizes {
  static constexpr std::size_t person = 200;
  static constexpr std::size_t address = 320;
  static constexpr std::size_t kind = 64;
  static constexpr std::size_t content_type = 800;
  static constexpr std::size_t file_name = 1'000;  // before it is cleaned
  static constexpr std::size_t recipients = 20;    // of an e-mail
};

// The support desk, unless the server has none.
base::Result<support::SupportDesk*, Problem> desk_of(const Call& call);

// Whose tickets the caller may see and make. No other function of the API decides on it.
support::Scope scope_of(const Caller& caller);
// `name` is the person or program that the caller names. A caller that is bound to a customer names none.
support::Actor ticket_actor(const Call& call, std::string name = "");

Problem problem_of(support::Refusal refusal);

template <class T>
base::Result<T, Problem> answered(support::OrRefusal<T> answer) {
  if (!answer) return base::propagate(problem_of(std::move(answer).error()));
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return *std::move(answer);
}

base::Result<support::PageRequest, Problem> ticket_page(const Call& call);
// nullopt when it is not given.
base::Result<std::optional<support::TicketStatus>, Problem> status_in_query(const Call& call);

// A change of a ticket.
struct MoveRequest {
  support::Move move;
  support::Seen seen;
  std::optional<support::Letter> letter;
  std::string by;
};
struct PriorityRequest {
  std::string priority;
  support::Seen seen;
  std::string by;
};
struct EventRequest {
  std::string type;
  item::Map details;
  std::string by;
};
struct LetterRequest {
  support::Letter letter;
  std::string by;
};

base::Result<support::NewTicket, Problem> read_new_ticket(std::string_view body);
base::Result<MoveRequest, Problem> read_move(std::string_view body);          // with status
base::Result<MoveRequest, Problem> read_escalation(std::string_view body);    // with engineer
base::Result<MoveRequest, Problem> read_deescalation(std::string_view body);  // without either
base::Result<PriorityRequest, Problem> read_priority(std::string_view body);
base::Result<support::NewFeedback, Problem> read_feedback(std::string_view body);
base::Result<EventRequest, Problem> read_event(std::string_view body);
base::Result<LetterRequest, Problem> read_letter(std::string_view body);
base::Result<support::ReceivedMessage, Problem> read_received(std::string_view body);
base::Result<support::AttachmentUpload, Problem> read_upload(std::string_view body, std::size_t most_bytes);
base::Result<item::Map, Problem> read_cached(std::string_view body);

// Parameters and answers that many routes share.
Parameter ticket_id_parameter();
// With those that every route about tickets has.
std::vector<Route> with_ticket_answers(std::vector<Route> routes);
// Of a list: the limit of a page, and the usual one.
Parameter ticket_limit_parameter(int usual);

}  // namespace postino::api
