// Statements about many rows at once: their text and their parameters.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "mysql/value.h"

namespace postino::outbox {

// A connection keeps some statements prepared, so those about many rows come in few sizes.
//
// The next size, for statements that can say something twice without harm:
std::size_t rounded_up(std::size_t count);
// The largest size that does not exceed the count, for callers that make several statements then:
std::size_t rounded_down(std::size_t count);

// "element, element, element"
std::string repeated(std::string_view element, std::size_t count);
// For IN: "(?, ?, ?)"
inline std::string placeholders(std::size_t count) { return "(" + repeated("?", count) + ")"; }

// For FROM_UNIXTIME in columns of the type TIMESTAMP, which have no milliseconds and end in 2038.
std::int64_t timestamp(base::TimePoint time);

// Parameters, and the texts that were made for them.
class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  // What it refers to must live as long as this.
  void add(mysql::Parameter parameter) { list_.push_back(parameter); }
  // The same for text that goes into a column of characters, which the database would refuse when it were too long or
  // not UTF-8: such text is cut and repaired.
  void add_text(std::string_view text, std::size_t most_bytes = largest_text);
  void keep(std::string text) { list_.emplace_back(std::string_view(kept_.emplace_back(std::move(text)))); }

  // Adds the last so many once more, and again, until there are so many in all.
  void repeat_last(std::size_t length, std::size_t until);

  std::span<const mysql::Parameter> list() const { return list_; }

 private:
  static constexpr std::size_t largest_text = 65'535;  // of a TEXT column

  std::vector<mysql::Parameter> list_;
  std::deque<std::string> kept_;  // stay where they are
};

}  // namespace postino::outbox
