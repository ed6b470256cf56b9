#include "outbox/ledger/missing_contents.h"

#include "base/log.h"

namespace postino::outbox {

// The mutex is held.
void MissingContents::forget_old() {
  const base::Milliseconds now = clock_.monotonic();
  std::erase_if(emails_, [&](const auto& email) { return now - email.second.at > remembered; });
  has_any_ = !emails_.empty();
}

void MissingContents::miss(const std::string& id, const std::string& why) {
  if (const auto untold = trouble_.admit("missing"))
    base::log_warning("outbox", "the contents of an e-mail are not in the spool of this server: it waits",
                      {{"id", id}, {"error", why}, {"others", std::to_string(*untold)}});
  const std::lock_guard lock(mutex_);
  forget_old();
  if (emails_.size() >= most_emails && !emails_.contains(id)) return;  // enough to be told
  emails_.insert_or_assign(id, Missing{why, clock_.monotonic()});
  has_any_ = true;
}

void MissingContents::found(const std::string& id) {
  if (!has_any_) return;
  const std::lock_guard lock(mutex_);
  emails_.erase(id);
  has_any_ = !emails_.empty();
}

std::optional<std::string> MissingContents::problem() {
  if (!has_any_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  forget_old();
  if (emails_.empty()) return std::nullopt;
  const auto& [id, missing] = *emails_.begin();
  return std::to_string(emails_.size()) + (emails_.size() == 1 ? " e-mail waits" : " e-mails wait") +
         " for contents that the spool of this server does not have, such as " + id + " (" + missing.why +
         "): do all servers have the same --spool?";
}

}  // namespace postino::outbox
