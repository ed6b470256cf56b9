#include "reminders/record/item_fields.h"

#include "reminders/record/keys.h"

namespace postino::reminders {

namespace {

// Versions and counts are added to. Larger ones are none of ours, and would overflow one day.
constexpr std::int64_t largest_whole = 9'007'199'254'740'991;  // as in JSON
constexpr int largest_count = 1'000'000'000;

}  // namespace

void ItemFields::fault(std::string_view name, std::string_view must_be) {
  if (fault_.empty()) fault_.append(name).append(" must be ").append(must_be);
}

template <class T>
const T* ItemFields::get(std::string_view name, std::string_view must_be) {
  const item::AttributeValue* const value = item_.find(name);
  if (value == nullptr || value->type() == item::Type::null) return nullptr;
  const T* const found = value->get_if<T>();
  if (found == nullptr) fault(name, must_be);
  return found;
}

std::string ItemFields::text(std::string_view name) {
  const auto* const value = get<std::string>(name, "a string");
  return value != nullptr ? *value : std::string();
}

std::int64_t ItemFields::whole(std::string_view name) {
  const auto* const value = get<item::Number>(name, "a number");
  if (value == nullptr) return 0;
  const auto whole = value->to_int64();
  const bool is_whole = whole && item::Number(*whole) == *value;
  if (is_whole && *whole >= -largest_whole && *whole <= largest_whole) return *whole;
  fault(name, is_whole ? "a whole number of at most 9007199254740991" : "a whole number");
  return 0;
}

int ItemFields::count(std::string_view name) {
  const std::int64_t value = whole(name);
  if (value >= 0 && value <= largest_count) return static_cast<int>(value);
  fault(name, "a whole number from 0 to 1000000000");
  return 0;
}

bool ItemFields::flag(std::string_view name) {
  const bool* const value = get<bool>(name, "true or false");
  return value != nullptr && *value;
}

std::optional<base::TimePoint> ItemFields::time(std::string_view name) {
  const auto* const value = get<std::string>(name, "a string");
  if (value == nullptr) return std::nullopt;
  const auto parsed = parse_seed_time(*value);
  if (!parsed) fault(name, "a time such as 2025-09-21T14:30:22Z");
  return parsed;
}

std::optional<base::TimePoint> ItemFields::moment(std::string_view name) {
  if (get<item::Number>(name, "a number") == nullptr) return std::nullopt;
  const std::int64_t value = whole(name);
  if (value >= 0 && value <= base::epoch_milliseconds(last_key_time)) return base::from_epoch_milliseconds(value);
  fault(name, "a time in milliseconds");
  return std::nullopt;
}

std::optional<base::TimePoint> ItemFields::time_of_record(std::string_view milliseconds, std::string_view text,
                                                          const std::optional<base::TimePoint>& of_key) {
  ItemFields unchecked(item_);
  ItemFields& fields = of_key ? unchecked : *this;
  auto found = fields.moment(milliseconds);
  if (!found) found = fields.time(text);
  return found ? found : of_key;
}

std::vector<std::string> ItemFields::texts(std::string_view name) {
  const item::AttributeValue* const value = item_.find(name);
  if (value == nullptr || value->type() == item::Type::null) return {};
  if (const auto* const set = value->get_if<item::StringSet>()) return set->members();
  std::vector<std::string> texts;
  const auto* const list = get<item::List>(name, "a list of strings");
  if (list == nullptr) return texts;
  for (const item::AttributeValue& each : *list)
    if (const auto* const text = each.get_if<std::string>())
      texts.push_back(*text);
    else
      fault(name, "a list of strings");
  return texts;
}

std::optional<item::Number> ItemFields::number(std::string_view name) {
  const item::AttributeValue* const value = item_.find(name);
  if (value == nullptr || value->type() == item::Type::null) return std::nullopt;
  if (const auto* const number = value->get_if<item::Number>()) return *number;
  if (const auto* const text = value->get_if<std::string>())
    if (const auto parsed = item::Number::parse(*text)) return *parsed;
  fault(name, "a number");
  return std::nullopt;
}

std::optional<Money> ItemFields::money(std::string_view amount, std::string_view currency,
                                       const std::string& usual_currency) {
  const auto value = number(amount);
  if (!value) return std::nullopt;
  const std::string named = text(currency);
  return Money{*value, named.empty() ? usual_currency : named};
}

const item::Map* ItemFields::map(std::string_view name) { return get<item::Map>(name, "a map"); }

std::string ItemFields::sort_after(std::string_view begin) {
  const std::string sort = text("SK");
  if (sort.size() > begin.size() && sort.starts_with(begin)) return sort.substr(begin.size());
  fault("SK", std::string("one that begins with ").append(begin));
  return "";
}

base::Result<void> ItemFields::check() const {
  if (fault_.empty()) return {};
  return base::fail(base::ErrorCode::corrupt, "the record " + key_text(item_) + " cannot be read: " + fault_);
}

void set_text(item::Item& item, std::string_view name, const std::string& text) {
  if (!text.empty()) item.set(std::string(name), text);
}

void set_count(item::Item& item, std::string_view name, std::int64_t count) {
  if (count != 0) item.set(std::string(name), count);
}

void set_texts(item::Item& item, std::string_view name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  item.set(std::string(name), item::List(texts.begin(), texts.end()));
}

void set_moment(item::Item& item, std::string_view name, const std::optional<base::TimePoint>& time) {
  if (time) item.set(std::string(name), base::epoch_milliseconds(*time));
}

void set_money(item::Item& item, std::string_view amount, std::string_view currency,
               const std::optional<Money>& money) {
  if (!money) return;
  item.set(std::string(amount), money->amount);
  item.set(std::string(currency), money->currency);
}

std::string key_text(const item::Item& item) {
  const auto part = [&](std::string_view name) {
    const item::AttributeValue* const value = item.find(name);
    const auto* const text = value != nullptr ? value->get_if<std::string>() : nullptr;
    return text != nullptr ? *text : std::string("?");
  };
  return part("PK") + "/" + part("SK");
}

}  // namespace postino::reminders
