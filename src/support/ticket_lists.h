// Lists of tickets, newest first. Each costs the same however many tickets there are. Callers that are bound to a
// customer get that customer's tickets from every list. Safe to call from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/ticket_store.h"

namespace postino::support {

// Everything that is given must hold.
struct TicketFilter {
  std::string customer_id = {};
  std::optional<TicketStatus> status = std::nullopt;
  std::string priority = {};
  std::string product_type = {};
  std::string error_code = {};
  std::optional<base::TimePoint> from = std::nullopt;   // created at or after
  std::optional<base::TimePoint> until = std::nullopt;  // created before
};

struct TicketCounts {
  struct OfStatus {
    TicketStatus status = TicketStatus::fresh;
    std::int64_t count = 0;
    bool is_least = false;  // there are more
  };
  std::vector<OfStatus> by_status = {};  // of every status
};

class TicketLists {
 public:
  explicit TicketLists(TicketStore& store) : store_(store) {}

  // Uses the most selective of error code, product, customer and priority; otherwise the status, or all. A page may be
  // short, even empty, and yet have a cursor: one call looks at a bounded number of tickets. Pages of 20 for a
  // customer, and of 100 otherwise.
  OrRefusal<Page<Ticket>> find(const TicketFilter& filter, const PageRequest& page, const Actor& actor);
  // How many there are of each status, up to 1,000: more are not counted.
  OrRefusal<TicketCounts> count(const Actor& actor);
  // Those that are escalated, the last one first; of one engineer unless the name is empty. Pages of 50.
  OrRefusal<Page<Ticket>> escalated(const std::string& engineer, const PageRequest& page, const Actor& actor);

 private:
  // The entries of all ranges, as far as that.
  OrRefusal<std::int64_t> count_entries(const store::MergedListing& listing, std::int64_t most);
  // The tickets that the entries of a list lead to, if they are as the filter wants them.
  template <class Wanted>
  OrRefusal<Page<Ticket>> follow(const store::MergedListing& listing, const PageRequest& page, int usual,
                                 const Actor& actor, const Wanted& wanted);

  TicketStore& store_;
};

}  // namespace postino::support
