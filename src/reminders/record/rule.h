// Which reminder may be sent to a customer, and when: rules that are data, and one decision. Pure code.
//
// All times are moments, not days of a calendar: seven days are 168 hours in every time zone, and a second before they
// are over a reminder is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace postino::reminders {

// May there be a rule for it, now or in another configuration?
bool is_type_name(std::string_view name);
inline constexpr std::string_view type_name_rule = "must be 1 to 40 lower-case letters, digits, _ and -";

// What must hold before a reminder of a type is sent.
struct Rule {
  std::string type;                      // "first"
  base::Milliseconds pause{0};           // since the last reminder of the same type
  std::string follows;                   // the type that the customer must have got before; empty: none
  base::Milliseconds after_followed{0};  // since the last reminder of that type

  friend bool operator==(const Rule&, const Rule&) = default;
};

// The last reminder of each type that a customer got.
struct LastSent {
  std::string type;
  base::TimePoint at;
  std::string record;  // the key of its record, so that people can look it up

  friend bool operator==(const LastSent&, const LastSent&) = default;
};

// What a decision rests on.
enum class Reason {
  allowed,
  unknown_type,    // no rule is for this type
  too_soon,        // after the last one of the same type
  missing_before,  // the type that it follows was never sent
  too_soon_after,  // the last one of the type that it follows
  stopped,         // the customer gets no reminders at all, whatever the rules say
};
std::string_view name_of(Reason reason);

struct Decision {
  Reason reason = Reason::allowed;
  std::optional<base::TimePoint> allowed_from;  // when waiting alone will do; nullopt when it will not
  std::vector<LastSent> rests_on;               // the records that decided
  std::string explanation;                      // for people, one sentence

  bool is_allowed() const { return reason == Reason::allowed; }
};

// Of a customer who gets none: why.
Decision stopped_decision(std::string why);

class Rules {
 public:
  // Those of a company that reminds three times: first, second, final.
  static Rules usual();

  // invalid, with the rule it breaks, for types without a name or with one that keys cannot have, types that occur
  // twice, that follow themselves, each other in a circle or none that exists, and for times below zero or above a
  // year.
  static base::Result<Rules> make(std::vector<Rule> rules);

  const std::vector<Rule>& all() const { return rules_; }
  // nullptr when there is none for this type.
  const Rule* find(std::string_view type) const;

  // May a reminder of this type be sent now? `sent` has at most one of each type, the last one.
  Decision decide(std::string_view type, const std::vector<LastSent>& sent, base::TimePoint now) const;

  // How long a reminder matters to these rules after it was sent.
  base::Milliseconds longest_pause() const;

 private:
  explicit Rules(std::vector<Rule> rules) : rules_(std::move(rules)) {}

  std::vector<Rule> rules_;
};

}  // namespace postino::reminders
