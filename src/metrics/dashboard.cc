#include "metrics/dashboard.h"

#include <algorithm>
#include <charconv>

#include "base/metrics_text.h"
#include "base/timestamp.h"
#include "json/writer.h"
#include "metrics/follow/checkpoint.h"

namespace postino::metrics {

namespace {

// What other programs have put there counts as nothing; and no count is shown below zero.
std::int64_t shown_count(const item::Item& item, std::string_view name) {
  const item::AttributeValue* const value = item.find(name);
  const auto* const number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return number != nullptr ? std::max<std::int64_t>(number->to_int64().value_or(0), 0) : 0;
}

std::int64_t shown_total(const item::Item& item, std::string_view name) {
  const item::AttributeValue* const value = item.find(name);
  const auto* const number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return number != nullptr ? std::max<std::int64_t>(thousandths_of(*number).value_or(0), 0) : 0;
}

// Whose figures are summed.
std::vector<std::string> parts_of(const std::string& tenant) {
  if (tenant == everybody) return {"", std::string(all_tenants)};
  return {tenant};
}

bool has_total(std::string_view figure) { return total_attribute(figure) != "total_value"; }

SourceState state_of(const std::string& name, const item::Item* item) {
  SourceState state{.name = name, .as_of = std::nullopt, .due = std::string(nothing_counted)};
  if (item == nullptr) return state;
  const auto checkpoint = read_checkpoint(*item);
  if (!checkpoint) {
    state.due = checkpoint_spoilt;
    return state;
  }
  state.due = checkpoint->due;
  if (!checkpoint->place.stream.empty()) state.as_of = checkpoint->at;
  return state;
}

// "07 tickets_resolved total" is slot 7, its event, and whether it is the sum.
struct ReadSlot {
  int slot = 0;
  std::string event;
  bool is_total = false;
};
std::optional<ReadSlot> read_slot(const std::string& attribute) {
  constexpr std::string_view total_end = " total";
  if (attribute.size() < 4 || attribute[2] != ' ') return std::nullopt;
  ReadSlot read;
  const auto [end, error] = std::from_chars(attribute.data(), attribute.data() + 2, read.slot);
  if (error != std::errc() || end != attribute.data() + 2) return std::nullopt;
  read.is_total = attribute.ends_with(total_end);
  read.event = attribute.substr(3, attribute.size() - 3 - (read.is_total ? total_end.size() : 0));
  return read;
}

void add_points(const item::Item& item, Unit unit, base::TimePoint begin,
                std::map<base::TimePoint, HistoryPoint>& out) {
  for (const item::Attribute& attribute : item) {
    const auto slot = read_slot(attribute.name);
    const auto* const number = attribute.value.get_if<item::Number>();
    if (!slot || number == nullptr) continue;
    const base::TimePoint at = begin + slot->slot * slot_of(unit);
    Amount amount;
    if (slot->is_total)
      amount.thousandths = std::max<std::int64_t>(thousandths_of(*number).value_or(0), 0);
    else
      amount.count = std::max<std::int64_t>(number->to_int64().value_or(0), 0);
    if (amount.is_zero()) continue;
    HistoryPoint& point = out[at];
    point.begin = at;
    point.events[slot->event] += amount;
  }
}

void write_amount(json::Writer& writer, const Amount& amount, bool with_average) {
  writer.begin_object();
  writer.key("count").integer(amount.count);
  if (with_average) {
    writer.key("total").raw(number_of_thousandths(amount.thousandths).to_string());
    writer.key("average").raw(number_of_thousandths(average_of(amount)).to_string());
  }
  writer.end_object();
}

}  // namespace

Dashboard::Dashboard(store::Store& store, std::string table, const std::vector<Source>& sources, store::Retry retry)
    : store_(store), table_(std::move(table)), retry_(std::move(retry)) {
  for (const Source& source : sources) sources_.push_back({source.name, source.known_figures});
}

base::Result<std::map<std::string, item::Item>> Dashboard::get(const std::vector<std::string>& names) {
  std::map<std::string, item::Item> found;
  for (std::size_t begin = 0; begin < names.size(); begin += store::max_batch_get_keys) {
    store::BatchGetTable table;
    table.table_name = table_;
    // The figures of one commit are shown together, and no reader sees them fall behind what was shown before.
    table.consistent_read = true;
    for (std::size_t i = begin; i < std::min(begin + store::max_batch_get_keys, names.size()); ++i)
      table.keys.push_back(metric_key(names[i]));
    store::BatchGetItemRequest request;
    request.tables.push_back(std::move(table));
    while (!request.tables.empty()) {
      auto answer = retry_([&] { return store_.batch_get_item(request); });
      if (!answer) return base::propagate(store::as_error(answer.error()));
      for (auto& items : answer->tables)
        for (item::Item& item : items.items) {
          std::string name = item.find(name_attribute)->as<std::string>();
          found.emplace(std::move(name), std::move(item));
        }
      request.tables = std::move(answer->unprocessed);
    }
  }
  return found;
}

std::vector<std::string> Dashboard::sources() const {
  std::vector<std::string> names;
  for (const Known& source : sources_) names.push_back(source.name);
  return names;
}

base::Result<Figures> Dashboard::read(const std::string& tenant) {
  const std::vector<std::string> tenants = parts_of(tenant);
  std::vector<std::string> names;
  for (const Known& source : sources_) {
    names.push_back(checkpoint_name(source.name));
    for (const std::string& tenant : tenants)
      for (const std::string& figure : source.figures) names.push_back(figure_name(tenant, figure));
  }
  TRY(const auto found, get(names));
  Figures figures;
  for (const Known& source : sources_) {
    const auto checkpoint = found.find(checkpoint_name(source.name));
    figures.sources.push_back(state_of(source.name, checkpoint != found.end() ? &checkpoint->second : nullptr));
    for (const std::string& figure : source.figures) {
      Amount& amount = figures.by_name[figure];
      for (const std::string& tenant : tenants)
        if (const auto item = found.find(figure_name(tenant, figure)); item != found.end()) {
          amount.count += shown_count(item->second, count_attribute);
          amount.thousandths += shown_total(item->second, total_attribute(figure));
        }
    }
  }
  for (const CountedElsewhere& counted : elsewhere_) {
    TRY(auto more, counted(tenant));
    figures.by_name.merge(more);
  }
  return figures;
}

base::Result<std::vector<HistoryPoint>> Dashboard::history(const std::string& tenant, const std::string& source,
                                                           Unit unit, base::TimePoint from, base::TimePoint to) {
  if (std::ranges::find(sources_, source, &Known::name) == sources_.end())
    return base::invalid("source must be one that is counted");
  if (from >= to) return base::invalid("from must be before to");
  if (to - from > kept_of(unit) + span_of(unit))
    return base::invalid(unit == Unit::minutes ? "minutes are kept for a day" : "hours are kept for 90 days");
  std::vector<std::string> names;
  std::vector<base::TimePoint> begins;
  for (const std::string& each : parts_of(tenant))
    for (base::TimePoint begin = span_begin(unit, from); begin < to; begin += span_of(unit)) {
      names.push_back(history_name(each, source, unit, begin));
      begins.push_back(begin);
    }
  TRY(const auto found, get(names));
  std::map<base::TimePoint, HistoryPoint> points;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto item = found.find(names[i]); item != found.end()) add_points(item->second, unit, begins[i], points);
  std::vector<HistoryPoint> answer;
  for (auto& [begin, point] : points)
    if (begin + slot_of(unit) > from && begin < to) answer.push_back(std::move(point));
  return answer;
}

std::vector<HistoryPoint> by_day(const std::vector<HistoryPoint>& hours) {
  std::vector<HistoryPoint> days;
  for (const HistoryPoint& hour : hours) {
    const base::TimePoint begin = span_begin(Unit::hours, hour.begin);
    if (days.empty() || days.back().begin != begin) days.push_back({begin, {}});
    for (const auto& [name, amount] : hour.events) days.back().events[name] += amount;
  }
  return days;
}

std::string figures_json(const Figures& figures) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  std::string group;  // of the names with a '#'
  for (const auto& [name, amount] : figures.by_name) {
    const std::size_t mark = name.find('#');
    const std::string begin = mark == std::string::npos ? "" : name.substr(0, mark);
    if (!group.empty() && begin != group) writer.end_object();
    if (!begin.empty() && begin != group) writer.any_key(begin).begin_object();
    group = begin;
    if (begin.empty()) {
      writer.any_key(name);
      write_amount(writer, amount, has_total(name));
    } else {
      writer.any_key(name.substr(mark + 1)).integer(amount.count);
    }
  }
  if (!group.empty()) writer.end_object();
  writer.key("sources").begin_array();
  for (const SourceState& source : figures.sources) {
    writer.begin_object();
    writer.key("name").string(source.name);
    if (source.as_of) writer.key("as_of").string(base::format_timestamp(*source.as_of));
    if (!source.due.empty()) writer.key("counted_anew_because").string(source.due);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  return text;
}

std::string history_json(const std::vector<HistoryPoint>& points) {
  std::string text;
  json::Writer writer(text);
  writer.begin_array();
  for (const HistoryPoint& point : points) {
    writer.begin_object();
    writer.key("begin").string(base::format_timestamp(point.begin));
    for (const auto& [name, amount] : point.events) {
      writer.any_key(name);
      write_amount(writer, amount, amount.thousandths != 0);
    }
    writer.end_object();
  }
  writer.end_array();
  return text;
}

void append_figures(std::string& out, const Figures& figures) {
  std::string group;
  for (const auto& [name, amount] : figures.by_name) {
    const std::size_t mark = name.find('#');
    if (mark == std::string::npos) {
      const std::string metric = "postino_" + name;
      base::append_metric(out, metric + "_count", "gauge", "How many were measured.", std::to_string(amount.count));
      base::append_metric(out, metric + "_sum", "gauge", "The sum of what was measured.",
                          number_of_thousandths(amount.thousandths).to_string());
      continue;
    }
    const std::string metric = "postino_" + name.substr(0, mark);
    if (metric != group) base::append_metric_head(out, metric, "gauge", "How many there are now.");
    group = metric;
    out.append(metric).append("{").append("kind=\"").append(name.substr(mark + 1)).append("\"} ");
    out.append(std::to_string(amount.count)).append("\n");
  }
}

}  // namespace postino::metrics
