#include "metrics/figures/tally.h"

#include "base/check.h"

namespace postino::metrics {

namespace {

template <class Entries, class Name>
void add_entry(Entries& entries, const Name& name, const Amount& amount) {
  if (amount.is_zero()) return;
  const auto [place, is_new] = entries.try_emplace(name);
  place->second += amount;
  if (place->second.is_zero()) entries.erase(place);
}

std::int64_t expiry_of(const HistoryName& history) {
  return base::epoch_seconds(history.begin + span_of(history.unit) + kept_of(history.unit));
}

// "ADD #0 :0, #1 :1", with the names and values that belong to it.
class Additions {
 public:
  void add(std::string name, item::AttributeValue value) {
    const std::string number = std::to_string(count_++);
    text_ += text_.empty() ? "ADD #" : ", #";
    text_.append(number).append(" :").append(number);
    names.emplace("#" + number, std::move(name));
    values.set(":" + number, std::move(value));
  }
  const std::string& text() const { return text_; }

  expr::Names names;
  item::Map values;

 private:
  std::string text_;
  int count_ = 0;
};

store::TransactUpdate finished(const std::string& table, std::string name, const std::string& source,
                               Additions additions, const std::string& more = "") {
  store::TransactUpdate update;
  update.table_name = table;
  update.key = metric_key(std::move(name));
  additions.names.emplace("#source", std::string(source_attribute));
  additions.values.set(":source", source);
  update.update = additions.text() + " SET #source = :source" + more;
  update.placeholders.names = std::move(additions.names);
  update.placeholders.values = std::move(additions.values);
  return update;
}

store::TransactUpdate figure_update(const std::string& table, const std::string& source, const FigureName& name,
                                    const Amount& amount) {
  Additions additions;
  additions.add(std::string(count_attribute), amount.count);
  const bool has_total = amount.thousandths != 0;
  if (has_total) additions.add(std::string(total_attribute(name.name)), number_of_thousandths(amount.thousandths));
  std::string condition;
  if (amount.count < 0) {
    condition = "#0 >= :least";
    additions.values.set(":least", -amount.count);
  }
  if (amount.thousandths < 0) {
    condition += condition.empty() ? "#1 >= :least_total" : " AND #1 >= :least_total";
    additions.values.set(":least_total", number_of_thousandths(-amount.thousandths));
  }
  store::TransactUpdate update = finished(table, figure_name(name.tenant, name.name), source, std::move(additions));
  if (!condition.empty()) update.condition = std::move(condition);
  return update;
}

store::TransactUpdate history_update(const std::string& table, const std::string& source, const HistoryName& history,
                                     const Tally::Slots& slots) {
  Additions additions;
  for (const auto& [slot, amount] : slots) {
    if (amount.count != 0) additions.add(slot_attribute(slot.slot, slot.event), amount.count);
    if (amount.thousandths != 0)
      additions.add(slot_total_attribute(slot.slot, slot.event), number_of_thousandths(amount.thousandths));
  }
  additions.names.emplace("#ttl", std::string(metrics_ttl));
  additions.values.set(":ttl", expiry_of(history));
  return finished(table, history_name(history.tenant, source, history.unit, history.begin), source,
                  std::move(additions), ", #ttl = :ttl");
}

item::Item history_item(const std::string& source, const HistoryName& history, const Tally::Slots& slots) {
  item::Item item = metric_key(history_name(history.tenant, source, history.unit, history.begin));
  item.set(std::string(source_attribute), source);
  item.set(std::string(metrics_ttl), expiry_of(history));
  for (const auto& [slot, amount] : slots) {
    if (amount.count != 0) item.set(slot_attribute(slot.slot, slot.event), amount.count);
    if (amount.thousandths != 0)
      item.set(slot_total_attribute(slot.slot, slot.event), number_of_thousandths(amount.thousandths));
  }
  return item;
}

}  // namespace

void Tally::add_figure(const FigureName& name, const Amount& amount) { add_entry(figures_, name, amount); }

void Tally::add_slot(const HistoryName& history, const SlotName& slot, const Amount& amount) {
  Slots& slots = history_[history];
  slots_ -= slots.size();
  add_entry(slots, slot, amount);
  slots_ += slots.size();
  if (slots.empty()) history_.erase(history);
}

void Tally::add(const Contribution& contribution, bool is_negative, base::TimePoint now, bool with_history) {
  std::vector<std::string> tenants = {contribution.tenant};
  if (!contribution.tenant.empty()) tenants.emplace_back(all_tenants);
  for (const std::string& tenant : tenants) {
    for (const auto& [name, amount] : contribution.figures) add_figure({tenant, name}, is_negative ? -amount : amount);
    if (!with_history) continue;
    for (const Event& event : contribution.events)
      for (const Unit unit : {Unit::minutes, Unit::hours}) {
        if (!is_kept(unit, event.at, now)) continue;
        const base::TimePoint begin = span_begin(unit, event.at);
        const auto slot = static_cast<int>((event.at - begin) / slot_of(unit));
        add_slot({tenant, unit, begin}, {slot, event.name}, is_negative ? -event.amount : event.amount);
      }
  }
}

void Tally::add(const Contribution& contribution, base::TimePoint now) { add(contribution, false, now, true); }

void Tally::subtract(const Contribution& contribution, base::TimePoint now, bool keeps_history) {
  add(contribution, true, now, !keeps_history);
}

void Tally::add_all(const Tally& other, bool is_negative) {
  for (const auto& [name, amount] : other.figures_) add_figure(name, is_negative ? -amount : amount);
  for (const auto& [history, slots] : other.history_)
    for (const auto& [slot, amount] : slots) add_slot(history, slot, is_negative ? -amount : amount);
}

void Tally::add(const Tally& other) { add_all(other, false); }
void Tally::subtract(const Tally& other) { add_all(other, true); }

base::Result<void> tally_change(const Source& source, const store::StreamRecord& record, base::TimePoint now,
                                Tally& tally) {
  if (!source.concerns(record.keys)) return {};
  if (record.view_type != store::StreamViewType::new_and_old_images)
    return base::invalid("the stream of table " + source.table + " must have new and old images");
  base::Result<void> fault;
  if (record.old_image) {
    if (const auto counted = contribution_of(source, *record.old_image))
      tally.subtract(*counted, now, record.by_time_to_live);
    // It was told of when it came.
  }
  if (record.new_image) {
    if (const auto counted = contribution_of(source, *record.new_image))
      tally.add(*counted, now);
    else
      fault = base::propagate(counted.error());
  }
  return fault;
}

std::vector<store::TransactAction> tally_updates(const std::string& table, const std::string& source,
                                                 const Tally& tally) {
  std::vector<store::TransactAction> updates;
  updates.reserve(tally.items());
  for (const auto& [name, amount] : tally.figures()) updates.emplace_back(figure_update(table, source, name, amount));
  for (const auto& [history, slots] : tally.history())
    updates.emplace_back(history_update(table, source, history, slots));
  return updates;
}

item::Item figure_item(const std::string& source, const FigureName& name, const Amount& amount) {
  item::Item item = metric_key(figure_name(name.tenant, name.name));
  item.set(std::string(source_attribute), source);
  item.set(std::string(count_attribute), amount.count);
  const std::string_view total = total_attribute(name.name);
  if (amount.thousandths != 0 || total != "total_value")
    item.set(std::string(total), number_of_thousandths(amount.thousandths));
  return item;
}

std::vector<item::Item> tally_items(const std::string& source, const Tally& tally) {
  std::vector<item::Item> items;
  for (const auto& [name, amount] : tally.figures()) items.push_back(figure_item(source, name, amount));
  for (const auto& [history, slots] : tally.history()) items.push_back(history_item(source, history, slots));
  return items;
}

}  // namespace postino::metrics
