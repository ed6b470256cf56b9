#include "outbox/store_ledger/store_spool.h"

#include <algorithm>

namespace postino::outbox {

namespace {

// Well below the 400 KB of an item.
constexpr std::size_t item_part_bytes = 300 << 10;
constexpr std::int64_t most_parts = 1'000;  // of an object: many more than any message has

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

tl::unexpected<base::Error> malformed_entry(const std::string& path) {
  return base::fail(base::ErrorCode::corrupt, "the spool entry at " + path + " is malformed");
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

base::Result<StoreSpool::Part> StoreSpool::read_part(const std::string& path, std::int64_t number) {
  store::GetItemRequest get;
  get.table_name = table_;
  get.key = part_key(path, static_cast<std::size_t>(number));
  get.consistent_read = true;
  const auto answer = retry_([&] { return store_.get_item(get); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  if (!answer->item) {
    if (number == 0) return base::fail(base::ErrorCode::not_found, "there is nothing in the spool at " + path);
    return base::fail(base::ErrorCode::corrupt, "a part of " + path + " is missing in the spool");
  }
  const auto* content = answer->item->find("Content");
  const auto* count = answer->item->find("Parts");
  const auto* told = count != nullptr ? count->get_if<item::Number>() : nullptr;
  const std::int64_t parts = told != nullptr ? told->to_int64().value_or(0) : 0;
  // Fewer parts than were written are a shorter message.
  const bool is_told = parts >= 1 && parts <= most_parts && item::Number(parts) == *told;
  if (content == nullptr || content->type() != item::Type::binary || !is_told) return malformed_entry(path);
  return Part{content->as<item::Binary>().bytes, parts};
}

base::Result<std::string> StoreSpool::read_if(const std::string& path, const Admit& admit) {
  TRY(Part part, read_part(path, 0));
  const std::size_t bytes_at_most =
      part.parts > 1 ? static_cast<std::size_t>(part.parts) * item_part_bytes : part.bytes.size();
  if (!admit(bytes_at_most)) return not_admitted(path);
  const std::int64_t parts = part.parts;
  std::string bytes = std::move(part.bytes);
  if (parts > 1) bytes.reserve(bytes_at_most);
  for (std::int64_t number = 1; number < parts; ++number) {
    TRY(part, read_part(path, number));
    if (part.parts != parts) return malformed_entry(path);
    bytes += part.bytes;
  }
  return bytes;
}

base::Result<void> StoreSpool::remove(const std::string& path) {
  TRY(const Part first, read_part(path, 0));
  for (std::int64_t number = 0; number < first.parts; ++number) {
    store::DeleteItemRequest request;
    request.table_name = table_;
    request.key = part_key(path, static_cast<std::size_t>(number));
    const auto answer = retry_([&] { return store_.delete_item(request); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
  }
  return {};
}

}  // namespace postino::outbox
