#include "metrics/figures/reminder_figures.h"

#include <algorithm>
#include <array>
#include <set>

#include "item/attribute_text.h"

namespace postino::metrics {

namespace {

constexpr std::array<std::string_view, 5> draft_words = {"draft", "approved", "rejected", "withdrawn", "expired"};
constexpr std::array<std::string_view, 2> sent_words = {"sent", "failed"};
constexpr std::string_view draft_begin = "DRAFT#", sent_begin = "SENT#";

// Other programs may write anything: what is not known has one name, so that there is no end of figures.
template <class Words>
std::string known_word(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end() ? word : "other";
}

bool is_of_a_reminder(const item::Key& key) {
  const std::string sort = item::attribute_text(key, "SK");
  return (sort.starts_with(draft_begin) || sort.starts_with(sent_begin)) &&
         owner_of(item::attribute_text(key, "PK")).rest.starts_with("CUSTOMER#");
}

std::optional<base::TimePoint> first_moment(const item::Item& item, std::string_view name, std::string_view other) {
  const auto moment = moment_in(item, name);
  return moment ? moment : moment_in(item, other);
}

base::Result<Contribution> count_reminder(const std::vector<std::string>& types, const item::Item& item) {
  const item::AttributeValue* const status = item.find("status");
  if (status == nullptr || status->get_if<std::string>() == nullptr)
    return base::invalid("status of a reminder must be a text");
  const std::string& word = status->as<std::string>();
  Contribution counted;
  counted.tenant = owner_of(item::attribute_text(item, "PK")).tenant;
  if (item::attribute_text(item, "SK").starts_with(draft_begin)) {
    counted.figures.emplace_back("reminders_by_status#" + known_word(draft_words, word), Amount{.count = 1});
    if (const auto at = first_moment(item, "created_at_ms", "created_date"))
      counted.events.push_back({.name = "reminders_drafted", .at = *at});
    return counted;
  }
  const std::string name = known_word(sent_words, word);
  counted.figures.emplace_back("reminders_by_status#" + name, Amount{.count = 1});
  if (name != "sent") return counted;
  const std::string type = known_word(types, item::attribute_text(item, "reminder_type"));
  counted.figures.emplace_back("reminders_by_type#" + type, Amount{.count = 1});
  if (const auto at = first_moment(item, "sent_at_ms", "sent_date"))
    counted.events.push_back({.name = "reminders_sent#" + type, .at = *at});
  return counted;
}

}  // namespace

Source reminder_source(std::string table, base::Milliseconds kept_for, const std::vector<std::string>& types) {
  Source source{.name = "reminders",
                .table = std::move(table),
                .concerns = is_of_a_reminder,
                .count = [types](const item::Item& item) { return count_reminder(types, item); },
                .kept_for = kept_for,
                .known_figures = {}};
  for (const std::string_view word : draft_words)
    source.known_figures.push_back("reminders_by_status#" + std::string(word));
  for (const std::string_view word : sent_words)
    source.known_figures.push_back("reminders_by_status#" + std::string(word));
  source.known_figures.emplace_back("reminders_by_status#other");
  // Each once, also if a rule has that name: a read must not ask for the same item twice.
  std::set<std::string> names(types.begin(), types.end());
  names.insert("other");
  for (const std::string& type : names) source.known_figures.push_back("reminders_by_type#" + type);
  return source;
}

}  // namespace postino::metrics
