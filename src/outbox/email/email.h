// An e-mail as the ledger knows it: where it is on its way, not what it says.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "outbox/email/states.h"

namespace postino::outbox {

// One of those the e-mail is for, in its headers or not, and what has become of that so far.
enum class RecipientState : std::uint8_t {
  pending,
  delivered,   // handed over: the mail server took the message for this recipient
  refused,     // for good
  suppressed,  // not tried: on the suppression list
};
struct Recipient {
  std::string address;
  RecipientState state = RecipientState::pending;
  std::string reply;  // the server's words, or why it is suppressed

  friend bool operator==(const Recipient&, const Recipient&) = default;
};
std::string_view name_of(RecipientState state);               // "pending"
RecipientState parse_recipient_state(std::string_view name);  // pending for any other name

// A delivery report that came back for an e-mail that had been sent.
struct Bounce {
  std::string recipient;
  std::string status;  // enhanced status code, for example "5.1.1"
  std::string diagnostic;
  bool permanent = true;
  base::TimePoint at;

  friend bool operator==(const Bounce&, const Bounce&) = default;
};
// Reports come from outside; an e-mail's record must not grow without end.
inline constexpr std::size_t max_bounces = 100;

struct Email {
  std::string id;
  std::string tenant;            // empty: none
  std::string acceptance_token;  // tells a repeated acceptance from another one with the same id
  State state = State::accepted;
  std::string reason;            // of the last state
  bool internal_reason = false;  // the reason is for operators: callers are told that it was an internal error
  std::int64_t version = 0;      // 0 before acceptance, then one more with each state; the fencing token of a claim
  base::TimePoint created_at;
  base::TimePoint updated_at;
  std::string payload_path;
  std::string message_path;  // empty until the message is built

  std::optional<base::TimePoint> send_at;  // not before
  std::optional<base::TimePoint> due_at;  // of a waiting state: when a worker may claim it; of a working one: lease end
  std::string owner;                      // of a working state: the process whose worker has it
  bool outcome_unknown = false;           // the end of the message may have been sent, and no reply was read

  int attempts = 0;          // at sending, begun
  int unknown_outcomes = 0;  // attempts that ended without a word of whether the mail server took the message
  // When an operator requeued or released it: attempts, and the time until it is given up, count from then.
  std::optional<base::TimePoint> begun_again_at;
  int rescues = 0;             // in a row: workers that were lost since the last one who told what happened
  int callback_attempts = 0;   // for the present outcome, begun
  bool callback_dead = false;  // given up: waits until an operator replays it
  std::string callback_error;  // what the last attempt got
  std::string callback_url;    // empty: the configured one, if any

  std::optional<State> held_from;
  std::vector<std::string> tags;
  std::string sender;                         // the address the e-mail is from
  std::string subject;                        // its beginning; empty: not known
  std::vector<Recipient> recipients;          // all of them
  std::optional<base::TimePoint> settled_at;  // when it was sent, or failed, or was found invalid
  // Of one that another program wrote: from when on it is kept, so that it expires when it shall.
  std::optional<base::TimePoint> kept_since;
  std::vector<Bounce> bounces;
  std::array<int, state_count> reached{};  // how often it has been in each state

  friend bool operator==(const Email&, const Email&) = default;
};

// Ledgers keep these numbers with how often each state was reached, under these names. They are none of states.
inline constexpr std::string_view rescued_in_a_row = "RESCUED";
inline constexpr std::string_view unknown_outcomes_name = "UNKNOWN";

// Who has an e-mail that another program works on, or calls back for.
inline constexpr std::string_view foreign_owner = "another program";

// From when on it is to be sent.
inline base::TimePoint wanted_from(const Email& email) {
  return email.send_at && *email.send_at > email.created_at ? *email.send_at : email.created_at;
}

// From when on it is kept: it must not expire before its time has come.
inline base::TimePoint kept_from(const Email& email) { return email.kept_since.value_or(wanted_from(email)); }

// From when on attempts at sending count.
inline base::TimePoint tried_from(const Email& email) {
  return std::max(wanted_from(email), email.begun_again_at.value_or(email.created_at));
}

// Nothing more happens to it by itself, and no operator has to decide. What is not finished never expires.
bool is_finished(const Email& email);

// Is it sent, whatever has become of its callback?
bool was_sent(State state);
// May a mail server have taken it, in whatever state it is: is the outcome of the present or of an earlier attempt
// unknown?
bool may_have_gone_out(const Email& email);
// Was it sent to some of its recipients, and not to others?
bool is_partly_sent(const Email& email);

// The reason as callers and callback receivers may know it.
std::string_view public_reason(const Email& email);

// Whose work it waits for, now or later; nullopt when it does not.
std::optional<Pipeline> pipeline_of(const Email& email);
// May a worker claim it now?
bool is_due(const Email& email, base::TimePoint now);
// Did a worker have it for longer than its lease? The last moment of a lease is the worker's. A worker that has renewed
// it since is not gone: a rescuer writes LeaseEnded only if the lease is still the same.
bool is_lease_over(const Email& email, base::TimePoint now);
// The end of a lease that is later than this was granted by a clock that was ahead: leases are as long as `lease`, or a
// little longer where another server granted them. The worker is gone: it would have renewed it by the clock of now.
base::TimePoint latest_lease_end(base::TimePoint now, base::Milliseconds lease);
bool is_lease_impossible(const Email& email, base::TimePoint now, base::Milliseconds lease);

// One line of an e-mail's history.
struct HistoryEntry {
  std::string status;  // a state's name, or "BOUNCED"
  base::TimePoint at;
  std::string reason;
  std::int64_t version = 0;

  friend bool operator==(const HistoryEntry&, const HistoryEntry&) = default;
};

// An address that gets no mail any more.
struct Suppression {
  std::string address;
  std::string reason;
  base::TimePoint since;
};

}  // namespace postino::outbox
