// An entry of the audit as it is stored: an event, and its place in a chain. Pure code.
//
// Each server that writes has a chain. An entry has its number in the chain, the digest of the entry before it, and a
// digest of all that it says: one that is changed, taken away or put elsewhere shows. docs/access.md has the form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "access/audit.h"
#include "base/clock.h"
#include "item/value.h"

namespace postino::access {

// How far a chain has come.
struct AuditHead {
  std::string chain;
  std::int64_t number = 0;  // of its last entry
  std::string digest;
  base::TimePoint at{};
  // Seconds since 1970, when all its entries have expired.
  std::int64_t gone_by = 0;

  friend bool operator==(const AuditHead&, const AuditHead&) = default;
};

struct AuditEntry {
  AuditEvent event;
  std::string chain;
  std::int64_t number = 0;  // from 1
  base::TimePoint at{};     // never before that of the entry before it
  std::string previous;     // the digest of that one; empty: there is none
  std::int64_t expires_at = 0;
  // When all entries before it in the chain have expired: from then on they may be missing. 0: there are none.
  std::int64_t earlier_gone_by = 0;
  // How far the other chains were when this one began, or was gone on with by another server: so the end of a chain
  // cannot be taken away in silence, nor all of it.
  std::vector<AuditHead> others;
  std::string digest;

  AuditHead head() const;
};

// Names of actions that the audit itself writes.
inline constexpr std::string_view audit_opened = "audit.opened";
inline constexpr std::string_view audit_left_out = "audit.leftOut";

// 64 hexadecimal digits. What is in `digest` does not count.
std::string digest_of(const AuditEntry& entry);

// With texts cut to what an entry takes.
AuditEvent within_limits(AuditEvent event);

// The keys: one partition for each day, in which entries are in the order of time; and one with all chains.
std::string audit_partition(base::TimePoint at);
std::string audit_sort_key(base::TimePoint at, std::string_view chain, std::int64_t number);
inline constexpr std::string_view chains_partition = "CHAINS";

item::Item item_of(const AuditEntry& entry);
// corrupt when it is none.
base::Result<AuditEntry> read_audit_entry(const item::Item& item);

struct AuditChainRecord {
  AuditHead head;
  std::string owner;           // the process that writes it; empty: none
  base::TimePoint begun_at{};  // the time of its first entry
};
item::Item item_of(const AuditChainRecord& record);
base::Result<AuditChainRecord> read_audit_chain(const item::Item& item);

}  // namespace postino::access
