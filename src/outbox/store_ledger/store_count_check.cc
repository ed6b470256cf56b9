#include "outbox/store_ledger/store_count_check.h"

#include <algorithm>

#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "outbox/email/last_time.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"

namespace postino::outbox {

namespace {

constexpr std::size_t most_unreadable = 20;
constexpr std::chrono::hours one_day{24};

std::string name_of_slice(const CountChanges::Slice& slice) {
  const std::string whose = slice.tenant == all_tenants_name ? "e-mails" : "e-mails of tenant " + slice.tenant;
  return "counts of " + whose + ", day " + slice.day;
}

std::string number_of(std::int64_t count) { return std::to_string(count) + (count == 1 ? " is " : " are "); }

}  // namespace

void StoreCountCheck::add(const std::string& table, const item::Item& item) {
  if (table == tables_.emails) add_email(item);
  if (table == tables_.counts()) add_slice(item);
}

void StoreCountCheck::add_email(const item::Item& item) {
  if (item::attribute_text(item, "Status") != meta_status) return;
  const auto counted = counted_email_of(item);
  if (!counted) {
    ++unreadable_count_;
    if (unreadable_.size() < most_unreadable) unreadable_.push_back(counted.error().message);
    return;
  }
  const std::optional<Email>& email = *counted;
  if (!email) return;
  for (const CountChanges::Slice& slice : CountChanges::slices_of(*email)) {
    Day& day = days_[slice];
    ++day.there[static_cast<std::size_t>(email->state)];
    day.expires = std::min(day.expires, base::end_of_day(kept_from(*email)) + keep_);
  }
}

void StoreCountCheck::add_slice(const item::Item& slice) {
  const std::string name = item::attribute_text(slice, "Slice");
  Day& day = days_[{item::attribute_text(slice, "Tenant"), name.substr(0, name.find('#'))}];
  for (const State state : all_states()) {
    const auto place = static_cast<std::size_t>(state);
    store::add_count(day.counted[place], slice, name_of(state));
    const item::AttributeValue* const value = slice.find(name_of(state));
    if (value != nullptr && !store::whole_count(*value)) day.is_spoilt[place] = true;
  }
  const item::AttributeValue* const ttl = slice.find("TTL");
  const auto second = ttl != nullptr ? store::whole_count(*ttl) : std::nullopt;
  if (second && *second >= 0 && *second <= last_second)
    day.expires = std::min(day.expires, base::from_epoch_milliseconds(*second * 1'000));
}

bool StoreCountCheck::may_differ(const Day& day, State state) const {
  const auto place = static_cast<std::size_t>(state);
  if (!may_be_finished(state)) return false;
  if (day.expires <= now_) return true;
  return day.expires <= now_ + one_day && day.counted[place] > day.there[place];
}

std::vector<std::string> StoreCountCheck::differences() const {
  std::vector<std::string> lines;
  for (const auto& [slice, day] : days_)
    for (const State state : all_states()) {
      const auto place = static_cast<std::size_t>(state);
      const std::string what = name_of_slice(slice) + ": ";
      const std::string name(name_of(state));
      if (day.is_spoilt[place])
        lines.push_back(what + "the count of " + name + " is no whole number");
      else if (day.counted[place] != day.there[place] && !may_differ(day, state))
        lines.push_back(what + number_of(day.there[place]) + name + ", counted as " +
                        std::to_string(day.counted[place]));
    }
  return lines;
}

std::vector<std::string> StoreCountCheck::unreadable() const {
  std::vector<std::string> lines = unreadable_;
  if (unreadable_count_ > lines.size())
    lines.push_back("the records of " + std::to_string(unreadable_count_ - lines.size()) +
                    " more e-mails cannot be read");
  return lines;
}

}  // namespace postino::outbox
