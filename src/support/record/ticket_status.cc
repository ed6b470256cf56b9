#include "support/record/ticket_status.h"

#include <algorithm>
#include <utility>

namespace postino::support {

namespace {

constexpr std::array<std::pair<TicketStatus, std::string_view>, 5> status_names = {{
    {TicketStatus::fresh, "NEW"},
    {TicketStatus::processing, "PROCESSING"},
    {TicketStatus::ready, "READY"},
    {TicketStatus::failed, "FAILED"},
    {TicketStatus::escalated, "ESCALATED"},
}};

constexpr std::array<std::pair<TicketStatus, TicketStatus>, 6> legal_moves = {{
    {TicketStatus::fresh, TicketStatus::processing},
    {TicketStatus::processing, TicketStatus::ready},
    {TicketStatus::processing, TicketStatus::failed},
    {TicketStatus::processing, TicketStatus::escalated},
    {TicketStatus::failed, TicketStatus::processing},
    {TicketStatus::escalated, TicketStatus::processing},
}};

}  // namespace

std::string_view name_of(TicketStatus status) {
  return std::ranges::find(status_names, status, &std::pair<TicketStatus, std::string_view>::first)->second;
}

std::optional<TicketStatus> parse_status(std::string_view name) {
  const auto* const found = std::ranges::find(status_names, name, &std::pair<TicketStatus, std::string_view>::second);
  return found != status_names.end() ? std::optional(found->first) : std::nullopt;
}

bool may_move(TicketStatus from, TicketStatus to) {
  return std::ranges::find(legal_moves, std::pair(from, to)) != legal_moves.end();
}

}  // namespace postino::support
