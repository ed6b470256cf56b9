#include "metrics/sinks/change_json.h"

#include "base/timestamp.h"
#include "item/json_codec.h"
#include "json/writer.h"
#include "metrics/follow/set_aside.h"

namespace postino::metrics {

void append_change(std::string& out, const std::string& table, const store::StreamRecord& record) {
  json::Writer writer(out);
  writer.begin_object();
  writer.key("sequence").string(record.sequence_number.text());
  if (record.shard) writer.key("shard").string(*record.shard);
  writer.key("table").string(table);
  writer.key("event").string(event_name(record.type));
  writer.key("time").string(base::format_timestamp(record.time));
  writer.key("keys").raw(item::to_json(record.keys));
  if (record.new_image) writer.key("new").raw(item::to_json(*record.new_image));
  if (record.old_image) writer.key("old").raw(item::to_json(*record.old_image));
  if (record.by_time_to_live) writer.key("expired").boolean(true);
  writer.end_object();
}

}  // namespace postino::metrics
