// Where everything about reminders is in the table: the seed's keys, and those of further items.
//
// PK                     SK                         GSI1PK             GSI1SK
// CUSTOMER#{id}          DRAFT#{ts}_{customer}      STATUS#{status}    created_date
//                        SENT#{ts}_{type}           STATUS#{sent,failed}  sent_date
//                        TEMPLATE#{template}        STATUS#{active,inactive}  created_date (override for this customer)
//                        PROFILE                    CUSTOMERS          {id}
//                        GUARD                      last sent reminder of each type, and a version
//                        LATE_PAYER                 LATE_PAYERS        {id}: of late payers alone
//                        ERASED                     what an erased customer had decided; no personal data
//                        INVOICE#{invoice}          INVOICES           {customer}#{invoice}
//                        UNPAID#{due_date}#{invoice}  STATUS#unpaid    {due_date}#{customer}#{invoice}
//                                                   a copy of the invoice until it is paid: it is found by its date
//                        REVISION#{draft}#{000001}  earlier texts of a draft
//                        REVISION#{draft}#{000000}  which revision its current text is
// TEMPLATE#{id}          VERSION#{n}                STATUS#{active,inactive}  created_date
//                        CURRENT                    the active and the last number
// BRANDING#{name}        CURRENT                    BRANDINGS          {name}
// SUMMARY#{2026-11-15}   COUNTS#{shard}
// EMAIL#{email id}       WATCH                      WATCH#{shard}      next look   until nothing more is expected
// HANDOVER#{shard}       {email id}                 e-mails that the outbox does not have yet
// SHARDS                 CURRENT                    the largest number of shards that was ever used, if above one
//
// In the table of the audit:
// AUDIT#{2026-11-15}     {time}#{number}#{random}   CUSTOMER#{id}      as SK; of events about a customer
//                        {time} has milliseconds; {number} counts the events of a process: of one millisecond, they are
//                        in the order in which they happened
// CUSTOMER#{id}          OBJECTION                  what the customer has said against reminders (objection.h)
//
// {ts} is "20250921_143022", in UTC. Where a key is taken the next free second is used, so that keys keep their form.
// Of a tenant, every PK and GSI1PK begins with "TENANT#{tenant}#"; a tenant's name has no '#'. Those of EMAIL#, WATCH#,
// HANDOVER# and ERASURES do not: one look finds the work of all tenants, and the items have the tenant in an attribute.
// With a setting, the partitions STATUS#... are sharded: "STATUS#draft#3"; without it, and for programs of others, they
// are not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "item/value.h"

namespace postino::reminders {

inline constexpr std::string_view ttl_attribute = "ttl";
inline constexpr std::string_view status_index = "GSI1";
inline constexpr int summary_shards = 8;
inline constexpr int work_shards = 4;  // of WATCH# and HANDOVER#

// What sort keys begin with.
inline constexpr std::string_view draft_begin = "DRAFT#";
inline constexpr std::string_view sent_begin = "SENT#";
inline constexpr std::string_view revision_begin = "REVISION#";
inline constexpr std::string_view noted_revision_end = "#000000";
inline constexpr std::string_view invoice_begin = "INVOICE#";
inline constexpr std::string_view template_begin = "TEMPLATE#";
inline constexpr std::string_view version_begin = "VERSION#";
inline constexpr std::string_view counts_begin = "COUNTS#";
// Whole ones.
inline constexpr std::string_view profile_sort = "PROFILE";
inline constexpr std::string_view guard_sort = "GUARD";
inline constexpr std::string_view current_sort = "CURRENT";
inline constexpr std::string_view watch_sort = "WATCH";
inline constexpr std::string_view shards_partition = "SHARDS";

std::string key_time(base::TimePoint time);                            // "20250921_143022"
std::optional<base::TimePoint> parse_key_time(std::string_view text);  // nullopt: no such time
std::string seed_time(base::TimePoint time);                           // "2025-09-21T14:30:22Z", as the seed writes
// Any of those that programs write: with or without fraction, Z or offset, Python's isoformat() without zone (UTC).
std::optional<base::TimePoint> parse_seed_time(std::string_view text);

// The last one that has four digits for its year, as all those in keys.
inline constexpr base::TimePoint last_key_time{base::Milliseconds(253'402'300'799'999)};
// How far a time that another program wrote into a key may be from the true one. Zones are up to 14 hours from UTC, and
// keys can be some seconds later than the true time, where one was taken.
inline constexpr base::Milliseconds key_tolerance = std::chrono::hours(15);

// The id of a draft has both.
struct DraftIdParts {
  std::string time;
  std::string customer_id;
};
std::optional<DraftIdParts> parse_draft_id(std::string_view id);
// "REVISION#{draft}#{000001}"
std::string revision_sort(std::string_view draft_id, int revision);

class Keys {
 public:
  // `shards` of the partitions STATUS#...: 1 to 64. `most_shards`: there were so many, and records are still in them.
  explicit Keys(std::string tenant, int shards = 1, int most_shards = 1);

  const std::string& tenant() const { return tenant_; }

  std::string customer(std::string_view id) const;  // a PK
  std::string of_template(std::string_view id) const;
  std::string branding(std::string_view name) const;
  std::string summary(std::string_view date) const;
  std::string audit(std::string_view date) const;

  // Of the work for all tenants.
  static std::string email(std::string_view email_id);
  static std::string watch(int shard);     // a GSI1PK
  static std::string handover(int shard);  // a PK
  static int work_shard(std::string_view email_id);
  static std::string erasures();  // a GSI1PK

  // GSI1PK of a record; `spread` decides on the shard.
  std::string status(std::string_view status, std::string_view spread) const;
  // All shards of it that there ever were, also the one without a number that programs of others write.
  std::vector<std::string> all_of_status(std::string_view status) const;
  std::string listing(std::string_view name) const;  // "CUSTOMERS", "INVOICES", "LATE_PAYERS", "BRANDINGS"

  static item::Key key(std::string pk, std::string_view sk);

 private:
  std::string prefix_;
  std::string tenant_;
  int shards_;
  int most_shards_;
};

}  // namespace postino::reminders
