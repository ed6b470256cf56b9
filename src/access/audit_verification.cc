#include "access/audit_verification.h"

#include <algorithm>

#include "base/timestamp.h"
#include "item/attribute_text.h"

namespace postino::access {

namespace {

std::string place_of(const AuditEntry& entry) { return "entry " + std::to_string(entry.number) + " of " + entry.chain; }

base::TimePoint begin_of_day(base::TimePoint time) { return base::end_of_day(time) - std::chrono::days(1); }

}  // namespace

AuditVerification::AuditVerification(const AuditItems& items, base::TimePoint now, const std::vector<KnownEntry>& known)
    : items_(items), time_(now), now_(base::epoch_seconds(now)) {
  for (const KnownEntry& each : known)
    chains_[each.chain].expected.emplace(each.number, std::pair(each.digest, "what was told before"));
}

void AuditVerification::fault(const std::string& chain, std::int64_t number, std::string what) {
  if (verdict_.faults.size() < AuditReader::most_faults) verdict_.faults.push_back({chain, number, std::move(what)});
}

// Chains are read first: what is written while the entries are read is behind what their records say.
store::Answer<AuditVerdict> AuditVerification::run() {
  TRY_VOID(read_chains());
  base::TimePoint first = time_;
  base::TimePoint last = time_;  // clocks of servers differ
  for (const AuditChainRecord& record : records_) {
    first = std::min(first, record.begun_at);
    last = std::max(last, record.head.at);
  }
  for (base::TimePoint day = begin_of_day(first); day <= last; day += std::chrono::days(1))
    TRY_VOID(items_.walk(audit_partition(day), true, "", [this](const item::Item& item) {
      see(item);
      return true;
    }));
  TRY_VOID(check_ends());
  TRY_VOID(check_others());
  for (const auto& [name, seen] : chains_)
    if (seen.head.number > 0) verdict_.heads.push_back(seen.head);
  return std::move(verdict_);
}

store::Answer<void> AuditVerification::read_chains() {
  return items_.walk(std::string(chains_partition), true, "", [this](const item::Item& item) {
    auto record = read_audit_chain(item);
    if (!record) {
      fault(item::attribute_text(item, "SK"), 0, "the record of the chain cannot be read");
      return true;
    }
    if (!is_gone(record->head.gone_by))
      chains_[record->head.chain].expected.emplace(record->head.number,
                                                   std::pair(record->head.digest, "the record of the chain"));
    records_.push_back(*std::move(record));
    return true;
  });
}

void AuditVerification::see(const item::Item& item) {
  ++verdict_.entries;
  const auto entry = read_audit_entry(item);
  if (!entry) return fault("", 0, item::attribute_text(item, "SK") + ": " + entry.error().message);
  if (digest_of(*entry) != entry->digest) fault(entry->chain, entry->number, "the entry was changed");
  check_place(item, *entry);
  Seen& seen = chains_[entry->chain];
  check_before(*entry, seen.head);
  check_expected(seen, *entry);
  for (const AuditHead& other : entry->others) others_.emplace_back(other, place_of(*entry));
  if (seen.head.number < entry->number) seen.head = entry->head();
}

void AuditVerification::check_place(const item::Item& item, const AuditEntry& entry) {
  if (item::attribute_text(item, "PK") != audit_partition(entry.at) ||
      item::attribute_text(item, "SK") != audit_sort_key(entry.at, entry.chain, entry.number))
    fault(entry.chain, entry.number, "the entry is in another place than it was written to");
}

void AuditVerification::check_before(const AuditEntry& entry, const AuditHead& before) {
  if (entry.number <= before.number)
    return fault(entry.chain, entry.number, "the entry comes after one with a higher number");
  if (entry.number == before.number + 1) {
    if (entry.previous != before.digest)
      fault(entry.chain, entry.number, "the entry does not go on from the one before it");
    return;
  }
  if (is_gone(entry.earlier_gone_by)) return;
  fault(entry.chain, before.number + 1,
        before.number + 2 == entry.number
            ? "the entry is missing"
            : "the entries up to " + std::to_string(entry.number - 1) + " are missing, or some of them");
}

void AuditVerification::check_expected(Seen& seen, const AuditEntry& entry) {
  const auto [first, last] = seen.expected.equal_range(entry.number);
  for (auto told = first; told != last; ++told)
    if (told->second.first != entry.digest)
      fault(entry.chain, entry.number, "the entry is another one than " + told->second.second + " has");
  seen.expected.erase(first, last);
}

store::Answer<void> AuditVerification::check_ends() {
  for (auto& [name, seen] : chains_) {
    for (const auto& [number, told] : seen.expected)
      fault(name, number, "the entry is missing, which " + told.second + " has");
    const bool has_record =
        std::ranges::any_of(records_, [&name = name](const auto& record) { return record.head.chain == name; });
    if (has_record || seen.head.number == 0 || is_gone(seen.head.gone_by)) continue;
    // It may have begun since.
    TRY(const auto record, items_.get(std::string(chains_partition), name));
    if (!record) fault(name, 0, "the record of the chain is missing");
  }
  return {};
}

store::Answer<void> AuditVerification::check_others() {
  for (const auto& [head, who] : others_) {
    if (is_gone(head.gone_by)) continue;
    TRY(const auto item, items_.get(audit_partition(head.at), audit_sort_key(head.at, head.chain, head.number)));
    const auto entry = item ? read_audit_entry(*item) : base::Result<AuditEntry>();
    if (!item || !entry || entry->digest != head.digest)
      fault(head.chain, head.number, "the entry is missing or another one than " + who + " has");
  }
  return {};
}

}  // namespace postino::access
