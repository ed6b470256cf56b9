// How much of a quota is used: requests a second and e-mails a day, of a holder of keys or of a tenant.
//
// Requests are counted in memory by each server, with a bucket of tokens: a second's worth at once. E-mails are counted
// in memory as well, and added up in the store every minute, where all servers find the sum. So a server that crashes
// forgets the e-mails of a minute, and several servers together may go beyond the quota by those of a minute.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/stored_key.h"
#include "base/clock.h"

namespace postino::access {

inline constexpr std::string_view requests_quota = "requests";
inline constexpr std::string_view emails_quota = "emails";

// Of a quota at a moment.
struct QuotaState {
  std::string_view name;  // requests_quota, emails_quota
  std::int64_t limit = 0;
  std::int64_t window = 0;  // seconds that the limit is for
  std::int64_t left = 0;
  std::int64_t seconds = 0;  // until there is more
};

// Safe to use from any thread.
class QuotaMeter {
 public:
  // "key" and the name of its holder, or "tenant" and the name of the tenant.
  QuotaMeter(std::string_view of, std::string name, const Quota& quota) : of_(of), name_(std::move(name)) {
    set_quota(quota);
  }

  void set_quota(const Quota& quota);
  Quota quota() const;
  std::string_view of() const { return of_; }
  const std::string& name() const { return name_; }

  // Takes nothing, and says which quota is used up, if one is.
  std::optional<QuotaState> take_request(base::Milliseconds monotonic);
  std::optional<QuotaState> take_emails(base::TimePoint now, std::int64_t count);
  // E-mails that were taken, and were not accepted.
  void give_back_emails(base::TimePoint now, std::int64_t count);
  // Of the quotas that there are.
  std::vector<QuotaState> states(base::TimePoint now, base::Milliseconds monotonic);

  struct Day {
    std::string day;  // "20261119"
    std::int64_t emails = 0;
  };
  // What the store does not have yet; it is taken to be written. It can be given back.
  std::optional<Day> take_unwritten();
  void give_back_unwritten(const Day& day);
  // What the store has, of all servers.
  void note_written(const Day& total);

  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t refused = 0;
    std::int64_t emails_today = 0;
  };
  Counts counts(base::TimePoint now);

 private:
  void begin_day(base::TimePoint now);      // under the lock
  void fill(base::Milliseconds monotonic);  // under the lock
  std::int64_t emails_today() const { return written_ + being_written_ + unwritten_; }

  const std::string_view of_;
  const std::string name_;
  mutable std::mutex mutex_;
  Quota quota_;
  double tokens_ = -1;  // below 0: full
  base::Milliseconds filled_at_{0};
  std::string day_;
  std::int64_t written_ = 0;
  std::int64_t being_written_ = 0;
  std::int64_t unwritten_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t refused_ = 0;
};

// Those that count for one caller: of the key, of the tenant.
using QuotaMeters = std::vector<std::shared_ptr<QuotaMeter>>;

// Of the first that refuses; what the others have given is not taken back, as a refused request has cost something.
std::optional<QuotaState> take_request(const QuotaMeters& meters, base::Milliseconds monotonic);
// All or none.
std::optional<QuotaState> take_emails(const QuotaMeters& meters, base::TimePoint now, std::int64_t count);
void give_back_emails(const QuotaMeters& meters, base::TimePoint now, std::int64_t count);

}  // namespace postino::access
