// The traffic of a store, as it is told to its observer: which tables and indexes are read and written, how many
// units of capacity each request takes, and in which partitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "item/value.h"

namespace postino::store {

struct KeyAttribute {
  std::string name;
  item::Type type = item::Type::string;
};

// What a meter counts: a table, or one of its indexes.
struct TrafficSource {
  std::string table;
  std::string index;                  // empty: the table itself
  bool global = false;                // of an index
  std::vector<KeyAttribute> hash;     // of its partition key
  std::vector<std::string> item_key;  // names of the attributes that an item of the table is known by
};

// One partition key. The bytes are those of item/ordered_key.h: of a table the key as a last part, of an index its
// parts one after the other.
struct Partition {
  std::uint32_t hash = 0;
  std::string_view bytes;
};

enum class TrafficKind : std::uint8_t {
  read,
  scan,  // a read of all partitions, or of many
  write,
  failed_write,  // whose condition did not hold
  backfill,      // of a new index with the items that were there before: once, and by the store itself
};

// One item that was read or written, one page of a query or a scan, one entry of an index, or some entries of a new
// one.
struct Traffic {
  TrafficKind kind = TrafficKind::read;
  double units = 0;
  std::optional<Partition> partition;   // none: several
  const item::Item* written = nullptr;  // of a write: what the item is now; nullptr when it was deleted
  std::size_t written_size = 0;
};

// Called by any thread, in the middle of a request: it must be quick, and must not call the store.
class TrafficMeter {
 public:
  virtual ~TrafficMeter() = default;
  virtual void count(const Traffic& traffic) = 0;
};

class TrafficObserver {
 public:
  virtual ~TrafficObserver() = default;

  // Asked for once for each table and index that is used, and again after the store was opened again, or the table was
  // made again. Never nullptr.
  virtual std::shared_ptr<TrafficMeter> meter(TrafficSource source) = 0;
  // One request for records of a change stream.
  virtual void count_stream_read() = 0;
  // Units that a call took of a table with its indexes. Only a store on other machines tells this: what its calls are
  // is what is paid for there.
  virtual void count_call(std::string_view /*operation*/, const std::string& /*table*/, double /*read_units*/,
                          double /*write_units*/) {}
};

}  // namespace postino::store
