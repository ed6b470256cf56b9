#include "outbox/ledger/ledger.h"

namespace postino::outbox {

base::Result<void> amend(Ledger& ledger, Change change) {
  const std::string id = change.after.id;
  std::vector<Change> changes;
  changes.push_back(std::move(change));
  TRY(const std::vector<std::string> written, ledger.amend(changes));
  if (written.empty()) return base::fail(base::ErrorCode::conflict, "e-mail " + id + " was changed by another worker");
  return {};
}

}  // namespace postino::outbox
