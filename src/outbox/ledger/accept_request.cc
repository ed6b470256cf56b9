#include "outbox/ledger/accept_request.h"

#include <deque>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"

namespace postino::outbox {

namespace {

// The same each time for e-mail number `index` of a request, so that a repeat of a half done request knows its own
// e-mails. Another request under the same key, after that has expired, does not.
std::string acceptance_token_of(const AcceptKey& key, std::size_t index) {
  const std::string text = key.key + "#" + key.request_hash + "#" + std::to_string(index);
  return base::to_hex(base::sha256(text)).substr(0, 16);
}

}  // namespace

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
    accepted.acceptance_token = key ? acceptance_token_of(*key, i) : base::make_uuid(random);
    std::string_view id = accepted.id;
    if (ids == Ids::ignoring_case) id = lower_case_ids.emplace_back(base::lower_case(id));
    if (!seen.insert(id).second) refuse_duplicate(i);
  }
}

bool AcceptRequest::take_verdict(idempotency::Verdict verdict, std::string stored_answer) {
  using idempotency::Verdict;
  if (verdict == Verdict::execute) return true;
  answer_ = {};
  answer_.status = AcceptStatus::in_progress;
  if (verdict == Verdict::other_request) answer_.status = AcceptStatus::other_request;
  if (verdict == Verdict::unreadable) answer_.status = AcceptStatus::unreadable_key;
  if (verdict == Verdict::replay) {
    answer_.status = AcceptStatus::replayed;
    answer_.stored_answer = std::move(stored_answer);
  }
  return false;
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
