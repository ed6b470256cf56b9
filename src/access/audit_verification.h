// Whether the audit is as its servers have written it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "access/audit_items.h"
#include "access/audit_reader.h"

namespace postino::access {

// One look at everything. Entries that have expired may be missing, and no others.
class AuditVerification {
 public:
  AuditVerification(const AuditItems& items, base::TimePoint now, const std::vector<KnownEntry>& known);

  store::Answer<AuditVerdict> run();

 private:
  // What has been seen of a chain.
  struct Seen {
    AuditHead head;
    // By number: digests that an entry must have, with who says so.
    std::multimap<std::int64_t, std::pair<std::string, std::string>> expected;
  };
  store::Answer<void> read_chains();
  void see(const item::Item& item);
  void check_place(const item::Item& item, const AuditEntry& entry);
  void check_before(const AuditEntry& entry, const AuditHead& before);
  void check_expected(Seen& seen, const AuditEntry& entry);
  store::Answer<void> check_ends();
  store::Answer<void> check_others();
  bool is_gone(std::int64_t second) const { return second <= now_; }
  void fault(const std::string& chain, std::int64_t number, std::string what);

  const AuditItems& items_;
  const base::TimePoint time_;
  const std::int64_t now_;  // in seconds
  std::vector<AuditChainRecord> records_;
  std::map<std::string, Seen> chains_;
  // What entries say of other chains, and which entry it was.
  std::vector<std::pair<AuditHead, std::string>> others_;
  AuditVerdict verdict_;
};

}  // namespace postino::access
