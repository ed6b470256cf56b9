#include "outbox/ledger/transitions.h"

#include "base/check.h"
#include "base/hash.h"

namespace postino::outbox {

namespace {

void reach(Email& email, State state) { ++email.reached[static_cast<std::size_t>(state)]; }

}  // namespace

void complete(NewEmail& accepted, base::TimePoint now) {
  Email& email = accepted.email;
  if (accepted.through.empty()) {
    email.state = State::accepted;
    email.due_at = now;
  }
  if (email.created_at == base::TimePoint()) email.created_at = now;
  email.version = static_cast<std::int64_t>(accepted.through.size()) + 1;
  email.updated_at = email.created_at;
  email.reached = {};
  for (const State passed : accepted.through) reach(email, passed);
  reach(email, email.state);
}

std::vector<HistoryEntry> lines_of(const NewEmail& accepted) {
  std::vector<HistoryEntry> lines;
  const auto add = [&](State state) {
    lines.push_back({std::string(name_of(state)), accepted.email.updated_at, accepted.email.reason,
                     static_cast<std::int64_t>(lines.size()) + 1});
  };
  for (const State passed : accepted.through) add(passed);
  add(accepted.email.state);
  return lines;
}

std::string acceptance_of(const AcceptKey& key, std::size_t index) {
  const std::string text = key.key + "#" + key.request_hash + "#" + std::to_string(index);
  return base::to_hex(base::sha256(text)).substr(0, 16);
}

Move claiming_move(const Email& email, const std::string& owner, base::TimePoint lease_end, bool unknown_from_claim) {
  Move move{email, email, std::nullopt, "", std::nullopt};
  move.after.state = *claimed_form(email.state);
  move.after.owner = owner;
  move.after.due_at = lease_end;
  move.after.outcome_unknown = unknown_from_claim && move.after.state == State::processing;
  if (move.after.state == State::processing) {
    ++move.after.attempts;
    move.after.reason.clear();
  }
  if (acknowledged_form(move.after.state)) ++move.after.callback_attempts;
  return move;
}

void complete(Move& move, base::TimePoint now) {
  Email& after = move.after;
  const State last = move.through.value_or(move.before.state);
  CHECK(may_follow(last, after.state) && (!move.through || may_follow(move.before.state, last)));
  after.version = move.before.version + (move.through ? 2 : 1);
  // Whoever moved it last may have looked at the clock later than we did.
  after.updated_at = std::max(now, move.before.updated_at);
  if (after.settled_at && !move.before.settled_at) after.settled_at = after.updated_at;
  after.reached = move.before.reached;
  if (move.through) reach(after, last);
  reach(after, after.state);
}

std::vector<HistoryEntry> lines_of(const Move& move) {
  const Email& after = move.after;
  std::vector<HistoryEntry> lines;
  if (move.through)
    lines.push_back({std::string(name_of(*move.through)), after.updated_at, move.through_note, after.version - 1});
  lines.push_back({std::string(name_of(after.state)), after.updated_at, move.note.empty() ? after.reason : move.note,
                   after.version});
  return lines;
}

HistoryEntry line_of(const Email& email, const Bounce& bounce) {
  return {"BOUNCED", bounce.at, bounce.recipient + ": " + bounce.diagnostic, email.version};
}

}  // namespace postino::outbox
