#include "capacity/observation.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/text.h"
#include "base/timestamp.h"
#include "item/json_codec.h"
#include "item/ordered_key_reader.h"

namespace postino::capacity {

namespace {

constexpr std::size_t shown_keys = 5;  // of each kind, of each table and index
constexpr std::int64_t least_shown_share_percent = 1;
constexpr std::int64_t short_watch_seconds = 3'600;
constexpr std::size_t shown_key_bytes = 200;  // of a key that is cut

Decimal units_in(std::uint64_t halves) { return Decimal::halves(static_cast<std::int64_t>(halves)); }

// How much it would be in a month, from what it was in this time.
struct Pace {
  std::int64_t milliseconds = 1'000;
  std::int64_t month_seconds = 0;

  Decimal per_month(const Decimal& amount) const {
    return (amount * month_seconds * 1'000).divided_by(milliseconds, 0);
  }
  // Of the busiest minute; when less than a minute has passed, of that.
  Decimal per_second(std::uint64_t halves) const {
    return (units_in(halves) * 1'000).divided_by(std::min<std::int64_t>(milliseconds, 60'000), 3);
  }
};

// The key as it was before the store put it in order.
std::string key_text(const store::TrafficSource& source, const HeavyHitters::Key& key) {
  const bool is_last = source.index.empty();  // of a table the only part is the last one, which is as it is
  item::Key values;
  item::OrderedKeyReader in(key.bytes);
  bool is_whole = !key.is_cut;
  for (const store::KeyAttribute& part : source.hash) {
    std::optional<item::AttributeValue> value;
    if (is_last && part.type == item::Type::string)
      value = item::AttributeValue(key.bytes);
    else if (is_last && part.type == item::Type::binary)
      value = item::AttributeValue(item::Binary{key.bytes});
    else
      value = in.read(part.type);
    is_whole = is_whole && value.has_value();
    if (value) values.set(part.name, *std::move(value));
  }
  if (is_whole) return item::to_json(values);
  std::string text;
  base::append_printable(text, key.bytes, shown_key_bytes);
  return text;
}

std::vector<HotKey> hot_keys_of(const TrafficWatch::Source& source, bool reads) {
  const TrafficCounts& counts = source.counts;
  const Decimal all = units_in(reads ? counts.read_halves : counts.write_halves);
  std::vector<HotKey> keys;
  for (const HeavyHitters::Key& each : reads ? counts.read_keys : counts.written_keys) {
    HotKey key{.table = source.source.table, .index = source.source.index, .reads = reads};
    key.key = key_text(source.source, each);
    key.is_cut = each.is_cut;
    key.units = units_in(each.amount);
    key.most_excess = units_in(each.most_excess);
    key.most_in_a_second = units_in(each.most_in_a_second);
    if (!all.is_zero()) key.share_percent = ((key.units - key.most_excess) * 100).divided_by(all, percent_places);
    keys.push_back(std::move(key));
  }
  return keys;
}

void add_keys(Observation& observation, const TrafficWatch::Source& source) {
  for (const bool reads : {true, false}) {
    std::vector<HotKey> keys = hot_keys_of(source, reads);
    const Decimal limit = reads ? partition_read_units : partition_write_units;
    for (const HotKey& key : keys)
      if (key.most_in_a_second > limit) observation.hot_partitions.push_back(key);
    // Among many keys that get little, the ones that were counted last are there by chance.
    std::erase_if(keys, [](const HotKey& key) { return key.share_percent < Decimal(least_shown_share_percent); });
    if (keys.size() > shown_keys) keys.resize(shown_keys);
    std::ranges::move(keys, std::back_inserter(observation.hot_keys));
  }
}

ObservedPart part_of(const TrafficCounts& counts, const std::string& index, const Pace& pace) {
  ObservedPart part{.index = index, .reads = counts.reads, .writes = counts.writes};
  part.failed_writes = counts.failed_writes;
  part.read_units = units_in(counts.read_halves);
  part.scan_units = units_in(counts.scan_halves);
  part.write_units = units_in(counts.write_halves);
  part.backfill_units = units_in(counts.backfill_halves);
  part.read_units_per_month = pace.per_month(part.read_units);
  part.write_units_per_month = pace.per_month(part.write_units);
  return part;
}

// The tables and indexes that there are, each with what was counted of it.
class CountedTables {
 public:
  CountedTables(const TrafficWatch::Sighting& sighting, const Pace& pace) : pace_(pace) {
    for (const TrafficWatch::Source& source : sighting.sources)
      sources_.emplace(std::pair(source.source.table, source.source.index), &source);
  }

  ObservedTable take(const store::TableDescription& description) {
    ObservedTable table{.table = description.name};
    if (description.table_class == store::TableClass::standard_infrequent_access)
      table.storage_class = StorageClass::infrequent_access;
    TrafficCounts busiest = take(table, "", description.item_count, description.size_bytes);
    for (const store::IndexDescription& index : description.local_indexes) {
      const TrafficCounts counts = take(table, index.name, index.item_count, index.size_bytes);
      busiest.busiest_minute_read_halves += counts.busiest_minute_read_halves;
      busiest.busiest_minute_write_halves += counts.busiest_minute_write_halves;
    }
    provision(table.parts.front(), busiest);
    for (const store::IndexDescription& index : description.global_indexes) {
      const TrafficCounts counts = take(table, index.name, index.item_count, index.size_bytes);
      provision(table.parts.back(), counts);
    }
    return table;
  }

  // What was counted of those that were taken.
  const std::vector<const TrafficWatch::Source*>& taken() const { return taken_; }

  // What belongs to no table and no index that there is.
  Decimal units_left() const {
    std::uint64_t halves = 0;
    for (const auto& [name, source] : sources_) halves += source->counts.read_halves + source->counts.write_halves;
    return units_in(halves);
  }

 private:
  TrafficCounts take(ObservedTable& table, const std::string& index, std::int64_t items, std::int64_t bytes) {
    const auto found = sources_.find(std::pair(table.table, index));
    TrafficCounts counts;
    if (found != sources_.end()) {
      counts = found->second->counts;
      taken_.push_back(found->second);
      sources_.erase(found);
    }
    ObservedPart part = part_of(counts, index, pace_);
    part.items = items;
    part.stored_bytes = bytes + items * item_overhead_bytes;
    table.parts.push_back(std::move(part));
    return counts;
  }

  void provision(ObservedPart& part, const TrafficCounts& busiest) const {
    part.provisioned_read_units =
        provisioned_units(pace_.per_second(busiest.busiest_minute_read_halves), usual_utilisation_percent);
    part.provisioned_write_units =
        provisioned_units(pace_.per_second(busiest.busiest_minute_write_halves), usual_utilisation_percent);
  }

  const Pace pace_;
  std::map<std::pair<std::string, std::string>, const TrafficWatch::Source*> sources_;
  std::vector<const TrafficWatch::Source*> taken_;
};

void price(ObservedTable& table, const PriceBook& book) {
  const ClassPrices& prices = book.of(table.storage_class);
  Decimal reads;
  Decimal writes;
  Decimal bytes;
  std::int64_t provisioned_reads = 0;
  std::int64_t provisioned_writes = 0;
  for (const ObservedPart& part : table.parts) {
    reads += part.read_units_per_month;
    writes += part.write_units_per_month;
    bytes += part.stored_bytes;
    provisioned_reads += part.provisioned_read_units;
    provisioned_writes += part.provisioned_write_units;
  }
  table.on_demand.reads = on_demand_read_cost(prices, reads);
  table.on_demand.writes = on_demand_write_cost(prices, writes);
  table.provisioned.reads = provisioned_read_cost(book, prices, provisioned_reads);
  table.provisioned.writes = provisioned_write_cost(book, prices, provisioned_writes);
  table.on_demand.storage = table.provisioned.storage = storage_cost(prices, gigabytes_of(bytes));
  const Decimal on_demand = table.on_demand.total();
  const Decimal provisioned = table.provisioned.total();
  table.recommendation = provisioned < on_demand ? Mode::provisioned : Mode::on_demand;
  table.saving = std::max(on_demand, provisioned) - std::min(on_demand, provisioned);
}

// When it was first used since the watch began. An index that was made meanwhile is used when it is filled, so one that
// was not used was there before, or is empty.
base::TimePoint first_use(const std::vector<const TrafficWatch::Source*>& sources, const std::string& table,
                          const std::string& index, base::TimePoint watch_began) {
  for (const TrafficWatch::Source* const each : sources)
    if (each->source.table == table && each->source.index == index) return each->since;
  return watch_began;
}

void add_unread_indexes(Observation& observation, const std::vector<const TrafficWatch::Source*>& sources,
                        const PriceBook& book, const std::set<std::string>& own) {
  for (const ObservedTable& table : observation.tables) {
    if (own.contains(table.table)) continue;
    const ClassPrices& prices = book.of(table.storage_class);
    for (const ObservedPart& part : std::span(table.parts).subspan(1)) {
      if (part.reads > 0) continue;
      const Decimal cost = on_demand_write_cost(prices, part.write_units_per_month) +
                           storage_cost(prices, gigabytes_of(part.stored_bytes));
      if (cost.is_zero()) continue;  // nothing is gained without it
      const base::TimePoint since = first_use(sources, table.table, part.index, observation.since);
      observation.unread_indexes.push_back({table.table, part.index, since, part.write_units_per_month, cost});
    }
  }
}

void add_totals(Observation& observation, const PriceBook& book, const Pace& pace) {
  for (const ObservedTable& table : observation.tables) {
    observation.on_demand = observation.on_demand + table.on_demand;
    observation.provisioned = observation.provisioned + table.provisioned;
    observation.best += std::min(table.on_demand.total(), table.provisioned.total());
    for (const ObservedPart& part : table.parts)
      observation.backfill_cost += on_demand_write_cost(book.of(table.storage_class), part.backfill_units);
  }
  const Decimal streams = stream_read_cost(book, pace.per_month(observation.stream_reads));
  observation.on_demand.stream_reads = observation.provisioned.stream_reads = streams;
  observation.best += streams;
  const Decimal on_demand = observation.on_demand.total();
  const Decimal provisioned = observation.provisioned.total();
  observation.recommendation = provisioned < on_demand ? Mode::provisioned : Mode::on_demand;
  observation.saving = std::max(on_demand, provisioned) - std::min(on_demand, provisioned);
}

// Of each service and operation, however many tables it is about. Those of another class have other prices.
void add_services(Observation& observation, const std::vector<TrafficWatch::Operation>& operations,
                  const ServiceNames& services, const PriceBook& book, const Pace& pace) {
  struct Halves {
    std::uint64_t read = 0;
    std::uint64_t write = 0;
  };
  std::map<std::pair<std::string, std::string>, std::map<StorageClass, Halves>> sums;
  for (const TrafficWatch::Operation& each : operations) {
    const auto service = services.find(each.table);
    const auto table = std::ranges::find(observation.tables, each.table, &ObservedTable::table);
    const StorageClass storage_class =
        table == observation.tables.end() ? StorageClass::standard : table->storage_class;
    Halves& sum =
        sums[{service == services.end() ? std::string(other_service) : service->second, each.operation}][storage_class];
    sum.read += each.read_halves;
    sum.write += each.write_halves;
  }
  for (const auto& [name, classes] : sums) {
    ObservedService service{.service = name.first, .operation = name.second};
    for (const auto& [storage_class, halves] : classes) {
      const ClassPrices& prices = book.of(storage_class);
      service.read_units += units_in(halves.read);
      service.write_units += units_in(halves.write);
      service.cost += on_demand_read_cost(prices, pace.per_month(units_in(halves.read))) +
                      on_demand_write_cost(prices, pace.per_month(units_in(halves.write)));
    }
    observation.services.push_back(std::move(service));
  }
}

void add_notes(Observation& observation, const PriceBook& book) {
  std::vector<std::string>& notes = observation.notes;
  notes.push_back("Prices of " + book.region + " since " + book.valid_from + ": " + book.name + ", in " +
                  book.currency + ", without the free tier of an account.");
  if (observation.seconds < short_watch_seconds)
    notes.push_back("Watched for " + std::to_string(observation.seconds) +
                    " s: a month is estimated from that, and may be quite different. Watch for a day or longer.");
  notes.emplace_back("Provisioned capacity is for the busiest minute of that time, at " +
                     std::to_string(usual_utilisation_percent) + " % use.");
  if (!observation.other_units.is_zero())
    notes.push_back("There were too many tables and indexes to watch: " + observation.other_units.text() +
                    " units are not in any table's figures.");
  if (!observation.deleted_units.is_zero())
    notes.push_back("Tables and indexes that were deleted meanwhile took " + observation.deleted_units.text() +
                    " units. They are in no figure of a month: they will take no more.");
  Decimal filled;
  for (const ObservedTable& table : observation.tables)
    for (const ObservedPart& part : table.parts) filled += part.backfill_units;
  if (!filled.is_zero())
    notes.push_back("Filling new indexes with the items that were there took " + filled.text() +
                    " write units, which cost " + observation.backfill_cost.text(cents) +
                    " on demand, once. They are in no figure of a month.");
}

}  // namespace

Observation observe(const TrafficWatch::Sighting& sighting, const std::vector<store::TableDescription>& tables,
                    const PriceBook& book, const std::set<std::string>& own, const ServiceNames& services) {
  const Pace pace{std::max<std::int64_t>(1'000, sighting.elapsed.count()), book.hours_per_month * seconds_per_hour};
  Observation observation{.since = sighting.since, .until = sighting.until};
  observation.seconds = sighting.elapsed.count() / 1'000;
  observation.stream_reads = Decimal(static_cast<std::int64_t>(sighting.stream_reads));
  observation.other_units = units_in(sighting.others.read_halves + sighting.others.write_halves);
  CountedTables counted(sighting, pace);
  for (const store::TableDescription& description : tables) observation.tables.push_back(counted.take(description));
  observation.deleted_units = counted.units_left();
  for (ObservedTable& table : observation.tables) price(table, book);
  for (const TrafficWatch::Source* const source : counted.taken()) {
    add_keys(observation, *source);
    for (const LargeItem& item : source->counts.large_items)
      observation.large_items.push_back({source->source.table, item.key, static_cast<std::int64_t>(item.bytes)});
  }
  add_unread_indexes(observation, counted.taken(), book, own);
  add_totals(observation, book, pace);
  add_services(observation, sighting.operations, services, book, pace);
  add_notes(observation, book);
  observation.advice = advice_for(observation, book);
  return observation;
}

}  // namespace postino::capacity
