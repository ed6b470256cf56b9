#include "capacity/estimate.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace postino::capacity {

namespace {

constexpr int unit_places = 1;
constexpr std::int64_t hours_per_whole_day = 24;

Decimal percent_of(const Decimal& value, std::int64_t percent) {
  return (value * percent) * Decimal(1).divided_by(100, 2);
}

// Puts the lines together. Requests that there are none of have none.
class Lines {
 public:
  void add(std::string what, UnitKind unit, const Decimal& per_second, const Decimal& units_each,
           const std::string& index = "") {
    if (per_second.is_zero()) return;
    all_.push_back({std::move(what), index, unit, per_second, units_each, per_second * units_each});
  }
  std::vector<EstimateLine> take() { return std::move(all_); }

 private:
  std::vector<EstimateLine> all_;
};

void add_table_lines(const Workload& load, Lines& lines) {
  using enum Consistency;
  using enum UnitKind;
  const std::int64_t bytes = load.item_bytes;
  lines.add("strong reads", read, load.strong_reads, read_units(bytes, strong));
  lines.add("eventual reads", read, load.eventual_reads, read_units(bytes, eventual));
  lines.add("transactional reads", read, load.transactional_reads, read_units(bytes, transactional));
  lines.add(load.consistent_queries ? "consistent queries" : "queries", read, load.queries,
            page_units(load.items_per_query * bytes, load.consistent_queries ? strong : eventual));
  lines.add("writes", write, load.writes, write_units(bytes, bytes));
  lines.add("transactional writes", write, load.transactional_writes, write_units(bytes, bytes, true));
  lines.add("deletes", write, load.deletes, write_units(bytes, 0));
  lines.add("failed writes", write, load.failed_writes, write_units(bytes, 0));
  lines.add("expiries", write, load.expiries, 0);
  lines.add("stream reads", stream_read, load.stream_reads, 1);
}

// Of the writes to the table, so many reach the index: with one write, or with two when they change its key.
void add_index_lines(const Workload& load, const IndexWorkload& index, Lines& lines) {
  using enum UnitKind;
  const std::string& name = index.name;
  const std::int64_t bytes = index.entry_bytes;
  lines.add("queries", read, index.queries, page_units(index.entries_per_query * bytes, Consistency::eventual), name);
  const std::int64_t once = index_write_units({.before_bytes = bytes, .after_bytes = bytes});
  const std::int64_t twice = index_write_units({.before_bytes = bytes, .after_bytes = bytes, .key_changed = true});
  const std::int64_t removal = index_write_units({.before_bytes = bytes});
  for (const auto& [what, writes, factor] :
       {std::tuple("writes", load.writes, std::int64_t{1}),
        std::tuple("transactional writes", load.transactional_writes, transaction_factor)}) {
    const Decimal indexed = percent_of(writes, index.items_percent);
    lines.add(what, write, percent_of(indexed, index.changes_percent - index.key_changes_percent), factor * once, name);
    lines.add(std::string(what) + " with another key", write, percent_of(indexed, index.key_changes_percent),
              factor * twice, name);
  }
  lines.add("deletes", write, percent_of(load.deletes, index.items_percent), removal, name);
}

Decimal units_of(const std::vector<EstimateLine>& lines, UnitKind unit, const std::string* index = nullptr) {
  Decimal units;
  for (const EstimateLine& line : lines)
    if (line.unit == unit && (index == nullptr || line.index == *index)) units += line.units_per_second;
  return units;
}

Decimal stored_gigabytes(const Workload& load) {
  if (load.storage_gb) return *load.storage_gb;
  if (!load.items) return 0;
  Decimal bytes = stored_bytes(*load.items, load.item_bytes);
  for (const IndexWorkload& index : load.indexes)
    bytes += percent_of(stored_bytes(*load.items, index.entry_bytes), index.items_percent);
  return gigabytes_of(bytes);
}

Decimal beyond(const Decimal& value, const Decimal& free) { return value > free ? value - free : Decimal(); }

std::vector<ProvisionedCapacity> capacity_for(const Workload& load, const std::vector<EstimateLine>& lines) {
  std::vector<std::string> owners{""};
  for (const IndexWorkload& index : load.indexes) owners.push_back(index.name);
  std::vector<ProvisionedCapacity> capacity;
  for (const std::string& owner : owners)
    capacity.push_back({owner, provisioned_units(units_of(lines, UnitKind::read, &owner), load.utilisation_percent),
                        provisioned_units(units_of(lines, UnitKind::write, &owner), load.utilisation_percent)});
  return capacity;
}

Costs provisioned_costs(const Workload& load, const PriceBook& book, const std::vector<ProvisionedCapacity>& capacity) {
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  for (const ProvisionedCapacity& each : capacity) {
    reads += each.read_units;
    writes += each.write_units;
  }
  if (load.free_tier && load.storage_class == StorageClass::standard) {
    reads = std::max<std::int64_t>(0, reads - book.free.read_units);
    writes = std::max<std::int64_t>(0, writes - book.free.write_units);
  }
  const ClassPrices& prices = book.of(load.storage_class);
  Costs costs;
  costs.reads = provisioned_read_cost(book, prices, reads);
  costs.writes = provisioned_write_cost(book, prices, writes);
  return costs;
}

BreakEven break_even_of(const Workload& load, const PriceBook& book, const Costs& provisioned, const Costs& on_demand) {
  const ClassPrices& prices = book.of(load.storage_class);
  BreakEven result;
  result.read_utilisation_percent =
      break_even_utilisation_percent(prices.provisioned_read_hour, prices.on_demand_read_million);
  result.write_utilisation_percent =
      break_even_utilisation_percent(prices.provisioned_write_hour, prices.on_demand_write_million);
  if (on_demand.requests().is_zero() || provisioned.requests().is_zero()) return result;
  const Decimal part = (provisioned.requests() * 100).divided_by(on_demand.requests(), percent_places);
  // The requests take utilisation_percent of the capacity. It cannot serve more than all of it.
  if (part * load.utilisation_percent <= Decimal(100 * 100)) result.load_percent = part;
  const Decimal hours = (provisioned.requests() * load.hours_per_day).divided_by(on_demand.requests(), percent_places);
  if (hours <= Decimal(hours_per_whole_day)) result.hours_per_day = hours;
  return result;
}

std::vector<std::string> notes_for(const Workload& load, const PriceBook& book) {
  std::vector<std::string> notes;
  notes.push_back("Prices of " + book.region + " since " + book.valid_from + ": " + book.name + ", in " +
                  book.currency + ".");
  if (!load.free_tier) notes.emplace_back("Without the free tier of an account.");
  if (!load.expiries.is_zero()) notes.emplace_back("What expires by its time to live costs nothing.");
  if (load.hours_per_day < hours_per_whole_day)
    notes.emplace_back("Provisioned capacity is paid for all day; requests on demand only while there are any.");
  if (load.storage_gb && !load.indexes.empty())
    notes.emplace_back("storage_gb is taken as it is: with the indexes, and 100 bytes for each item and each entry.");
  return notes;
}

}  // namespace

std::string_view name_of(Mode mode) { return mode == Mode::on_demand ? "on_demand" : "provisioned"; }

std::string_view name_of(UnitKind kind) {
  switch (kind) {
    case UnitKind::read:
      return "read";
    case UnitKind::write:
      return "write";
    case UnitKind::stream_read:
      break;
  }
  return "stream_read";
}

Estimate estimate(const Workload& load, const PriceBook& book) {
  Lines lines;
  add_table_lines(load, lines);
  for (const IndexWorkload& index : load.indexes) add_index_lines(load, index, lines);
  Estimate result;
  result.lines = lines.take();
  result.read_units_per_second = units_of(result.lines, UnitKind::read);
  result.write_units_per_second = units_of(result.lines, UnitKind::write);
  // A month has hours_per_month / 24 days, of hours_per_day hours each.
  const std::int64_t seconds = seconds_per_hour / hours_per_whole_day * book.hours_per_month * load.hours_per_day;
  result.read_units_per_month = (result.read_units_per_second * seconds).rounded(unit_places);
  result.write_units_per_month = (result.write_units_per_second * seconds).rounded(unit_places);
  result.stream_reads_per_month = (load.stream_reads * seconds).rounded(unit_places);
  result.storage_gb = stored_gigabytes(load);
  result.capacity = capacity_for(load, result.lines);

  const ClassPrices& prices = book.of(load.storage_class);
  result.provisioned = provisioned_costs(load, book, result.capacity);
  result.on_demand.reads = on_demand_read_cost(prices, result.read_units_per_month);
  result.on_demand.writes = on_demand_write_cost(prices, result.write_units_per_month);
  const FreeTier free = load.free_tier ? book.free : FreeTier();
  const bool has_free_storage = load.storage_class == StorageClass::standard;
  for (Costs* const costs : {&result.provisioned, &result.on_demand}) {
    costs->storage = storage_cost(prices, beyond(result.storage_gb, has_free_storage ? free.storage_gb : 0));
    costs->stream_reads = stream_read_cost(book, beyond(result.stream_reads_per_month, free.stream_reads));
  }
  const Decimal provisioned = result.provisioned.total();
  const Decimal on_demand = result.on_demand.total();
  result.recommendation = provisioned < on_demand ? Mode::provisioned : Mode::on_demand;
  const Decimal dearer = std::max(provisioned, on_demand);
  result.saving = dearer - std::min(provisioned, on_demand);
  if (!dearer.is_zero()) result.saving_percent = (result.saving * 100).divided_by(dearer, percent_places);
  result.break_even = break_even_of(load, book, result.provisioned, result.on_demand);
  result.notes = notes_for(load, book);
  return result;
}

}  // namespace postino::capacity
