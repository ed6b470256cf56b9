#include "base/timestamp.h"

#include <optional>
#include <string>

namespace postino::base {

namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::year_month_day;

// Reads an RFC 3339 text from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<int> number(std::size_t digits) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (const char digit : rest_.substr(0, digits)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      value = value * 10 + (digit - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  bool skip(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    last_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }
  char last() const { return last_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  char last_ = 0;
};

std::optional<TimePoint> read_date(Reader& reader) {
  const auto year = reader.number(4);
  if (!year || !reader.skip("-")) return std::nullopt;
  const auto month = reader.number(2);
  if (!month || !reader.skip("-")) return std::nullopt;
  const auto day = reader.number(2);
  if (!day) return std::nullopt;
  const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                            std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::time_point_cast<Milliseconds>(std::chrono::sys_days(date));
}

std::optional<Milliseconds> read_fraction(Reader& reader) {
  int milliseconds = 0;
  int digits = 0;
  while (const auto digit = reader.number(1)) {
    if (digits < 3) milliseconds = milliseconds * 10 + *digit;
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  for (int i = digits; i < 3; ++i) milliseconds *= 10;
  return Milliseconds(milliseconds);
}

std::optional<Milliseconds> read_time(Reader& reader) {
  const auto hour = reader.number(2);
  if (!hour || *hour > 23 || !reader.skip(":")) return std::nullopt;
  const auto minute = reader.number(2);
  if (!minute || *minute > 59 || !reader.skip(":")) return std::nullopt;
  const auto second = reader.number(2);
  if (!second || *second > 60) return std::nullopt;  // 60: a leap second, which counts as the next one
  Milliseconds time = hours(*hour) + minutes(*minute) + seconds(*second);
  if (reader.skip(".")) {
    const auto fraction = read_fraction(reader);
    if (!fraction) return std::nullopt;
    time += *fraction;
  }
  return time;
}

std::optional<minutes> read_offset(Reader& reader) {
  if (reader.skip("Zz")) return minutes(0);
  if (!reader.skip("+-")) return std::nullopt;
  const bool west = reader.last() == '-';
  const auto hour = reader.number(2);
  if (!hour || *hour > 23 || !reader.skip(":")) return std::nullopt;
  const auto minute = reader.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  const minutes offset = hours(*hour) + minutes(*minute);
  return west ? -offset : offset;
}

std::optional<TimePoint> read_timestamp(std::string_view text) {
  Reader reader(text);
  const auto date = read_date(reader);
  if (!date || !reader.skip("Tt ")) return std::nullopt;
  const auto time = read_time(reader);
  if (!time) return std::nullopt;
  const auto offset = read_offset(reader);
  if (!offset || !reader.at_end()) return std::nullopt;
  const TimePoint moment = *date + *time - *offset;
  // An offset can lead into a year that has no four digits.
  const std::chrono::year year = year_month_day(floor<days>(moment)).year();
  if (year < std::chrono::year(0) || year > std::chrono::year(9'999)) return std::nullopt;
  return moment;
}

void append_digits(std::string& text, std::int64_t number, std::size_t digits) {
  const std::size_t begin = text.size();
  text.resize(begin + digits);
  for (std::size_t place = begin + digits; place > begin; number /= 10)
    text[--place] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string format_timestamp(TimePoint time) {
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const int year = static_cast<int>(date.year());
  const std::int64_t of_day = (time - day).count();
  // Every e-mail has a dozen of these, so they are not printed by a format.
  std::string text;
  text.reserve(24);
  if (year < 0 || year > 9'999)
    text += std::to_string(year);
  else
    append_digits(text, year, 4);
  append_digits(text += '-', static_cast<unsigned>(date.month()), 2);
  append_digits(text += '-', static_cast<unsigned>(date.day()), 2);
  append_digits(text += 'T', of_day / 3'600'000, 2);
  append_digits(text += ':', of_day / 60'000 % 60, 2);
  append_digits(text += ':', of_day / 1'000 % 60, 2);
  append_digits(text += '.', of_day % 1'000, 3);
  return text += 'Z';
}

std::string format_day(TimePoint time) {
  const std::string text = format_timestamp(time);
  return text.substr(0, 4) + text.substr(5, 2) + text.substr(8, 2);
}

TimePoint end_of_day(TimePoint time) { return std::chrono::time_point_cast<Milliseconds>(floor<days>(time) + days(1)); }

Result<TimePoint> parse_timestamp(std::string_view text) {
  if (const auto time = read_timestamp(text)) return *time;
  return invalid("must be an RFC 3339 date and time, such as 2026-11-15T09:30:00Z");
}

}  // namespace postino::base
