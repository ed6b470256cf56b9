#include "outbox/store_ledger/store_spool.h"

#include <algorithm>

#include "outbox/ledger/packed_contents.h"

namespace postino::outbox {

namespace {

// Well below the 400 KB of an item.
constexpr std::size_t item_part_bytes = 300 << 10;
constexpr std::string_view message_name_ending = ".eml";
constexpr std::string_view payload_name_ending = ".json";

// After the id of the e-mail, which follows the last slash; empty when it is another e-mail's, or none of ours.
std::string_view rest_of_name(std::string_view path, std::string_view id) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return !id.empty() && name.starts_with(id) ? name.substr(id.size()) : std::string_view();
}

std::size_t item_part_count(std::size_t bytes) {
  return bytes == 0 ? 1 : (bytes + item_part_bytes - 1) / item_part_bytes;
}

// An object of one part is packed if that saves something. A version that knows nothing of it must not take it for the
// contents, so it is an attribute of another name.
bool set_packed(item::Item& item, const SpoolObject& object) {
  const bool has_similar = object.similar && item_part_count(object.similar->bytes.size()) == 1;
  std::optional<std::string> packed = pack(object.bytes, has_similar ? object.similar->bytes : std::string_view());
  if (!packed) return false;
  item.set("Packed", item::Binary{*std::move(packed)});
  item.set("Size", static_cast<std::int64_t>(object.bytes.size()));
  if (has_similar) item.set("SimilarTo", object.similar->path);
  return true;
}

// Every part tells how many there are, so that a missing one is noticed.
item::Item part_item(const SpoolObject& object, const std::string& path, std::size_t part, bool expires) {
  const std::size_t parts = item_part_count(object.bytes.size());
  item::Item item = StoreSpool::key_of_part(path, part);
  item.set("Parts", static_cast<std::int64_t>(parts));
  if (parts > 1 || !set_packed(item, object))
    item.set("Content", item::Binary{object.bytes.substr(part * item_part_bytes, item_part_bytes)});
  if (expires) item.set("TTL", base::epoch_seconds(object.keep_until));
  return item;
}

template <class T>
const T* attribute(const item::Item& item, std::string_view name) {
  const item::AttributeValue* value = item.find(name);
  return value != nullptr ? value->get_if<T>() : nullptr;
}

// A whole number from 1 on; 0 when it is none.
std::int64_t number_in(const item::Item& item, std::string_view name, std::int64_t most) {
  const auto* told = attribute<item::Number>(item, name);
  const std::int64_t number = told != nullptr ? told->to_int64().value_or(0) : 0;
  return number >= 1 && number <= most && item::Number(number) == *told ? number : 0;
}

tl::unexpected<base::Error> malformed_entry(const std::string& path) {
  return base::fail(base::ErrorCode::corrupt, "the spool entry at " + path + " is malformed");
}

}  // namespace

item::Key StoreSpool::key_of_part(const std::string& path, std::size_t part) {
  return {{"SpoolPath", path}, {"Part", static_cast<std::int64_t>(part)}};
}

bool StoreSpool::is_in_one_part(std::string_view path, std::string_view id) {
  const std::string_view rest = rest_of_name(path, id);
  return rest == payload_name_ending || rest == message_name_ending;
}

bool StoreSpool::is_in_several_parts(std::string_view path, std::string_view id) {
  return rest_of_name(path, id).starts_with('-');
}

base::Result<std::string> StoreSpool::write(const SpoolObject& object, bool expires) {
  const std::string path = spool_path(object, make_uuid(random_).substr(0, 8));
  for (std::size_t part = 0; part < item_part_count(object.bytes.size()); ++part) {
    store::PutItemRequest put;
    put.table_name = table_;
    put.item = part_item(object, path, part, expires);
    const auto answer = retry_([&] { return store_.put_item(put); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
  }
  return path;
}

std::optional<StoreSpool::Placed> StoreSpool::place(const SpoolObject& object, bool expires) const {
  if (item_part_count(object.bytes.size()) > 1) return std::nullopt;
  Placed placed{spool_path(object, ""), {}};
  placed.put.table_name = table_;
  placed.put.item = part_item(object, placed.path, 0, expires);
  return placed;
}

base::Result<StoreSpool::Part> StoreSpool::part_of(const std::string& path, std::int64_t number,
                                                   const std::optional<item::Item>& item) {
  // What has no contents at all is left of an entry that was removed before its e-mail was finished or started over.
  if (!item || (!item->contains("Content") && !item->contains("Packed") && !item->contains("Parts"))) {
    if (number == 0) return base::fail(base::ErrorCode::not_found, "there is nothing in the spool at " + path);
    return base::fail(base::ErrorCode::corrupt, "a part of " + path + " is missing in the spool");
  }
  const auto* content = attribute<item::Binary>(*item, "Content");
  const auto* packed = attribute<item::Binary>(*item, "Packed");
  // Fewer parts than were written are a shorter message.
  Part part{"", number_in(*item, "Parts", most_parts), std::nullopt};
  if ((content == nullptr) == (packed == nullptr) || part.parts == 0) return malformed_entry(path);
  part.bytes = content != nullptr ? content->bytes : packed->bytes;
  if (content != nullptr) return part;
  const std::int64_t size = number_in(*item, "Size", item_part_bytes);
  if (part.parts != 1 || size == 0) return malformed_entry(path);
  const auto* similar = attribute<std::string>(*item, "SimilarTo");
  part.packing = Packing{static_cast<std::size_t>(size), similar != nullptr ? *similar : ""};
  return part;
}

base::Result<StoreSpool::Part> StoreSpool::read_part(const std::string& path, std::int64_t number) {
  store::GetItemRequest get;
  get.table_name = table_;
  get.key = key_of_part(path, static_cast<std::size_t>(number));
  get.consistent_read = true;
  const auto answer = retry_([&] { return store_.get_item(get); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return part_of(path, number, answer->item);
}

base::Result<StoreSpool::Part> StoreSpool::read_with_payload(const std::string& path,
                                                             std::optional<Neighbour>& payload) {
  const std::string payload_path = path.substr(0, path.size() - message_name_ending.size()).append(payload_name_ending);
  store::BatchGetItemRequest request;
  store::BatchGetTable table;
  table.table_name = table_;
  table.consistent_read = true;
  for (const std::string& each : {path, payload_path}) table.keys.push_back(key_of_part(each, 0));
  request.tables.push_back(std::move(table));
  std::optional<item::Item> message;
  std::optional<item::Item> beside;
  while (!request.tables.empty()) {
    auto answer = retry_([&] { return store_.batch_get_item(request); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
    for (auto& found : answer->tables)
      for (item::Item& item : found.items)
        (*attribute<std::string>(item, "SpoolPath") == path ? message : beside) = std::move(item);
    request.tables = std::move(answer->unprocessed);
  }
  payload = Neighbour{payload_path, part_of(payload_path, 0, beside)};
  return part_of(path, 0, message);
}

// What something else was packed by is not packed by a third object.
base::Result<std::string> StoreSpool::read_similar(const std::string& path, const std::optional<Neighbour>& neighbour) {
  TRY(Part part, neighbour && neighbour->path == path ? neighbour->part : read_part(path, 0));
  if (part.parts != 1 || (part.packing && !part.packing->similar.empty())) return malformed_entry(path);
  return part.packing ? unpack(part.bytes, part.packing->size) : std::move(part.bytes);
}

base::Result<std::string> StoreSpool::unpacked(const Part& part, const std::optional<Neighbour>& neighbour) {
  std::string similar;
  if (!part.packing->similar.empty()) {
    TRY(similar, read_similar(part.packing->similar, neighbour));
  }
  return unpack(part.bytes, part.packing->size, similar);
}

base::Result<std::string> StoreSpool::read_if(const std::string& path, const Admit& admit) {
  // A request to a store of others takes longer than what it reads in vain.
  std::optional<Neighbour> payload;
  const bool may_be_packed =
      store_.is_shared() && path.ends_with(message_name_ending) && is_in_one_part(path, id_in_spool_path(path));
  TRY(Part part, may_be_packed ? read_with_payload(path, payload) : read_part(path, 0));
  const std::size_t bytes_at_most = part.parts > 1 ? static_cast<std::size_t>(part.parts) * item_part_bytes
                                    : part.packing ? part.packing->size
                                                   : part.bytes.size();
  if (!admit(bytes_at_most)) return not_admitted(path);
  if (part.packing) return unpacked(part, payload);
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
    request.key = key_of_part(path, static_cast<std::size_t>(number));
    const auto answer = retry_([&] { return store_.delete_item(request); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
  }
  return {};
}

}  // namespace postino::outbox
