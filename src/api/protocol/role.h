// Who may call an operation of the API: the operation needs a right, and the role of an API key is a set of rights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postino::api {

enum class Right : std::uint8_t {
  none,          // no key is needed
  own_sessions,  // every caller who is known: about one's own sessions
  read,          // e-mails, suppressed addresses, queues
  send,          // and cancel e-mails; messages
  operate,
  see_figures,        // about reminders, and nothing about a person
  read_reminders,     // drafts, customers, invoices, templates, what was sent
  draft_reminders,    // and revise them
  approve_reminders,  // and reject them
  audit,              // who did what, and everything about one customer
  open_tickets,       // and answer, attach files to and rate one's own
  read_tickets,
  work_on_tickets,  // move, escalate, answer
};

// Of callers who are bound to one customer these are left, whatever their role is: all other things are about several
// customers.
constexpr bool is_about_one_customer(Right right) {
  return right == Right::none || right == Right::own_sessions || right == Right::open_tickets ||
         right == Right::read_tickets;
}

enum class Role : std::uint8_t {
  anyone,
  customers,
  readers,
  senders,
  drafters,
  approvers,
  auditors,
  agents,
  operators,
};
inline constexpr Role all_roles[] = {Role::customers, Role::readers,  Role::senders, Role::drafters,
                                     Role::approvers, Role::auditors, Role::agents,  Role::operators};

constexpr std::string_view name_of(Role role) {
  switch (role) {
    case Role::anyone:
      return "anyone";
    case Role::customers:
      return "customer";
    case Role::readers:
      return "reader";
    case Role::senders:
      return "sender";
    case Role::drafters:
      return "drafter";
    case Role::approvers:
      return "approver";
    case Role::auditors:
      return "auditor";
    case Role::agents:
      return "agent";
    case Role::operators:
      return "operator";
  }
  return "";
}

// An approver reads no other e-mails, and a program that sends e-mails approves no reminder.
constexpr bool has_right(Role role, Right right) {
  using enum Right;
  if (right == none || role == Role::operators) return true;
  if (right == own_sessions) return role != Role::anyone;
  switch (role) {
    case Role::readers:
      return right == read || right == see_figures;
    case Role::senders:
      return right == read || right == send || right == see_figures;
    case Role::drafters:
      return right == see_figures || right == read_reminders || right == draft_reminders;
    case Role::approvers:
      return right == see_figures || right == read_reminders || right == approve_reminders;
    case Role::auditors:
      return right == see_figures || right == read_reminders || right == audit;
    case Role::agents:
      return right == see_figures || right == open_tickets || right == read_tickets || right == work_on_tickets;
    case Role::customers:
      return right == open_tickets || right == read_tickets;
    case Role::anyone:
    case Role::operators:
      break;
  }
  return false;
}

// "sender, operator": the roles that have the right.
std::string roles_with(Right right, std::string_view before_last = ", ");

}  // namespace postino::api
