// Reads the audit: lists of entries for people, and whether anything of it was changed or taken away.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "access/audit_entry.h"
#include "base/clock.h"
#include "store/list_cursor.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::access {

struct AuditQuestion {
  std::string tenant;   // only entries of its callers; empty: all
  std::string actor;    // the whole name
  std::string action;   // begins so
  std::string subject;  // begins so
  std::string result;
  std::optional<base::TimePoint> since;
  std::optional<base::TimePoint> until;  // without it
  std::string cursor;
  int limit = 50;
};

// Something that is not as the server has written it.
struct AuditFault {
  std::string chain;
  std::int64_t number = 0;  // of the entry; 0: it is about the chain
  std::string fault;
};

struct AuditVerdict {
  std::int64_t entries = 0;
  // As they are now: who keeps one elsewhere can ask later whether it is still so.
  std::vector<AuditHead> heads;
  std::vector<AuditFault> faults;  // the first 100
  bool is_intact() const { return faults.empty(); }
};

// An entry that was there before, as an earlier verdict had it.
struct KnownEntry {
  std::string chain;
  std::int64_t number = 0;
  std::string digest;
};
// "CHAIN:NUMBER:DIGEST".
base::Result<KnownEntry> parse_known_entry(std::string_view text);
std::string text_of(const AuditHead& head);

// Safe to use from any thread.
class AuditReader {
 public:
  static constexpr std::size_t most_faults = 100;

  // Everything given must outlive it.
  AuditReader(store::Store& store, std::string table, const base::Clock& clock, store::Retry retry)
      : store_(store), table_(std::move(table)), clock_(clock), retry_(std::move(retry)) {}

  // The newest first. A page may have fewer entries than the limit, even none, and yet a cursor: one call looks at a
  // bounded number of entries. invalid: the cursor is of another list.
  base::Result<store::Page<AuditEntry>> list(const AuditQuestion& question);

  // Looks at everything, while the audit is written as ever. conflict: another call does so at the moment.
  base::Result<AuditVerdict> verify(const std::vector<KnownEntry>& known);

 private:
  store::Answer<std::optional<base::TimePoint>> first_day();

  store::Store& store_;
  const std::string table_;
  const base::Clock& clock_;
  const store::Retry retry_;
  std::mutex verifying_;
};

}  // namespace postino::access
