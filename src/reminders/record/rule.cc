#include "reminders/record/rule.h"

#include <algorithm>

#include "base/duration_words.h"
#include "base/timestamp.h"

namespace postino::reminders {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_types = 20;
constexpr std::size_t longest_type = 40;
constexpr base::Milliseconds longest_time = 366 * 24h;

bool is_time(base::Milliseconds time) { return time >= 0ms && time <= longest_time; }

const LastSent* last_of(const std::vector<LastSent>& sent, std::string_view type) {
  const auto found = std::ranges::find(sent, type, &LastSent::type);
  return found == sent.end() ? nullptr : &*found;
}

Decision refuse(Reason reason, std::string explanation) {
  Decision decision;
  decision.reason = reason;
  decision.explanation = std::move(explanation);
  return decision;
}

}  // namespace

bool is_type_name(std::string_view name) {
  const auto fits = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
  };
  return !name.empty() && name.size() <= longest_type && std::ranges::all_of(name, fits);
}

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::allowed:
      return "allowed";
    case Reason::unknown_type:
      return "unknown_type";
    case Reason::too_soon:
      return "too_soon";
    case Reason::missing_before:
      return "missing_before";
    case Reason::too_soon_after:
      return "too_soon_after";
    case Reason::stopped:
      return "stopped";
  }
  return "";
}

Decision stopped_decision(std::string why) { return refuse(Reason::stopped, std::move(why)); }

Rules Rules::usual() {
  return Rules({{.type = "first", .pause = 7 * 24h, .follows = {}, .after_followed = {}},
                {.type = "second", .pause = 5 * 24h, .follows = "first", .after_followed = 7 * 24h},
                {.type = "final", .pause = 3 * 24h, .follows = "second", .after_followed = 5 * 24h}});
}

base::Result<Rules> Rules::make(std::vector<Rule> rules) {
  if (rules.empty() || rules.size() > most_types)
    return base::invalid("there must be 1 to " + std::to_string(most_types) + " types of reminders");
  Rules made(std::move(rules));
  for (const Rule& rule : made.rules_) {
    const std::string type = "the type " + rule.type;
    if (!is_type_name(rule.type)) return base::invalid(std::string("a type of reminders ").append(type_name_rule));
    if (std::ranges::count(made.rules_, rule.type, &Rule::type) > 1) return base::invalid(type + " occurs twice");
    if (!is_time(rule.pause) || !is_time(rule.after_followed))
      return base::invalid(type + ": times must be from 0 to " + base::duration_in_words(longest_time));
    if (rule.follows.empty() && rule.after_followed > 0ms)
      return base::invalid(type + " has a time after another type, and names none that it follows");
  }
  for (const Rule& rule : made.rules_) {
    const Rule* before = &rule;
    for (std::size_t steps = 0; !before->follows.empty(); ++steps) {
      const Rule* const next = made.find(before->follows);
      if (next == nullptr)
        return base::invalid("the type " + before->type + " follows " + before->follows + ", which does not exist");
      if (steps == made.rules_.size()) return base::invalid("the type " + rule.type + " follows itself in the end");
      before = next;
    }
  }
  return made;
}

const Rule* Rules::find(std::string_view type) const {
  const auto found = std::ranges::find(rules_, type, &Rule::type);
  return found == rules_.end() ? nullptr : &*found;
}

Decision Rules::decide(std::string_view type, const std::vector<LastSent>& sent, base::TimePoint now) const {
  const Rule* const rule = find(type);
  if (rule == nullptr)
    return refuse(Reason::unknown_type, "there is no rule for reminders of the type " + std::string(type));
  const LastSent* const same = last_of(sent, type);
  const LastSent* const before = rule->follows.empty() ? nullptr : last_of(sent, rule->follows);
  if (!rule->follows.empty() && before == nullptr)
    return refuse(Reason::missing_before,
                  "a " + rule->type + " reminder follows a " + rule->follows + " one, and none was sent");

  // Both may hold it up. Whichever does so longer is told, so that the time is true.
  const auto after_same = same != nullptr ? std::optional(same->at + rule->pause) : std::nullopt;
  const auto after_before = before != nullptr ? std::optional(before->at + rule->after_followed) : std::nullopt;
  const bool same_holds = after_same && now < *after_same;
  const bool before_holds = after_before && now < *after_before;
  Decision decision;
  if (before_holds && (!same_holds || *after_before > *after_same)) {
    decision =
        refuse(Reason::too_soon_after,
               "a " + rule->type + " reminder is sent at least " + base::duration_in_words(rule->after_followed) +
                   " after the " + rule->follows + " one, which was sent at " + base::format_timestamp(before->at));
    decision.allowed_from = after_before;
  } else if (same_holds) {
    decision =
        refuse(Reason::too_soon, "a " + rule->type + " reminder was sent at " + base::format_timestamp(same->at) +
                                     ", and there is none within " + base::duration_in_words(rule->pause));
    decision.allowed_from = after_same;
  } else {
    decision.allowed_from = now;
    decision.explanation = "no rule is against it";
  }
  if (same != nullptr) decision.rests_on.push_back(*same);
  if (before != nullptr) decision.rests_on.push_back(*before);
  return decision;
}

base::Milliseconds Rules::longest_pause() const {
  base::Milliseconds longest{0};
  for (const Rule& rule : rules_) longest = std::max({longest, rule.pause, rule.after_followed});
  return longest;
}

}  // namespace postino::reminders
