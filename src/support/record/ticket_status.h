// The states of a ticket, and the one place that moves it from one to another. Pure code.
//
//   NEW -> PROCESSING -> READY
//              |  ^ ^
//              |  | +---> FAILED      and back
//              |  +-----> ESCALATED   and back
//
// READY is the end. docs/support.md draws the same.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace postino::support {

enum class TicketStatus { fresh, processing, ready, failed, escalated };

inline constexpr std::array all_statuses = {TicketStatus::fresh, TicketStatus::processing, TicketStatus::ready,
                                            TicketStatus::failed, TicketStatus::escalated};

std::string_view name_of(TicketStatus status);  // "NEW", "PROCESSING", ...
std::optional<TicketStatus> parse_status(std::string_view name);

bool may_move(TicketStatus from, TicketStatus to);

}  // namespace postino::support
