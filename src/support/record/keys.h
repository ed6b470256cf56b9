// Where everything about tickets is in the table: the keys of the former system, and those of further items.
//
// clang-format off
// PK                 SK                       GSI1PK          GSI1SK                  GSI2PK or GSI3PK        GSI2SK or GSI3SK
// TICKET#{id}        METADATA                 CUSTOMER#{c}    STATUS#{s}#{created}    2: STATUS#{s}           created_at
//                                             escalated_at and assigned_to, of escalated-tickets-index: while escalated
//                    FEEDBACK#{submitted_at}  FEEDBACK#{c}    {operator}#{submitted}  3: OPERATOR#{o}         submitted_at
//                    EVENT#{date}#{001}       what happened, by day and number
//                    ESCALATION               ESCALATIONS     {escalated}#{id}        3: ESCALATED#{engineer} escalated_at
//                                             while it is escalated
//                    BY#PRODUCT               PRODUCT#{p}     {created}#{id}
//                    BY#ERROR                 ERROR#{e}       {created}#{id}
//                    BY#PRIORITY              PRIORITY#{p}    {created}#{id}
//                    EMAIL#{time}#{8 digits}  e-mails, sent and received
//                    ATTACHMENT#{id}          files; the id is a UUID that begins with the time
// MAIL#{message id}  TICKET                   the ticket that an e-mail belongs to
// IDEMPOTENCY#{key}  METADATA                 the answer to a creation, for 24 hours
// CACHE#{key}        DATA                     for 15 minutes
// HANDOVER#{shard}   {email id}               e-mails that the outbox does not have yet
// ADOPTION           POSITION                 how far the changes of other programs are looked at
// SHARDS             CURRENT                  the largest number of shards that was ever used, if above one
// clang-format on
//
// With a setting, the partitions of indexes that many tickets are in are sharded: "STATUS#NEW#3". These are STATUS#,
// PRODUCT#, ERROR#, PRIORITY# and ESCALATIONS. Without it, and for programs of others, they have no number.
// Between FEEDBACK# and METADATA there is nothing else, so that one query has a ticket and its feedback.
// Of a tenant, every PK and GSI PK begins with "TENANT#{tenant}#". Those of HANDOVER#, ADOPTION and SHARDS do not: one
// look finds the work of all tenants, and the items have the tenant in an attribute. Callers that are bound to a
// customer have IDEMPOTENCY_OF#{c}#{key} and CACHE_OF#{c}#{key}: no key of other callers leads there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "item/value.h"
#include "support/record/ticket_status.h"

namespace postino::support {

inline constexpr std::string_view ttl_attribute = "ttl";
inline constexpr std::string_view customer_index = "GSI1-customer-index";
inline constexpr std::string_view status_index = "GSI2-status-index";
inline constexpr std::string_view operator_index = "GSI3-operator-index";
inline constexpr std::string_view escalated_index = "escalated-tickets-index";
inline constexpr int handover_shards = 4;

// What sort keys begin with.
inline constexpr std::string_view feedback_begin = "FEEDBACK#";
inline constexpr std::string_view event_begin = "EVENT#";
inline constexpr std::string_view email_begin = "EMAIL#";
inline constexpr std::string_view attachment_begin = "ATTACHMENT#";
// Whole ones.
inline constexpr std::string_view metadata_sort = "METADATA";
inline constexpr std::string_view escalation_sort = "ESCALATION";
inline constexpr std::string_view by_product_sort = "BY#PRODUCT";
inline constexpr std::string_view by_error_sort = "BY#ERROR";
inline constexpr std::string_view by_priority_sort = "BY#PRIORITY";
inline constexpr std::string_view mail_sort = "TICKET";
inline constexpr std::string_view cache_sort = "DATA";

// Times are texts, and sort as such: "2026-01-02T03:04:05.123Z". Other programs write whole seconds, microseconds, or
// no zone; all forms of a second stand together, so that only entries of the same second may be out of order.
std::string write_time(base::TimePoint time);
// In the form of another text: without a zone where that one has none, because programs that subtract the two cannot
// mix them.
std::string write_time_like(std::string_view model, base::TimePoint time);
// Any of these forms; without a zone it is UTC.
std::optional<base::TimePoint> read_time(std::string_view text);
// The same time for callers, who cannot know that: it ends in Z. As it is when it is no time.
std::string time_in_utc(std::string_view text);
// What all forms of the second that it falls into begin with.
std::string first_key_of_second(base::TimePoint time);
std::string date_of(base::TimePoint time);  // "2026-01-02"
bool is_date(std::string_view text);

// Events of a day have numbers: 001 to 999, then A1000 to A9999, B10000 and so on. With plain digits 1000 would stand
// before 101. Other programs write 1000 even so: it is read as the same number.
std::string event_number(std::int64_t number);
std::optional<std::int64_t> parse_event_number(std::string_view text);
std::string event_sort(std::string_view date, std::int64_t number);
std::string plain_event_sort(std::string_view date, std::int64_t number);  // as other programs write it

// Of a ticket's partition.
struct TicketPlace {
  std::string tenant;
  std::string ticket_id;
};
std::optional<TicketPlace> parse_ticket_partition(std::string_view pk);

// Of partitions that many tickets are in, 1 to 64.
struct TicketShards {
  int count = 1;
  int ever = 1;  // there were so many, and tickets are still in them
};

class Keys {
 public:
  // A bound customer changes the keys of records that belong to callers alone.
  explicit Keys(std::string tenant, const std::optional<std::string>& bound_customer = std::nullopt,
                TicketShards shards = {});

  const std::string& tenant() const { return tenant_; }

  // PKs.
  std::string ticket(std::string_view id) const { return of("TICKET#", id); }
  std::string mail(std::string_view message_id) const { return of("MAIL#", message_id); }
  std::string idempotency(std::string_view key) const { return own("IDEMPOTENCY", key); }
  std::string cache(std::string_view key) const { return own("CACHE", key); }
  static std::string handover(int shard) { return "HANDOVER#" + std::to_string(shard); }
  static int handover_shard(std::string_view email_id);

  // Partitions of indexes.
  std::string customer(std::string_view id) const { return of("CUSTOMER#", id); }
  std::string status(TicketStatus status) const { return of("STATUS#", name_of(status)); }
  std::string product(std::string_view type) const { return of("PRODUCT#", type); }
  std::string error(std::string_view code) const { return of("ERROR#", code); }
  std::string priority(std::string_view priority) const { return of("PRIORITY#", priority); }
  std::string feedback_of(std::string_view customer) const { return of("FEEDBACK#", customer); }
  std::string operated_by(std::string_view operator_id) const { return of("OPERATOR#", operator_id); }
  std::string escalations() const { return of("ESCALATIONS", ""); }
  std::string escalated_to(std::string_view engineer) const { return of("ESCALATED#", engineer); }

  // The shard of such a partition that a ticket is in.
  std::string shard_of(std::string partition, std::string_view ticket_id) const;
  // All of them that may have tickets, also the partition without a number.
  std::vector<std::string> shards_of(std::string partition) const;

  static item::Key key(std::string pk, std::string_view sk) { return {{"PK", std::move(pk)}, {"SK", sk}}; }
  static item::Key position() { return key("ADOPTION", "POSITION"); }
  static item::Key shards() { return key("SHARDS", "CURRENT"); }

 private:
  std::string of(std::string_view kind, std::string_view name) const;
  std::string own(const std::string& kind, std::string_view key) const;

  const std::string tenant_;
  const std::string prefix_;
  const TicketShards shards_;
  const std::string customer_;  // as keys have it, with the # behind it; empty: the caller is bound to none
};

// "STATUS#READY#": what GSI1SK of a customer's tickets begins with.
std::string customer_sort_begin(TicketStatus status);

}  // namespace postino::support
