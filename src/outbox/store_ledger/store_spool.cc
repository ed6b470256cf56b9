#include "outbox/store_ledger/store_spool.h"

namespace postino::outbox {

namespace {

// Well below the 400 KB of an item.
constexpr std::size_t item_part_bytes = 300 << 10;

std::size_t item_part_count(std::size_t bytes) {
  return bytes == 0 ? 1 : (bytes + item_part_bytes - 1) / item_part_bytes;
}

item::Key part_key(const std::string& path, std::size_t part) {
  return {{"SpoolPath", path}, {"Part", static_cast<std::int64_t>(part)}};
}

// Every part tells how many there are, so that a missing one is noticed.
item::Item part_item(const SpoolObject& object, const std::string& path, std::size_t part) {
  item::Item item = part_key(path, part);
  item.set("Parts", static_cast<std::int64_t>(item_part_count(object.bytes.size())));
  item.set("Content", item::Binary{object.bytes.substr(part * item_part_bytes, item_part_bytes)});
  item.set("TTL", base::epoch_seconds(object.keep_until));
  return item;
}

}  // namespace

base::Result<std::string> StoreSpool::write(const SpoolObject& object) {
  const std::string path = spool_path(object, make_uuid(random_).substr(0, 8));
  for (std::size_t part = 0; part < item_part_count(object.bytes.size()); ++part) {
    store::PutItemRequest put;
    put.table_name = table_;
    put.item = part_item(object, path, part);
    const auto answer = retry_([&] { return store_.put_item(put); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
  }
  return path;
}

std::optional<StoreSpool::Placed> StoreSpool::place(const SpoolObject& object) const {
  if (item_part_count(object.bytes.size()) > 1) return std::nullopt;
  Placed placed{spool_path(object, ""), {}};
  placed.put.table_name = table_;
  placed.put.item = part_item(object, placed.path, 0);
  return placed;
}

base::Result<std::string> StoreSpool::read(const std::string& path) {
  std::string bytes;
  std::int64_t parts = 1;
  for (std::int64_t part = 0; part < parts; ++part) {
    store::GetItemRequest get;
    get.table_name = table_;
    get.key = part_key(path, static_cast<std::size_t>(part));
    get.consistent_read = true;
    const auto answer = retry_([&] { return store_.get_item(get); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
    if (!answer->item) {
      if (part == 0) return base::fail(base::ErrorCode::not_found, "there is nothing in the spool at " + path);
      return base::fail(base::ErrorCode::corrupt, "a part of " + path + " is missing in the spool");
    }
    const auto* content = answer->item->find("Content");
    const auto* count = answer->item->find("Parts");
    if (content == nullptr || count == nullptr || content->type() != item::Type::binary ||
        count->type() != item::Type::number)
      return base::fail(base::ErrorCode::corrupt, "the spool entry at " + path + " is malformed");
    parts = count->as<item::Number>().to_int64().value_or(1);
    bytes += content->as<item::Binary>().bytes;
  }
  return bytes;
}

base::Result<void> StoreSpool::remove(const std::string& path) {
  TRY(const std::string bytes, read(path));
  for (std::size_t part = 0; part < item_part_count(bytes.size()); ++part) {
    store::DeleteItemRequest request;
    request.table_name = table_;
    request.key = part_key(path, part);
    const auto answer = retry_([&] { return store_.delete_item(request); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
  }
  return {};
}

}  // namespace postino::outbox
