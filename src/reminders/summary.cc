#include "reminders/summary.h"

#include <array>

#include "reminders/record/invoice.h"
#include "reminders/record/keys.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

namespace {

// Shown on every day, also where nothing happened.
constexpr std::array<std::string_view, 8> usual_counts = {"drafts_created", "approved", "rejected", "withdrawn",
                                                          "sent",           "failed",   "bounced",  "paid"};
constexpr std::string_view sent_of_type = "sent:";

}  // namespace

OrRefusal<DaySummary> Summary::of_day(const std::string& date, const std::string& tenant) {
  DaySummary summary;
  summary.date = date.empty() ? date_of(store_.clock().now()) : date;
  if (!is_date(summary.date)) return refuse_field("date", std::string(date_rule));
  for (const std::string_view name : usual_counts) summary.counts.emplace(name, 0);
  TRY(const auto items, store_.get_all(store_.keys(tenant).summary(summary.date), std::string(counts_begin),
                                       static_cast<std::size_t>(summary_shards)));
  for (const item::Item& item : items)
    for (const item::Attribute& attribute : item) {
      const auto* const number = attribute.value.get_if<item::Number>();
      if (number == nullptr) continue;
      const std::int64_t count = number->to_int64().value_or(0);
      if (attribute.name.starts_with(sent_of_type))
        summary.sent_by_type[attribute.name.substr(sent_of_type.size())] += count;
      else
        summary.counts[attribute.name] += count;
    }
  return summary;
}

}  // namespace postino::reminders
