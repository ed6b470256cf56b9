#include "outbox/email/state_machine.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/hash.h"
#include "base/timestamp.h"
#include "mail/address.h"
#include "smtp/retry_hint.h"

namespace postino::outbox {

namespace {

// In the history: what became of an attempt is not known.

std::vector<Rule> stays_in(std::initializer_list<State> states) {
  std::vector<Rule> rules;
  for (const State state : states) rules.push_back({state, {state}});
  return rules;
}

std::vector<Rule> stays_in_any() {
  std::vector<Rule> rules;
  for (const State state : all_states()) rules.push_back({state, {state}});
  return rules;
}

}  // namespace

std::span<const EventRules> event_rules() {
  using enum State;
  static const std::vector<EventRules> table = {
      {"accepted", "client", "accepted", {{std::nullopt, {accepted}}}},
      {"intake begun", "intake", "made into a message", {{accepted, {intaking}}}},
      {"message built", "intake", "built", {{intaking, {ready}}}},
      {"payload rejected", "intake", "rejected", {{intaking, {invalid}}}},
      {"intake failed", "intake", "taken in again", {{intaking, {accepted, invalid}}}},
      {"claimed",
       "worker",
       "claimed",
       {{accepted, {intaking}},
        {ready, {processing}},
        {sent, {calling_sent}},
        {failed, {calling_failed}},
        {invalid, {calling_invalid}}}},
      {"given back",
       "worker",
       "given back",
       {{intaking, {accepted}},
        {processing, {ready}},
        {calling_sent, {sent}},
        {calling_failed, {failed}},
        {calling_invalid, {invalid}}}},
      {"lease renewed", "worker", "leased for longer",
       stays_in({intaking, processing, calling_sent, calling_failed, calling_invalid})},
      {"lease ended",
       "rescuer",
       "rescued",
       {{intaking, {accepted, held}},
        {processing, {ready, held}},
        {calling_sent, {sent}},
        {calling_failed, {failed}},
        {calling_invalid, {invalid}}}},
      {"message ending", "sender", "sent", stays_in({processing})},
      {"sending attempted", "sender", "sent", {{processing, {sent, failed, ready, held}}}},
      {"sending postponed", "sender", "sent later", {{processing, {ready}}}},
      {"message lost", "sender", "sent", {{processing, {failed}}}},
      {"callback acknowledged",
       "callback",
       "acknowledged",
       {{calling_sent, {sent_acknowledged}},
        {calling_failed, {failed_acknowledged}},
        {calling_invalid, {invalid_acknowledged}}}},
      {"callback failed",
       "callback",
       "called back for",
       {{calling_sent, {sent}}, {calling_failed, {failed}}, {calling_invalid, {invalid}}}},
      {"held", "operator", "held", {{accepted, {held}}, {ready, {held}}}},
      {"released", "operator", "released", {{held, {accepted, ready}}}},
      {"cancelled", "client", "cancelled", {{accepted, {cancelled}}, {ready, {cancelled}}, {held, {cancelled}}}},
      {"requeued",
       "operator",
       "requeued",
       {{failed, {ready}},
        {failed_acknowledged, {ready}},
        {invalid, {accepted}},
        {invalid_acknowledged, {accepted}},
        {intaking, {accepted}},
        {processing, {ready, held}},
        {calling_sent, {sent}},
        {calling_failed, {failed}},
        {calling_invalid, {invalid}}}},
      {"callback replayed", "operator", "called back for again", stays_in({sent, failed, invalid})},
      {"callback taken over", "operator", "called back for in place of another program",
       stays_in({sent, failed, invalid, calling_sent, calling_failed, calling_invalid})},
      {"retried", "operator", "tried now", stays_in({accepted, ready})},
      {"bounced", "mail server", "bounced", stays_in_any()},
      {"adopted", "ledger", "adopted", stays_in_any()},
      {"restored", "ledger", "restored", stays_in_any()},
  };
  return table;
}

namespace {

// Where the event leads to from this state; nullopt when the state forbids it. For events that lead to one state only.
template <class Happened>
std::optional<State> state_after(State from) {
  static const EventRules& event = event_rules()[Event(Happened()).index()];
  const auto rule = std::ranges::find(event.rules, std::optional(from), &Rule::from);
  if (rule == event.rules.end()) return std::nullopt;
  CHECK(rule->to.size() == 1);
  return rule->to.front();
}

}  // namespace

std::optional<State> claimed_form(State waiting) { return state_after<event::Claimed>(waiting); }
std::optional<State> rescued_form(State working) { return state_after<event::GivenBack>(working); }
std::optional<State> acknowledged_form(State calling) { return state_after<event::CallbackAcknowledged>(calling); }

namespace {

// nullptr when the state forbids the event.
const Rule* find_rule(const Email& email, const EventRules& event) {
  const std::optional<State> from = email.version == 0 ? std::nullopt : std::optional(email.state);
  const auto rule = std::ranges::find(event.rules, from, &Rule::from);
  return rule == event.rules.end() ? nullptr : &*rule;
}

// Intake needs no claim: what it reports of an e-mail that waits for it begins with IntakeBegun.
bool is_report_of_intake(const Event& event) {
  return std::holds_alternative<event::MessageBuilt>(event) || std::holds_alternative<event::PayloadRejected>(event) ||
         std::holds_alternative<event::IntakeFailed>(event);
}

std::size_t count_recipients(const Email& email, RecipientState state) {
  return static_cast<std::size_t>(std::ranges::count(email.recipients, state, &Recipient::state));
}

// The words of the first recipient in this state: one server says much the same to all.
std::string first_reply(const Email& email, RecipientState state) {
  const auto recipient = std::ranges::find_if(
      email.recipients, [&](const Recipient& each) { return each.state == state && !each.reply.empty(); });
  return recipient == email.recipients.end() ? "" : recipient->reply;
}

void mark_suppressed(Email& email, const std::vector<Suppression>& suppressions) {
  for (Recipient& recipient : email.recipients)
    for (const Suppression& suppression : suppressions)
      if (recipient.state == RecipientState::pending && mail::is_same_address(recipient.address, suppression.address)) {
        recipient.state = RecipientState::suppressed;
        recipient.reply = suppression.reason;
      }
}

// Fills in what the server said about those that were tried.
void settle_recipients(Email& email, const smtp::SendResult& result) {
  for (const smtp::RecipientResult& each : result.recipients)
    for (Recipient& recipient : email.recipients) {
      if (recipient.state != RecipientState::pending || recipient.address != each.address) continue;
      recipient.reply = each.reply.text;
      if (each.severity == smtp::Severity::success) recipient.state = RecipientState::delivered;
      if (each.severity == smtp::Severity::permanent) recipient.state = RecipientState::refused;
    }
}

// When those that are to be tried again shall be.
base::Milliseconds longest_hint(const smtp::SendResult& result) {
  base::Milliseconds longest{0};
  for (const smtp::RecipientResult& each : result.recipients)
    longest = std::max<base::Milliseconds>(longest, smtp::retry_hint(each.reply).value_or(longest));
  return longest;
}

// For as long as it may be? Not by the clock alone: it may be wrong, or the server was off. The waits between the
// attempts must come to that time as well, each counted as the longest that was possible. An attempt takes time, too,
// so with its wait it counts for a minute at least.
bool is_tried_for_long(const Email& email, const Policy& policy, base::TimePoint now) {
  constexpr base::Milliseconds least = std::chrono::minutes(1);
  if (now - tried_from(email) < policy.give_up_after) return false;
  base::Milliseconds waited{0};
  base::Milliseconds delay = policy.sending_delay.first;
  for (int failures = 1; failures < email.attempts && waited < policy.give_up_after; ++failures) {
    delay = std::min(delay, policy.sending_delay.longest);
    waited += std::max(least, delay);
    delay *= 2;
  }
  return waited >= policy.give_up_after;
}

// The same for a payload that is missing, by the waits of intake.
bool is_payload_awaited_for_long(const Email& email, const Policy& policy, base::TimePoint now) {
  if (now - tried_from(email) < policy.give_up_after) return false;
  base::Milliseconds waited{0};
  base::Milliseconds delay = policy.callback_delay.first;
  for (int failures = 1; failures < email.reached[index_of(State::intaking)] && waited < policy.give_up_after;
       ++failures) {
    delay = std::min(delay, policy.callback_delay.longest);
    waited += delay;
    delay *= 2;
  }
  return waited >= policy.give_up_after;
}

// What each event does. An operator() makes `email_` as it shall be, but for what follows from every move, and answers
// the state that it goes to.
class Decision {
  using enum State;

 public:
  Decision(Change& change, const Policy& policy, base::TimePoint now, std::uint64_t random)
      : change_(change), email_(change.after), policy_(policy), now_(now), random_(random) {}

  // For the line of history, where it says something else than the reason.
  const std::optional<std::string>& note() const { return note_; }

  State operator()(event::Accepted&) {
    if (email_.created_at == base::TimePoint()) email_.created_at = now_;
    email_.due_at = now_;
    return accepted;
  }

  State operator()(event::IntakeBegun&) {
    note_ = "";
    email_.due_at.reset();
    return intaking;
  }

  State operator()(event::MessageBuilt& event) {
    end_work("");
    change_.message = std::move(event.message);
    email_.due_at = time_to_send();
    return ready;
  }

  State operator()(event::PayloadRejected& event) { return settle(invalid, std::move(event.reason), event.internal); }

  State operator()(event::IntakeFailed& event) {
    if (event.is_payload_missing && is_payload_awaited_for_long(email_, policy_, now_))
      return settle(invalid, "the payload is missing from the spool: " + event.reason, true);
    end_work(email_.reason);
    note_ = std::move(event.reason);
    email_.due_at = now_ + policy_.callback_delay.equal_jitter(email_.reached[index_of(intaking)], random_);
    return accepted;
  }

  State operator()(event::Claimed& event) {
    const State working = *claimed_form(email_.state);
    email_.owner = std::move(event.owner);
    email_.due_at = now_ + policy_.lease;
    email_.outcome_unknown = working == processing && unknown_from_claim(policy_);
    if (working == processing) {
      ++email_.attempts;
      email_.reason.clear();
    }
    if (acknowledged_form(working)) ++email_.callback_attempts;
    return working;
  }

  // As if it had not been claimed.
  State operator()(event::GivenBack&) {
    const int rescues = email_.rescues;
    end_work(email_.reason);
    email_.rescues = rescues;
    note_ = "given back: the worker was told to stop";
    email_.due_at = now_;
    if (email_.state == processing) --email_.attempts;
    if (acknowledged_form(email_.state)) --email_.callback_attempts;
    return *rescued_form(email_.state);
  }

  State operator()(event::LeaseRenewed&) {
    email_.due_at = now_ + policy_.lease;
    return email_.state;
  }

  State operator()(event::LeaseEnded&) {
    const int rescues = email_.rescues + 1;
    if (rescues >= policy_.max_rescues && !must_hold_unknown()) return give_up_rescuing(rescues);
    const State back = take_from_lost_worker("rescued from ");
    if (back == held) return back;
    email_.rescues = rescues;
    // One of those that were lost together may end the next worker, too: from now on they come at different times.
    const base::Backoff& delay = acknowledged_form(email_.state) ? policy_.callback_delay : policy_.sending_delay;
    if (rescues > 1 && email_.due_at) *email_.due_at += delay.equal_jitter(1, base::fast_hash(email_.id));
    return back;
  }

  State operator()(event::MessageEnding&) {
    email_.outcome_unknown = true;
    return email_.state;
  }

  State operator()(event::SendingAttempted& event) {
    const smtp::SendResult& result = event.result;
    mark_suppressed(email_, event.suppressed);
    if (result.outcome_unknown) {
      if (policy_.unknown_outcome == UnknownOutcomePolicy::hold) return hold_unknown(result.reply.text);
      return retry(unknown_outcome() + ": " + result.reply.text, is_own(result.reply));
    }
    if (!result.session_failed) settle_recipients(email_, result);
    if (count_recipients(email_, RecipientState::pending) > 0)
      return retry(result.reply.text, is_own(result.reply), longest_hint(result));
    if (count_recipients(email_, RecipientState::delivered) == 0) return fail(reason_of_failure(), false);
    return settle(sent, reason_of_success(result));
  }

  State operator()(event::SendingPostponed& event) {
    end_work(std::move(event.reason));
    email_.due_at = event.due;
    --email_.attempts;
    return ready;
  }

  State operator()(event::MessageLost& event) {
    mark_suppressed(email_, event.suppressed);
    return fail(std::move(event.reason), true);
  }

  State operator()(event::CallbackAcknowledged&) {
    end_work(email_.reason);
    email_.callback_error.clear();
    return *acknowledged_form(email_.state);
  }

  State operator()(event::CallbackFailed& event) {
    constexpr base::Milliseconds longest_wait = std::chrono::hours(24);
    end_work(email_.reason);
    note_ = "callback failed: " + event.error;
    email_.callback_error = std::move(event.error);
    email_.callback_dead = event.permanent || email_.callback_attempts >= policy_.max_callback_attempts;
    base::Milliseconds wait = policy_.callback_delay.equal_jitter(email_.callback_attempts, random_);
    if (event.retry_after) wait = std::clamp(*event.retry_after, wait, longest_wait);
    email_.due_at = email_.callback_dead ? now_ : now_ + wait;
    return *rescued_form(email_.state);
  }

  State operator()(event::Held& event) {
    explain(std::move(event.reason));
    email_.held_from = email_.state;
    email_.due_at.reset();
    return held;
  }

  State operator()(event::Released& event) {
    explain(std::move(event.reason));
    const State back = email_.held_from == ready ? ready : accepted;
    email_.held_from.reset();
    email_.outcome_unknown = false;
    begin_again();
    email_.due_at = back == ready ? time_to_send() : now_;
    return back;
  }

  State operator()(event::Cancelled& event) {
    explain(std::move(event.reason));
    email_.held_from.reset();
    email_.due_at.reset();
    return cancelled;
  }

  State operator()(event::Requeued& event) {
    begin_again();
    email_.callback_attempts = 0;
    if (kind_of(email_.state) == StateKind::working) {
      const State back = take_from_lost_worker("requeued from ");
      if (note_ && !event.reason.empty()) *note_ += "; " + event.reason;
      return back;
    }
    explain(std::move(event.reason));
    email_.due_at = now_;
    email_.callback_dead = false;
    email_.callback_error.clear();
    email_.settled_at.reset();
    for (Recipient& recipient : email_.recipients)
      if (recipient.state != RecipientState::delivered) recipient = {recipient.address, RecipientState::pending, ""};
    return email_.state == failed || email_.state == failed_acknowledged ? ready : accepted;
  }

  State operator()(event::CallbackReplayed&) {
    email_.due_at = now_;
    email_.owner.clear();
    email_.callback_dead = false;
    email_.callback_attempts = 0;
    return email_.state;
  }

  // One that the other program was calling back for is rescued from it at once.
  State operator()(event::CallbackTakenOver&) {
    email_.due_at = now_;
    email_.owner.clear();
    email_.callback_attempts = 0;
    return email_.state;
  }

  State operator()(event::Retried&) {
    email_.due_at = std::min(email_.due_at.value_or(now_), now_);
    return email_.state;
  }

  // Beyond the limit nothing is added.
  State operator()(event::Bounced& event) {
    if (email_.bounces.size() >= max_bounces) return email_.state;
    const Bounce& bounce = email_.bounces.emplace_back(std::move(event.bounce));
    change_.lines.push_back({{"BOUNCED", bounce.at, bounce.recipient + ": " + bounce.diagnostic, email_.version},
                             static_cast<int>(email_.bounces.size())});
    return email_.state;
  }

  State operator()(event::Adopted& event) {
    if (event.description) fill_in(email_, std::move(*event.description));
    if (event.expires)
      email_.kept_since = std::max(base::TimePoint(), *event.expires - policy_.keep);
    else if (event.is_new)
      email_.kept_since = now_;
    // Attempts of Postino count from now on, however long the other program has had it.
    if (event.is_new) email_.begun_again_at = now_;
    if (event.is_moved) take_from_other_program();
    // Another program does not say when it begins to send.
    if (email_.state == processing) email_.outcome_unknown = true;
    if (email_.due_at) return email_.state;
    if (email_.state == accepted) email_.due_at = now_;
    if (email_.state == ready) email_.due_at = time_to_send();
    // If its last change was long ago, it may be alive yet, and has a little time to show it.
    if (kind_of(email_.state) == StateKind::working)
      email_.due_at = std::max(email_.updated_at + policy_.foreign_lease, now_ + policy_.lease);
    return email_.state;
  }

  State operator()(event::Restored& event) {
    std::map<std::string, int> occurrences;
    for (HistoryEntry& entry : event.history) {
      const int occurrence = ++occurrences[entry.status];
      if (const auto state = parse_state(entry.status)) {
        int& reached = email_.reached[index_of(*state)];
        reached = std::max(reached, occurrence);
      }
      change_.lines.push_back({std::move(entry), occurrence});
    }
    return email_.state;
  }

 private:
  // What the line of history says of an attempt that is over, and may have sent the e-mail.
  std::string unknown_outcome() {
    ++email_.unknown_outcomes;
    return "outcome unknown";
  }

  // The worker's hands are off it.
  void end_work(std::string reason) {
    email_.reason = std::move(reason);
    email_.owner.clear();
    email_.due_at.reset();
    email_.outcome_unknown = false;
    email_.rescues = 0;
  }

  bool must_hold_unknown() const {
    return email_.outcome_unknown && policy_.unknown_outcome == UnknownOutcomePolicy::hold;
  }

  // To where a worker can claim it again, or to an operator if it may have been sent and the policy says so.
  State take_from_lost_worker(const std::string& how) {
    change_.only_unrenewed = true;
    if (must_hold_unknown()) return hold_unknown("the worker was lost after the end of the message");
    const bool unknown = email_.outcome_unknown;
    end_work(email_.reason);
    note_ = how + std::string(name_of(email_.state)) + ": its lease had expired";
    if (unknown) note_->append("; ").append(unknown_outcome());
    // Another program may have called back where Postino does not.
    const bool calls_nobody = acknowledged_form(email_.state) && callback_url_of(email_, policy_).empty();
    if (!calls_nobody) email_.due_at = now_;
    return *rescued_form(email_.state);
  }

  void begin_again() {
    email_.attempts = 0;
    email_.rescues = 0;
    email_.begun_again_at = now_;
  }

  void explain(std::string reason) {
    email_.reason = std::move(reason);
    email_.internal_reason = false;
  }

  base::TimePoint time_to_send() const { return email_.send_at ? std::max(*email_.send_at, now_) : now_; }

  // An outcome, of which the caller is told.
  State settle(State outcome, std::string reason, bool internal = false) {
    end_work(std::move(reason));
    email_.internal_reason = internal;
    email_.settled_at = std::max(now_, email_.updated_at);
    email_.callback_attempts = 0;
    if (!callback_url_of(email_, policy_).empty()) email_.due_at = now_;
    return outcome;
  }

  State fail(std::string reason, bool internal) { return settle(failed, std::move(reason), internal); }

  State hold_unknown(const std::string& why) {
    end_work(unknown_outcome() + ": " + why);
    email_.held_from = ready;
    email_.outcome_unknown = true;
    return held;
  }

  // An operator has to look at it: releases or cancels it, or replays its callback.
  State give_up_rescuing(int rescues) {
    change_.only_unrenewed = true;
    const State working = email_.state;
    const bool unknown = email_.outcome_unknown;
    const std::string why = "its worker was lost " + std::to_string(rescues) + " times in a row";
    if (acknowledged_form(working)) {
      end_work(email_.reason);
      note_ = "rescued from " + std::string(name_of(working)) + ": callback given up: " + why;
      email_.callback_error = why;
      email_.callback_dead = true;
      email_.due_at = now_;
      return *rescued_form(working);
    }
    end_work(why + (unknown ? "; " + unknown_outcome() : ""));
    email_.held_from = rescued_form(working);
    email_.outcome_unknown = unknown;
    return held;
  }

  // What belonged to the state that Postino had left it in is over.
  void take_from_other_program() {
    const bool is_calling = acknowledged_form(email_.state).has_value();
    const bool is_settled = is_calling || (may_be_finished(email_.state) && email_.state != cancelled);
    // The other program has only called back, then.
    const bool was_sent_here =
        was_sent(email_.state) && email_.settled_at && count_recipients(email_, RecipientState::delivered) > 0;
    email_.owner.clear();
    email_.rescues = 0;
    email_.outcome_unknown = false;
    email_.held_from.reset();
    email_.callback_attempts = 0;
    email_.callback_dead = false;
    email_.callback_error.clear();
    if (!was_sent_here) email_.settled_at = is_settled ? std::optional(email_.updated_at) : std::nullopt;
    // Other programs may name their own machines.
    const bool is_reply = smtp::is_reply(email_.reason);
    email_.internal_reason = is_settled && !is_reply && !email_.reason.empty();
    // It knows no recipients: what it has sent, it has sent as a whole.
    if (was_sent(email_.state) && !was_sent_here)
      for (Recipient& recipient : email_.recipients)
        recipient = {recipient.address, RecipientState::delivered, is_reply ? email_.reason : ""};
    if (kind_of(email_.state) == StateKind::working) email_.owner = foreign_owner;
    // What it has brought to an end, it calls back for.
    if (is_outcome(email_.state)) {
      email_.owner = foreign_owner;
      email_.due_at.reset();
    }
  }

  // Words of ours name relays and files: they are for operators.
  static bool is_own(const smtp::Reply& reply) { return reply.code == 0; }

  // Not before the time that the server has named, if it has.
  State retry(const std::string& reason, bool internal, base::Milliseconds asked_for = {}) {
    const bool enough = email_.attempts >= policy_.max_attempts || is_tried_for_long(email_, policy_, now_);
    if (!enough) {
      end_work(reason);
      email_.due_at = now_ + std::max(policy_.sending_delay.equal_jitter(email_.attempts, random_), asked_for);
      return ready;
    }
    std::string given_up = "given up after " + std::to_string(email_.attempts) + " attempts: " + reason;
    // Some have it: to fail now would be wrong about them.
    const bool some_have_it = count_recipients(email_, RecipientState::delivered) > 0;
    return some_have_it ? settle(sent, std::move(given_up), internal) : fail(std::move(given_up), internal);
  }

  std::string reason_of_failure() const {
    if (count_recipients(email_, RecipientState::refused) == 0) return "every recipient is on the suppression list";
    return first_reply(email_, RecipientState::refused);
  }

  std::string reason_of_success(const smtp::SendResult& result) const {
    const std::size_t delivered = count_recipients(email_, RecipientState::delivered);
    const std::size_t all = email_.recipients.size();
    if (delivered == all)
      return result.severity == smtp::Severity::success ? result.reply.text
                                                        : first_reply(email_, RecipientState::delivered);
    const bool some_refused = count_recipients(email_, RecipientState::refused) > 0;
    return "sent to " + std::to_string(delivered) + " of " + std::to_string(all) +
           " recipients: " + first_reply(email_, some_refused ? RecipientState::refused : RecipientState::suppressed);
  }

  Change& change_;
  Email& email_;
  const Policy& policy_;
  const base::TimePoint now_;
  const std::uint64_t random_;
  std::optional<std::string> note_;
};

// What follows from every move to another state: version, time, count and line of history.
void enter(Change& change, State state, base::TimePoint now, const std::optional<std::string>& note) {
  Email& after = change.after;
  const bool is_new = after.version == 0;
  after.state = state;
  if (kind_of(state) != StateKind::working) after.owner.clear();
  ++after.version;
  // The process that moved it last may have a clock that is ahead of ours.
  after.updated_at = is_new ? after.created_at : std::max(now, after.updated_at);
  const int occurrence = ++after.reached[index_of(state)];
  change.lines.push_back(
      {{std::string(name_of(state)), after.updated_at, note.value_or(after.reason), after.version}, occurrence});
}

// Words for people when the event is not for this e-mail now.
std::optional<std::string> objection(const Email& email, const Event& event, const EventRules& rules,
                                     base::TimePoint now) {
  if (find_rule(email, rules) == nullptr)
    return "an e-mail that is " + std::string(email.version == 0 ? "new" : name_of(email.state)) + " cannot be " +
           std::string(rules.refusal);
  if (std::holds_alternative<event::CallbackReplayed>(event) && !email.callback_dead)
    return "the callback of e-mail " + email.id + " was not given up";
  if (std::holds_alternative<event::CallbackTakenOver>(event) && email.owner != foreign_owner)
    return "no other program is to call back for e-mail " + email.id;
  if (std::holds_alternative<event::Retried>(event) && email.send_at && *email.send_at > now)
    return "e-mail " + email.id + " is not to be sent before " + base::format_timestamp(*email.send_at);
  if (std::holds_alternative<event::Claimed>(event) && email.callback_dead)
    return "the callback of e-mail " + email.id + " was given up";
  if (std::holds_alternative<event::Requeued>(event) && kind_of(email.state) == StateKind::working &&
      !is_lease_over(email, now))
    return "an e-mail that is " + std::string(name_of(email.state)) +
           " can be requeued only when the lease of its worker has ended";
  return std::nullopt;
}

// Takes the change one event further. What it made of `change` is of no use when it fails.
base::Result<void> go_on(Change& change, Event event, const Policy& policy, base::TimePoint now, std::uint64_t random) {
  if (is_report_of_intake(event) && change.after.version > 0 && change.after.state == State::accepted)
    TRY_VOID(go_on(change, event::IntakeBegun{}, policy, now, random));
  const EventRules& rules = event_rules()[event.index()];
  if (auto reason = objection(change.after, event, rules, now))
    return base::fail(base::ErrorCode::conflict, std::move(*reason));
  const Rule& rule = *find_rule(change.after, rules);
  Decision decision(change, policy, now, random);
  const State to = std::visit(decision, event);
  CHECK(std::ranges::find(rule.to, to) != rule.to.end());
  if (rule.from != to) enter(change, to, now, decision.note());
  return {};
}

}  // namespace

base::Result<Change> decide(Email email, Event event, const Policy& policy, base::TimePoint now, std::uint64_t random) {
  Change change;
  if (email.version > 0) change.before = email;
  change.after = std::move(email);
  return then(std::move(change), std::move(event), policy, now, random);
}

base::Result<Change> then(Change change, Event event, const Policy& policy, base::TimePoint now, std::uint64_t random) {
  TRY_VOID(go_on(change, std::move(event), policy, now, random));
  return change;
}

}  // namespace postino::outbox
