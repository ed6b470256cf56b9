// A store whose items may be larger than DynamoDB's 400 KB: attributes of large items are in an object store, and come
// back when items are read. Services use it in place of the store behind it and see whole items.
//
// The object is written before the item that refers to it, under a name that no other write uses. So an item leads to
// what was written with it, or the write was not done: a crash or a concurrent write leaves an object that nothing
// refers to, and ObjectCleaner removes it.
//
// What callers must know:
// - Conditions and filters see what is in the table. An attribute that has moved is absent for them.
// - An update is refused when it names an attribute that has moved: such an item is put as a whole. Updates move none.
// - Indexes that project some attributes show an item without those that have moved.
// - The change stream has the items as they are in the table, and so has the item of a failed condition.
// - The attributes large_data_* are the store's own: they are not seen, and refused in items. A projection may name
//   large_data_names: which attributes have moved.
// - An item whose object is lost, damaged or cannot be read comes without the moved attributes, and with
// large_data_fault
//   and, if they are known, large_data_names: check_whole(), missing_attributes(). So it keeps no other item back. An
//   object store that cannot be used is an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "objects/item_objects.h"
#include "objects/large_attributes.h"
#include "objects/object_store.h"
#include "store/forwarding_store.h"

namespace postino::objects {

struct LargeItemTable {
  KeyedTable keyed;
  std::vector<std::string> kept;           // attributes that never move: keys of indexes, the time to live
  std::vector<std::string> whole_indexes;  // those that project everything
};

// As the store has it.
base::Result<LargeItemTable> describe_large_item_table(store::Store& store, const std::string& table);

// Safe to use from any thread, as stores are. Writes to these tables wait for the disk and the object store, also where
// the answer goes to a function.
class LargeItemStore final : public store::ForwardingStore {
 public:
  // Of these tables; everything about others goes to `inner`. All must outlive it.
  LargeItemStore(store::Store& inner, ObjectStore& objects, std::vector<LargeItemTable> tables,
                 const base::Clock& clock, base::Random& random, LargeItemLimits limits = {});

  store::Answer<store::GetItemResponse> get_item(const store::GetItemRequest& request) override;
  store::Answer<store::PageResponse> query(const store::QueryRequest& request) override;
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) override;
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override;
  store::Answer<store::TransactGetItemsResponse> transact_get_items(
      const store::TransactGetItemsRequest& request) override;

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override;
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override;
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest& request) override;
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override;
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override;

  void put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void delete_item(const store::DeleteItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void batch_write_item(const store::BatchWriteItemRequest& request,
                        store::Completion<store::BatchWriteItemResponse> done) override;
  void transact_write_items(const store::TransactWriteItemsRequest& request,
                            store::Completion<store::TransactWriteItemsResponse> done) override;

 private:
  class Outbound;   // the objects of one write
  class Projected;  // what a caller wants to see of an item

  const LargeItemTable* find(std::string_view table_name) const;
  bool touches(const store::TransactWriteItemsRequest& request) const;

  enum class Brought {
    whole,
    gone,     // the object: the item has been written again or removed since it was read
    damaged,  // the item says why
  };
  // Brings the moved attributes back.
  store::Answer<Brought> bring_back(const LargeItemTable& table, item::Item& item, const Projected& projected);
  // The item as it is now, whole or damaged. nullopt when it is gone.
  store::Answer<std::optional<item::Item>> read_again(const LargeItemTable& table, const item::Key& key,
                                                      const Projected& projected);
  // Both. False when there is no item any more.
  store::Answer<bool> complete(const LargeItemTable& table, item::Item& item, const Projected& projected);
  store::Answer<void> complete_page(const LargeItemTable& table, store::PageResponse& page, const Projected& projected);
  template <class Request>
  store::Answer<store::PageResponse> read_page(
      const Request& request, store::Answer<store::PageResponse> (store::Store::*function)(const Request&));
  // Of the item before or after a write that has been done: as far as that is possible.
  void complete_report(const LargeItemTable& table, store::WriteItemResponse& response);

  void discard(const std::string& name);
  store::Answer<store::TransactWriteItemsResponse> write_guarded(const store::TransactWriteItemsRequest& request,
                                                                 store::TransactWriteItemsRequest changed);

  ObjectStore& objects_;
  const std::vector<LargeItemTable> tables_;
  const base::Clock& clock_;
  base::Random& random_;
  const LargeItemLimits limits_;
};

}  // namespace postino::objects
