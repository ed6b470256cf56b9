// The sandbox: where mail goes as long as no relay is configured. Nothing leaves the machine; people and tests read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "outbox/ledger/spool.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::outbox {

struct MailboxEntry {
  std::string id;            // of the e-mail
  base::TimePoint accepted;  // by the outbox
  base::TimePoint received;
  std::string sender;
  std::vector<std::string> recipients;  // of the envelope
  std::string subject;
  std::int64_t size = 0;
};
struct MailboxPage {
  std::vector<MailboxEntry> entries;  // last accepted first
  std::string cursor;                 // empty at the end
};

// Safe to call from any thread.
class SandboxMailbox {
 public:
  SandboxMailbox(store::Store& store, std::string table, Spool& spool, store::Retry retry)
      : store_(store), table_(std::move(table)), spool_(spool), retry_(std::move(retry)) {}

  // An e-mail that comes twice is there once. The message stays in the spool, at `message_path`.
  base::Result<void> put(const MailboxEntry& entry, const std::string& message_path, base::TimePoint keep_until);
  base::Result<MailboxPage> list(const std::string& cursor, int limit);  // invalid: not a cursor of ours
  // `admit` as in Spool::read_if().
  base::Result<std::optional<std::string>> message(const std::string& id, const Spool::Admit& admit);
  base::Result<std::int64_t> clear();  // how many there were

 private:
  base::Result<std::int64_t> remove(const std::vector<item::Item>& entries);

  store::Store& store_;
  const std::string table_;
  Spool& spool_;
  const store::Retry retry_;
};

}  // namespace postino::outbox
