#include "engine/items/item_writer.h"

#include "engine/items/collection_metrics.h"
#include "engine/items/consumption.h"
#include "engine/items/traffic.h"

namespace postino::engine {

namespace {

std::optional<item::Item> returned_attributes(const ItemWrite& write, const Change& change,
                                              store::ReturnValues return_values) {
  const StoredItemPointer* image = nullptr;
  bool touched_only = false;
  switch (return_values) {
    case store::ReturnValues::none:
      return std::nullopt;
    case store::ReturnValues::all_old:
      image = &change.before;
      break;
    case store::ReturnValues::all_new:
      image = &change.after;
      break;
    case store::ReturnValues::updated_old:
      image = &change.before, touched_only = true;
      break;
    case store::ReturnValues::updated_new:
      image = &change.after, touched_only = true;
      break;
  }
  if (!*image) return std::nullopt;
  if (!touched_only) return (*image)->item;
  if (!write.update) return std::nullopt;
  item::Item touched = write.update->touched((*image)->item);
  return touched.empty() ? std::nullopt : std::optional<item::Item>(std::move(touched));
}

}  // namespace

store::Answer<store::WriteItemResponse> ItemWriter::respond(const ItemWrite& write, const Change& change,
                                                            const std::vector<IndexEffect>& effects,
                                                            store::ReturnValues return_values,
                                                            const store::WriteReport& report) {
  store::WriteItemResponse response;
  response.attributes = returned_attributes(write, change, return_values);
  Consumption consumption(core_, report.consumed_capacity, Access::write);
  consumption.add_write(*write.table, change.before, change.after, effects);
  response.consumed_capacity = std::move(consumption).one();
  if (report.item_collection_metrics)
    response.item_collection_metrics = collection_metrics(core_, *write.table, *write.subject);
  return response;
}

Planned ItemWriter::write(ItemWrite& write, store::ReturnValues return_values, const store::WriteReport& report,
                          const ItemEntry& entry) {
  LockedItems items(core_);
  const auto find_item = [&]() -> store::Answer<void> {
    TRY_VOID(find_table(core_, write));
    TRY_VOID(locate(write));
    return admit(core_, *write.table, nullptr, Access::write, write.key);
  };
  const auto plan = [&]() -> store::Answer<store::WriteItemResponse> {
    TRY_VOID(items.lock({&write, 1}, std::nullopt, find_item));
    TRY(Decision decision, items.decide(write));
    TRY(const Change change, std::move(decision));
    TRY_VOID(check_collection_size(core_, *write.table, *write.subject, change));
    TRY_VOID(admit_index_writes(core_, *write.table, change));
    const std::vector<IndexEffect> effects = items.plan(*write.table, change, *entry);
    count_write(core_, *write.table, change, effects, *entry);
    take_partition_writes(core_, *write.table, change, effects, *entry);
    return respond(write, change, effects, return_values, report);
  };
  entry->answer = plan();
  return items.queue(entry) ? Planned::queued : Planned::answered;
}

template <class Request>
Planned ItemWriter::write(const Request& request, const ItemEntry& entry) {
  if (auto room = check_room(core_); !room) {
    entry->answer = base::propagate(std::move(room).error());
    return Planned::answered;
  }
  store::Answer<ItemWrite> prepared = prepare(request);
  if (!prepared) {
    entry->answer = base::propagate(prepared.error());
    return Planned::answered;
  }
  return write(*prepared, request.return_values, request.report, entry);
}

Planned ItemWriter::put(const store::PutItemRequest& request, const ItemEntry& entry) { return write(request, entry); }

Planned ItemWriter::update(const store::UpdateItemRequest& request, const ItemEntry& entry) {
  return write(request, entry);
}

Planned ItemWriter::remove(const store::DeleteItemRequest& request, const ItemEntry& entry) {
  return write(request, entry);
}

}  // namespace postino::engine
