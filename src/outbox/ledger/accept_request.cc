#include "outbox/ledger/accept_request.h"

#include <charconv>
#include <deque>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"

namespace postino::outbox {

namespace {

std::string short_hash(const std::string& text) { return base::to_hex(base::sha256(text)).substr(0, 16); }

}  // namespace

std::string AcceptKey::name_of_email(std::size_t index) const {
  std::string name = key + "#" + request_hash + "#" + std::to_string(index);
  if (!generation.empty()) name += "#" + generation;
  return name;
}

std::string AcceptKey::token_of_email(std::size_t index) const {
  return short_hash(name_of_email(index)) + "@" + std::to_string(base::epoch_milliseconds(expires_at));
}

bool AcceptKey::has_accepted(std::size_t index, std::string_view token) const {
  const std::size_t at = token.find('@');
  if (token.substr(0, at) != short_hash(name_of_email(index))) return false;
  if (at == std::string_view::npos) return true;  // of an earlier version, which did not note when the key expires
  std::int64_t expires = 0;
  std::from_chars(token.data() + at + 1, token.data() + token.size(), expires);
  return base::from_epoch_milliseconds(expires) > used_at;
}

AcceptRequest::AcceptRequest(std::vector<NewEmail>& emails, const std::optional<AcceptKey>& key,
                             const RenderAnswer& render, base::Random& random, Ids ids)
    : emails_(emails), key_(key), render_(render) {
  bytes_.reserve(emails.size());
  answer_.outcomes.reserve(emails.size());
  std::set<std::string_view> seen;
  std::deque<std::string> lower_case_ids;  // that `seen` refers to
  for (std::size_t i = 0; i < emails.size(); ++i) {
    Email& accepted = email(i);
    const Change& change = emails[i].change;
    bytes_.push_back(emails[i].payload.size() + (change.message ? change.message->size() : 0));
    answer_.outcomes.push_back({accepted.id, std::nullopt, "", std::nullopt});
    accepted.acceptance_token = key ? key->token_of_email(i) : base::make_uuid(random);
    std::string_view id = accepted.id;
    if (ids == Ids::ignoring_case) id = lower_case_ids.emplace_back(base::lower_case(id));
    if (!seen.insert(id).second) refuse_duplicate(i);
  }
}

bool AcceptRequest::take_key_state(idempotency::KeyState state, std::string stored_answer) {
  using idempotency::KeyState;
  if (state == KeyState::execute) return true;
  answer_ = {};
  answer_.status = AcceptStatus::in_progress;
  if (state == KeyState::other_request) answer_.status = AcceptStatus::other_request;
  if (state == KeyState::unreadable) answer_.status = AcceptStatus::unreadable_key;
  if (state == KeyState::replay) {
    answer_.status = AcceptStatus::replayed;
    answer_.stored_answer = std::move(stored_answer);
  }
  return false;
}

bool AcceptRequest::has_accepted(std::size_t i, std::string_view token) const {
  return key_ ? key_->has_accepted(i, token) : token == email(i).acceptance_token;
}

void AcceptRequest::refuse_duplicate(std::size_t i) {
  answer_.outcomes[i].error = AcceptError::duplicated_id;
  answer_.outcomes[i].message = "an e-mail with this id was already accepted";
}

base::Result<void> AcceptRequest::refuse(const Group& group, AcceptError error, const base::Error& cause) {
  if (key_) return base::propagate(cause);
  if (error == AcceptError::database)
    base::log_warning("outbox", "e-mails could not be accepted", {{"error", cause.message}});
  for (const std::size_t i : group) {
    answer_.outcomes[i].error = error;
    answer_.outcomes[i].message = cause.message;
  }
  return {};
}

void AcceptRequest::doubt(const Group& group, const base::Error& cause) {
  base::log_warning("outbox", "it is not known whether e-mails were accepted", {{"error", cause.message}});
  if (key_) {
    answer_ = {};
    answer_.status = AcceptStatus::unknown;
    return;
  }
  for (const std::size_t i : group) {
    if (is_refused(i)) continue;
    answer_.outcomes[i].error = AcceptError::unknown;
    answer_.outcomes[i].message = cause.message;
  }
}

}  // namespace postino::outbox
