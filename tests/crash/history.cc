#include "history.h"

#include <algorithm>

#include "announcement.h"
#include "base/check.h"
#include "item/json_codec.h"

namespace postino::crash {

namespace {

std::string describe(const Operation& operation) { return "operation [" + to_line(operation) + "]"; }

std::int64_t integer(const item::Item& item, const char* name) {
  return item.find(name)->as<item::Number>().to_int64().value();
}

item::Item without_version(item::Item item) {
  item.erase("version");
  return item;
}

// "" when the image is what the action leaves of the item before.
std::string image_fault(const Operation& operation, const Action& action, const item::Item* before,
                        const item::Item& image) {
  if (without_version(image) != item_of(operation, action)) return "left " + item::to_json(image);
  const bool counts_on = action.type == ActionType::update && before != nullptr;
  if (integer(image, "version") != (counts_on ? integer(*before, "version") : 0) + 1) return "counted wrong";
  return "";
}

}  // namespace

void History::announced(const std::string& line) {
  ++position_;
  const char mark = line.front();
  const std::string text = line.substr(1);
  if (mark == mark_intent) {
    const auto operation = parse_line(text);
    CHECK(operation);
    Entry entry{*operation};
    entry.announced_at = position_;
    entry.applied.resize(operation->actions.size());
    CHECK(entries_.emplace(operation->id, std::move(entry)).second);
    order_.push_back(operation->id);
  } else if (mark == mark_acknowledged) {
    ++acknowledged_in_round_;
    settle(std::stoll(text), State::acknowledged);
  } else if (mark == mark_refused) {
    settle(std::stoll(text), State::refused);
  } else if (mark == mark_failed) {
    failures_.push_back("the writer failed: " + text);
  }
}

void History::settle(OperationId id, State state) {
  Entry& entry = entries_.at(id);
  entry.state = state;
  entry.settled_at = position_;
}

Faults History::check(store::Store& store, base::TimePoint now) {
  Faults faults = failures_;
  for (const TableNumber table : all_tables)
    std::ranges::move(engine::check_table(store, table_name(table)), std::back_inserter(faults));
  check_stream(store, TableNumber::orders, now, faults);
  check_stream(store, TableNumber::ledger, now, faults);
  check_notes(store, faults);
  check_switches(store, faults);
  for (const auto& [id, entry] : entries_) check_entry(entry, faults);
  return faults;
}

void History::check_stream(store::Store& store, TableNumber table, base::TimePoint now, Faults& faults) {
  engine::StreamReplay& replay = replays_.at(table);
  std::ranges::move(replay.follow(store), std::back_inserter(faults));
  for (const store::StreamRecord& record : replay.fresh()) check_record(table, record, now, faults);
}

void History::check_record(TableNumber table, const store::StreamRecord& record, base::TimePoint now, Faults& faults) {
  ++records_;
  const Place place{table, slot_of(table, record.keys)};
  const std::string what = table_name(table) + " record " + record.sequence_number.text();
  if (record.by_time_to_live) {
    if (!record.old_image || record.new_image || !record.old_image->contains("expires") ||
        integer(*record.old_image, "expires") > base::epoch_seconds(now))
      return faults.push_back(what + " expired what had not");
    expired_.emplace(place, operation_of(*record.old_image));
    return;
  }
  if (!record.new_image && !record.old_image) return faults.push_back(what + " has no image");
  const Cause cause = record.new_image ? cause_of_image(place, *record.new_image)
                                       : cause_of_removal(place, operation_of(*record.old_image));
  if (cause.entry == nullptr) return faults.push_back(what + " has no cause");
  Entry& entry = *cause.entry;
  if (entry.state == State::refused) faults.push_back(what + " shows refused " + describe(entry.operation));
  if (entry.applied[cause.action]) faults.push_back(what + " shows a second time " + describe(entry.operation));
  entry.applied[cause.action] = true;
  if (record.new_image) {
    const std::string fault = image_fault(entry.operation, entry.operation.actions[cause.action],
                                          record.old_image ? &*record.old_image : nullptr, *record.new_image);
    if (!fault.empty()) faults.push_back(what + ": " + describe(entry.operation) + " " + fault);
  }
  // Whatever was settled before another was announced comes before it.
  std::int64_t& shown_until = shown_until_[place];
  if (entry.settled_at < shown_until) faults.push_back(what + " is out of order: " + describe(entry.operation));
  shown_until = std::max(shown_until, entry.announced_at);
}

History::Cause History::cause_of_image(const Place& place, const item::Item& image) {
  const auto found = entries_.find(operation_of(image));
  if (found == entries_.end()) return {};
  const auto& actions = found->second.operation.actions;
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (Place{actions[i].table, actions[i].slot} == place &&
        (actions[i].type == ActionType::put || actions[i].type == ActionType::update))
      return {&found->second, i};
  return {};
}

// Several may have meant to remove it; the one that was acknowledged did.
History::Cause History::cause_of_removal(const Place& place, OperationId removed) {
  Cause cause;
  for (auto& [id, entry] : entries_) {
    const auto& actions = entry.operation.actions;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (actions[i].type != ActionType::remove || Place{actions[i].table, actions[i].slot} != place ||
          actions[i].seen != removed || entry.applied[i] || entry.state == State::refused)
        continue;
      if (cause.entry == nullptr || entry.state == State::acknowledged) cause = {&entry, i};
    }
  }
  return cause;
}

// Must the action show in the stream, if it was done?
bool History::leaves_record(const Action& action) const {
  if (action.table == TableNumber::notes || action.type == ActionType::check) return false;
  if (action.type != ActionType::remove || action.conditional) return true;
  return action.seen != nothing && !expired_.contains({{action.table, action.slot}, action.seen});
}

void History::check_entry(const Entry& entry, Faults& faults) const {
  const auto& actions = entry.operation.actions;
  std::size_t wanted = 0;
  std::size_t applied = 0;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (!leaves_record(actions[i])) continue;
    ++wanted;
    if (entry.applied[i]) ++applied;
  }
  if (entry.state == State::acknowledged && applied != wanted) faults.push_back("lost: " + describe(entry.operation));
  if (entry.state == State::in_flight && entry.operation.type == OperationType::transaction && applied != 0 &&
      applied != wanted)
    faults.push_back("half done: " + describe(entry.operation));
}

void History::check_notes(store::Store& store, Faults& faults) {
  found_notes_.clear();
  for (item::Item& item : engine::scan_everything(store, table_name(TableNumber::notes)))
    found_notes_.emplace(slot_of(TableNumber::notes, item), std::move(item));

  // One thread writes each slot, so at most the last operation on it can be in flight.
  std::map<int, std::set<OperationId>> possible;
  for (const auto& [slot, item] : notes_) possible[slot] = {operation_of(item)};
  for (const OperationId id : order_) {
    Entry& entry = entries_.at(id);
    if (entry.state == State::refused) continue;
    for (std::size_t i = 0; i < entry.operation.actions.size(); ++i) {
      const Action& action = entry.operation.actions[i];
      if (action.table != TableNumber::notes) continue;
      const OperationId left = action.type == ActionType::remove ? nothing : id;
      std::set<OperationId>& states = possible.try_emplace(action.slot, std::set{nothing}).first->second;
      if (entry.state == State::acknowledged) states.clear();
      states.insert(left);
      const auto found = found_notes_.find(action.slot);
      entry.applied[i] = left == (found == found_notes_.end() ? nothing : operation_of(found->second));
      if (entry.applied[i] && left != nothing && without_version(found->second) != item_of(entry.operation, action))
        faults.push_back(describe(entry.operation) + " left " + item::to_json(found->second));
    }
  }
  for (const auto& [slot, states] : possible) {
    const auto found = found_notes_.find(slot);
    const OperationId state = found == found_notes_.end() ? nothing : operation_of(found->second);
    if (!states.contains(state))
      faults.push_back("notes " + std::to_string(slot) + " is as operation " + std::to_string(state) + " left it");
  }
  for (const auto& [slot, item] : found_notes_)
    if (!possible.contains(slot)) faults.push_back("notes " + std::to_string(slot) + " came from nowhere");
}

void History::check_switches(store::Store& store, Faults& faults) {
  const auto orders = store.describe_table(table_name(TableNumber::orders));
  const auto notes = store.describe_table(table_name(TableNumber::notes));
  if (!orders || !notes) return faults.push_back("a table is gone");
  found_switches_.index = std::ranges::find(orders->global_indexes, "by_tag", &store::IndexDescription::name) !=
                          orders->global_indexes.end();
  found_switches_.stream = notes->stream.has_value();

  std::set<bool> index{switches_.index};
  std::set<bool> stream{switches_.stream};
  for (const OperationId id : order_) {
    const Entry& entry = entries_.at(id);
    if (!entry.operation.is_control() || entry.state == State::refused) continue;
    const OperationType type = entry.operation.type;
    const bool is_index = type == OperationType::create_index || type == OperationType::remove_index;
    std::set<bool>& states = is_index ? index : stream;
    if (entry.state == State::acknowledged) states.clear();
    states.insert(type == OperationType::create_index || type == OperationType::enable_stream);
  }
  if (!index.contains(found_switches_.index)) faults.push_back("the index by_tag is not as it was left");
  if (!stream.contains(found_switches_.stream)) faults.push_back("the stream of notes is not as it was left");
}

Faults History::repeat_transactions(store::Store& store) {
  Faults faults;
  for (auto& [id, entry] : entries_) {
    if (entry.state != State::in_flight || !entry.operation.token) continue;
    const bool done = std::ranges::find(entry.applied, true) != entry.applied.end();
    const Result result = perform(store, entry.operation);
    ++position_;
    ++repeated_;
    settle(id, result.outcome == Outcome::acknowledged ? State::acknowledged : State::refused);
    if (result.outcome == Outcome::failed || (done && result.outcome == Outcome::refused))
      faults.push_back("repeated " + describe(entry.operation) + ": " + result.message);
  }
  return faults;
}

void History::end_round(Totals& totals) {
  for (const auto& [id, entry] : entries_) {
    const bool applied = std::ranges::find(entry.applied, true) != entry.applied.end();
    if (entry.state == State::acknowledged) ++totals.acknowledged;
    if (entry.state == State::refused) ++totals.refused;
    if (entry.state == State::in_flight) ++(applied ? totals.in_flight_applied : totals.in_flight_not_applied);
  }
  totals.expired += static_cast<std::int64_t>(expired_.size());
  totals.stream_records += records_;
  totals.repeated_transactions += repeated_;
  records_ = 0;
  repeated_ = 0;
  acknowledged_in_round_ = 0;
  entries_.clear();
  order_.clear();
  expired_.clear();
  notes_ = found_notes_;
  switches_ = found_switches_;
}

}  // namespace postino::crash
