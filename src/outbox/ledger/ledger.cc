#include "outbox/ledger/ledger.h"

#include <algorithm>

#include "base/check.h"

namespace postino::outbox {

JoinedOutcome Ledger::accept_with(NewEmail, std::vector<store::TransactAction>) {
  CHECK(false);  // the caller has not asked shares_commits()
  return {};
}

Renewals Ledger::renew(const std::vector<Change>& renewals) {
  Renewals outcome;
  for (std::size_t begin = 0; begin < renewals.size(); begin += max_ledger_batch) {
    const std::size_t end = std::min(begin + max_ledger_batch, renewals.size());
    const std::vector<Change> chunk(renewals.begin() + static_cast<std::ptrdiff_t>(begin),
                                    renewals.begin() + static_cast<std::ptrdiff_t>(end));
    const auto kept = amend(chunk);
    if (!kept) {
      outcome.error = kept.error().message;
      continue;
    }
    for (const Change& renewal : chunk) {
      const bool is_kept = std::ranges::find(*kept, renewal.after.id) != kept->end();
      (is_kept ? outcome.kept : outcome.lost).push_back(renewal.after.id);
    }
  }
  return outcome;
}

base::Result<std::map<std::string, Acceptance>> Ledger::acceptances(const std::vector<std::string>& ids) {
  std::map<std::string, Acceptance> found;
  for (const std::string& id : ids) {
    auto email = find(id);
    if (!email && email.error().code == base::ErrorCode::corrupt) continue;
    if (!email) return base::propagate(email.error());
    if (*email) found.emplace(id, Acceptance{std::move((*email)->acceptance_token), (*email)->created_at});
  }
  return found;
}

bool is_needed(Ledger& ledger, const std::string& id, const Policy& policy, base::TimePoint now) {
  const auto email = ledger.find(id);
  if (!email) return true;
  return *email && (!is_finished(**email) || expiry_of(**email, policy) > now);
}

base::Result<void> amend(Ledger& ledger, Change change) {
  const std::string id = change.after.id;
  std::vector<Change> changes;
  changes.push_back(std::move(change));
  TRY(const std::vector<std::string> written, ledger.amend(changes));
  if (written.empty()) return base::fail(base::ErrorCode::conflict, "e-mail " + id + " was changed by another worker");
  return {};
}

}  // namespace postino::outbox
