// What other processes and a network do to a store, for tests: the embedded one behind it is used as one that is
// shared. Answers to writes are lost on the way, and indexes lag behind items.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "item/json_codec.h"
#include "store/forwarding_store.h"

namespace postino::store {

// Safe to use from any thread, as stores are.
class SharedStore final : public ForwardingStore {
 public:
  // It must outlive this one.
  explicit SharedStore(Store& inner) : ForwardingStore(inner) {}

  bool is_shared() const override { return true; }

  // So many writes to this table (empty: to any) are done if their conditions hold, and their answers do not arrive:
  // the next ones, behind some that are answered.
  void lose_answers(int count, std::string table = {}, int answered_before = 0) {
    const std::lock_guard lock(mutex_);
    lost_ = count;
    lost_table_ = std::move(table);
    answered_before_ = answered_before;
  }
  // How many answers are still to be lost.
  int answers_to_lose() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }
  // From now on a query of an index that was asked before is answered as it was then. Others do not see what is written
  // from now on.
  void let_indexes_lag() {
    const std::lock_guard lock(mutex_);
    is_lagging_ = true;
  }
  void let_indexes_catch_up() {
    const std::lock_guard lock(mutex_);
    is_lagging_ = false;
    unseen_.clear();
  }
  // Of all transactions, in their order; empty: it had none.
  std::vector<std::string> tokens() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }

  Answer<PageResponse> query(const QueryRequest& request) override {
    if (!request.index_name) return inner().query(request);
    const std::string name = name_of(request);
    const std::lock_guard lock(mutex_);
    if (const auto known = answers_.find(name); is_lagging_ && known != answers_.end()) return known->second;
    TRY(PageResponse page, inner().query(request));
    if (!is_lagging_) answers_[name] = page;
    std::erase_if(page.items,
                  [&](const item::Item& item) { return unseen_.contains(key_text(request.table_name, item)); });
    return page;
  }

  Answer<WriteItemResponse> put_item(const PutItemRequest& request) override {
    return write<WriteItemResponse>({{request.table_name, request.item}}, [&] { return inner().put_item(request); });
  }
  Answer<WriteItemResponse> update_item(const UpdateItemRequest& request) override {
    return write<WriteItemResponse>({{request.table_name, request.key}}, [&] { return inner().update_item(request); });
  }
  Answer<WriteItemResponse> delete_item(const DeleteItemRequest& request) override {
    return write<WriteItemResponse>({{request.table_name, request.key}}, [&] { return inner().delete_item(request); });
  }
  Answer<TransactWriteItemsResponse> transact_write_items(const TransactWriteItemsRequest& request) override {
    {
      const std::lock_guard lock(mutex_);
      tokens_.push_back(request.client_request_token.value_or(""));
    }
    std::vector<Place> places;
    for (const TransactAction& action : request.actions) {
      if (const auto* put = std::get_if<TransactPut>(&action)) places.push_back({put->table_name, put->item});
      if (const auto* update = std::get_if<TransactUpdate>(&action))
        places.push_back({update->table_name, update->key});
      if (const auto* removal = std::get_if<TransactDelete>(&action))
        places.push_back({removal->table_name, removal->key});
    }
    return write<TransactWriteItemsResponse>(places, [&] { return inner().transact_write_items(request); });
  }
  void put_item(const PutItemRequest& request, Completion<WriteItemResponse> done) override { done(put_item(request)); }
  void update_item(const UpdateItemRequest& request, Completion<WriteItemResponse> done) override {
    done(update_item(request));
  }
  void delete_item(const DeleteItemRequest& request, Completion<WriteItemResponse> done) override {
    done(delete_item(request));
  }
  void transact_write_items(const TransactWriteItemsRequest& request,
                            Completion<TransactWriteItemsResponse> done) override {
    done(transact_write_items(request));
  }

 private:
  struct Place {
    std::string table;
    item::Map keys;  // with other attributes, perhaps
  };

  static std::string name_of(const QueryRequest& request) {
    std::string name = request.table_name + " " + *request.index_name + " " + request.key_condition->text();
    for (const std::optional<item::Map>& part : {request.placeholders.values, request.exclusive_start_key})
      name += part ? " " + item::to_json(*part) : " -";
    return name;
  }

  // With the mutex.
  std::string key_text(const std::string& table, const item::Map& item) {
    KeySchema& schema = schemas_[table];
    if (schema.empty())
      if (const auto described = inner().describe_table(table)) schema = described->key_schema;
    std::string text = table;
    for (const KeyElement& each : schema)
      if (const item::AttributeValue* value = item.find(each.name))
        text += " " + item::to_json(item::Map{{"key", *value}});
    return text;
  }

  template <class Response, class Call>
  Answer<Response> write(const std::vector<Place>& places, const Call& call) {
    Answer<Response> answer = call();
    const std::lock_guard lock(mutex_);
    bool concerns = lost_table_.empty();
    for (const Place& place : places) {
      concerns = concerns || place.table == lost_table_;
      if (is_lagging_) unseen_.insert(key_text(place.table, place.keys));
    }
    if (lost_ == 0 || !concerns) return answer;
    if (answered_before_ > 0) {
      --answered_before_;
      return answer;
    }
    --lost_;
    return refuse(ErrorType::internal_server_error, "the answer did not arrive");
  }

  mutable std::mutex mutex_;
  int lost_ = 0;
  std::string lost_table_;
  int answered_before_ = 0;
  bool is_lagging_ = false;
  std::map<std::string, PageResponse> answers_;  // of indexes, by query
  std::set<std::string> unseen_;                 // keys that indexes do not have yet
  std::map<std::string, KeySchema> schemas_;
  std::vector<std::string> tokens_;
};

}  // namespace postino::store
