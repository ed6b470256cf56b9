#include "mysql/database_clock.h"

namespace postino::mysql {

namespace {

constexpr base::Milliseconds quick{200};
constexpr base::Milliseconds good_for = std::chrono::minutes(1);

}  // namespace

DatabaseClock::DatabaseClock(const base::Clock& own)
    : own_(own), offset_(base::epoch_milliseconds(own.now()) - own.monotonic().count()) {}

base::TimePoint DatabaseClock::now() const {
  return base::from_epoch_milliseconds(offset_.load() + own_.monotonic().count());
}

Result<void> DatabaseClock::measure(Connection& connection) {
  const base::Milliseconds before = own_.monotonic();
  // Of UTC, so that no time zone of a session and no end of summer time matters.
  TRY(const Rows rows, connection.query("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000"));
  const base::Milliseconds after = own_.monotonic();
  if (is_measured_ && after - before > quick && after - measured_at_ < good_for) return {};
  // It may have said so at any moment between the two. At the last: what waits for its time must not go early.
  offset_ = rows[0].number(0) - after.count();
  is_measured_ = true;
  measured_at_ = after;
  return {};
}

}  // namespace postino::mysql
