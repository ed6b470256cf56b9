// The chain that this process writes: entries are appended in batches, each in one commit with the record of how far
// the chain has come.
//
// A store that only this process writes to has one chain, which each start goes on with. Where the store is shared, a
// process takes a chain that no other process writes any more, or begins one. Two that take the same are told apart by
// the condition of their commits: the slower one takes another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "access/audit_entry.h"
#include "base/clock.h"
#include "base/random.h"
#include "store/retry.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::access {

struct AuditOptions {
  std::string table = "postino-audit";
  base::Milliseconds kept = std::chrono::days(365);  // of entries that are written from now on
  // The table is marked as one that others may only read: in a store of its own.
  bool marks_table = true;
};

// As the server makes the table, and as those make it who make tables by themselves.
store::TableSetup audit_table_setup(const AuditOptions& options);
base::Result<void> prepare_audit(store::Store& store, const AuditOptions& options);

// Used by one thread at a time.
class AuditChain {
 public:
  // Beside these a commit has at most two actions.
  static constexpr std::size_t most_in_a_commit = 50;

  // Everything given must outlive it.
  AuditChain(store::Store& store, AuditOptions options, const base::Clock& clock, base::Random& random,
             store::Retry retry);

  // All of them are on disk when it returns without an error. After one they may be: give the same events again, and
  // they are written once.
  store::Answer<void> append(const std::vector<AuditEvent>& events);
  // Lets another process go on with the chain at once.
  void leave();

 private:
  store::Answer<void> open();
  store::Answer<std::vector<AuditChainRecord>> read_chains();
  std::optional<AuditChainRecord> choose(const std::vector<AuditChainRecord>& chains) const;
  std::vector<AuditEntry> make_entries(const std::vector<AuditEvent>& events);
  AuditEntry next_entry(AuditEvent event, const AuditHead& after) const;
  store::Answer<void> commit(const std::vector<AuditEntry>& entries);
  store::Answer<bool> is_there(const AuditEntry& entry);
  void take(const std::vector<AuditEntry>& entries);
  bool is_empty() const { return record_.head.number == 0; }

  store::Store& store_;
  const AuditOptions options_;
  const base::Clock& clock_;
  base::Random& random_;
  const store::Retry retry_;
  const std::string owner_;

  bool is_open_ = false;
  AuditChainRecord record_;         // as the last commit has left it
  std::vector<AuditHead> others_;   // for the first entry
  std::vector<AuditHead> lost_;     // chains of this process that others have gone on with, or removed
  std::vector<AuditEntry> unsure_;  // of the last commit, if it failed
};

}  // namespace postino::access
