// How large items are written: first the object, then the item that refers to it.
#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/log.h"
#include "item/json_codec.h"
#include "item/size.h"
#include "objects/large_item_store.h"

namespace postino::objects {

namespace {

constexpr std::size_t most_written_bytes = 32 << 20;  // of objects, for one request
constexpr int guarded_rounds = 8;                     // others may write to the same item
// An object that nothing refers to is removed after hours. A write that took so long puts its objects again.
constexpr base::Milliseconds long_write = std::chrono::minutes(30);

constexpr std::string_view names_placeholder = ":postino_large_names";

// Is it certain that nothing was written?
bool is_refusal(const store::Error& error) {
  return error.type != store::ErrorType::internal_server_error &&
         error.type != store::ErrorType::transaction_in_progress;
}

store::Answer<void> refuse_own(const item::Map& item) {
  for (const std::string& name : large_data_attributes())
    if (item.contains(name))
      return store::refuse_invalid("the attribute " + name + " must not be set: it tells where large attributes are");
  return {};
}

// Where moved attributes of an item are named; nullopt when none have moved, or there is no item.
std::optional<item::AttributeValue> moved_names(const std::optional<item::Item>& item) {
  const item::AttributeValue* names = item ? item->find(large_data_names) : nullptr;
  return names != nullptr ? std::optional(*names) : std::nullopt;
}

// Lets a write through only if the same attributes have moved as were seen.
void add_guard(std::optional<store::ConditionExpression>& condition, expr::Placeholders& placeholders,
               const std::optional<item::AttributeValue>& seen) {
  std::string guard;
  if (seen) {
    if (!placeholders.values) placeholders.values.emplace();
    placeholders.values->set(std::string(names_placeholder), *seen);
    guard.append(large_data_names).append(" = ").append(names_placeholder);
  } else {
    guard.append("attribute_not_exists(").append(large_data_names).append(")");
  }
  condition.emplace(condition ? "(" + condition->text() + ") AND " + guard : guard);
}

// Which attributes an update writes. An expression that breaks a rule writes none: the store refuses it.
std::set<std::string> written_names(const std::optional<store::UpdateExpression>& update,
                                    const expr::Placeholders& placeholders) {
  if (!update) return {};
  const auto parsed = expr::cached_update(update->text());
  if (!parsed) return {};
  expr::Binder binder(placeholders);
  const auto bound = binder.bind(*parsed);
  if (!bound) return {};
  std::set<std::string> names;
  for (const expr::BoundUpdate::Target& target : bound->targets()) names.emplace(target.name);
  return names;
}

// One that an update may not write, if there is any.
std::optional<std::string> forbidden_name(const std::set<std::string>& written,
                                          const std::optional<item::AttributeValue>& moved) {
  for (const std::string& name : large_data_attributes())
    if (written.contains(name)) return name;
  const auto* names = moved ? moved->get_if<item::StringSet>() : nullptr;
  if (names == nullptr) return std::nullopt;
  for (const std::string& name : names->members())
    if (written.contains(name)) return name;
  return std::nullopt;
}

std::string forbidden_update(const std::string& name) {
  return "the attribute " + name +
         " must not be updated: it is in the object store, or tells where others are. Put the item as a whole";
}

// A token stands for one request, and a request that differs by its guards must have another. It is the same whenever
// the same guards are met, so that a caller who repeats the request after an answer was lost repeats this one, too.
std::string token_for_guards(const std::string& token, const std::string& guards) {
  return base::to_hex(base::sha256(token + "#" + guards)).substr(0, store::max_client_request_token_length);
}

// The error as the caller asked for it: the item was only wanted here.
store::Error without_item(store::Error error) {
  if (error.details == nullptr) return error;
  auto details = std::make_shared<store::ErrorDetails>(*error.details);
  details->item.reset();
  error.details = std::move(details);
  return error;
}

}  // namespace

// The objects of one write.
class LargeItemStore::Outbound {
 public:
  Outbound(LargeItemStore& store, std::optional<std::string> token)
      : store_(store), token_(std::move(token)), began_(store.clock_.monotonic()) {}

  // What is to be written instead of the item: refers to an object that is durable when this returns.
  store::Answer<item::Item> take(const LargeItemTable& table, item::Item item) {
    TRY_VOID(refuse_own(item));
    if (const std::size_t size = item::size_of(item); size > store_.limits_.whole)
      return store::refuse_invalid("Item size has exceeded the maximum allowed size: " + std::to_string(size) +
                                   " bytes with what is kept in the object store, of " +
                                   std::to_string(store_.limits_.whole));
    SplitItem split = split_item(std::move(item), store_.limits_, table.kept);
    if (split.moved.empty()) return std::move(split.rest);
    const item::Key key = table.keyed.key_of(split.rest);
    std::string bytes = write_large_object(key, split.moved);
    const std::string digest = base::to_hex(base::sha256(bytes));
    const auto name = name_for_item(large_items_kind(), table.keyed, key, version_of(digest));
    if (!name) return join(std::move(split));  // as large as it is; a key that is missing or too long is refused, too
    bytes_ += bytes.size();
    if (bytes_ > most_written_bytes)
      return store::refuse_invalid("a request must not have more than " + std::to_string(most_written_bytes) +
                                   " bytes for the object store");
    if (const auto put = store_.objects_.put(*name, bytes); !put) {
      // It may be there all the same.
      store_.discard(*name);
      return base::propagate(error_of_objects(put.error()));
    }
    split.rest.set(large_items_kind().attribute, object_address(store_.objects_.bucket(), *name));
    std::vector<std::string> names;
    for (const item::Attribute& attribute : split.moved) names.push_back(attribute.name);
    split.rest.set(std::string(large_data_names), item::StringSet(std::move(names)));
    split.rest.set(std::string(large_data_sha256), digest);
    split.rest.set(std::string(large_data_bytes), static_cast<std::int64_t>(bytes.size()));
    written_.push_back({*name, std::move(bytes)});
    return std::move(split.rest);
  }

  // The write was answered: with an error, or nullptr.
  void settle(const store::Error* error) {
    if (error != nullptr) {
      // With a token, an earlier call with the same one may have written an item that refers to them.
      if (is_refusal(*error) && !token_)
        for (const Written& each : written_) store_.discard(each.name);
      return;
    }
    if (store_.clock_.monotonic() - began_ < long_write) return;
    for (const Written& each : written_)
      if (const auto put = store_.objects_.put(each.name, each.bytes); !put)
        base::log_error("objects", "an object may be missing: a write took very long, and it could not be put again",
                        {{"object", each.name}, {"cause", put.error().message}});
  }
  // This object was not needed.
  void discard(const std::string& address) {
    for (const Written& each : written_)
      if (object_address(store_.objects_.bucket(), each.name) == address) store_.discard(each.name);
  }

 private:
  struct Written {
    std::string name;
    std::string bytes;
  };

  // Unique. With a token, the same for the same contents: a repeated request must be the same request.
  std::string version_of(const std::string& digest) const {
    constexpr std::size_t version_size = 36;
    if (!token_) return base::make_ordered_uuid(store_.clock_.now(), store_.random_);
    return base::to_hex(base::sha256(*token_ + "#" + digest)).substr(0, version_size);
  }

  static item::Item join(SplitItem split) {
    for (item::Attribute& attribute : split.moved) split.rest.set(attribute.name, std::move(attribute.value));
    return std::move(split.rest);
  }

  LargeItemStore& store_;
  const std::optional<std::string> token_;
  const base::Milliseconds began_;
  std::size_t bytes_ = 0;
  std::vector<Written> written_;
};

// What cannot be removed now is found later by ObjectCleaner.
void LargeItemStore::discard(const std::string& name) { (void)objects_.remove(name); }

store::Answer<store::WriteItemResponse> LargeItemStore::put_item(const store::PutItemRequest& request) {
  const LargeItemTable* const table = find(request.table_name);
  if (table == nullptr) return inner().put_item(request);
  Outbound outbound(*this, std::nullopt);
  store::PutItemRequest changed = request;
  TRY(changed.item, outbound.take(*table, std::move(changed.item)));
  auto response = inner().put_item(changed);
  outbound.settle(response ? nullptr : &response.error());
  if (response) complete_report(*table, *response);
  return response;
}

store::Answer<store::WriteItemResponse> LargeItemStore::update_item(const store::UpdateItemRequest& request) {
  const LargeItemTable* const table = find(request.table_name);
  if (table == nullptr) return inner().update_item(request);
  const std::set<std::string> written = written_names(request.update, request.placeholders);
  if (const auto name = forbidden_name(written, std::nullopt)) return store::refuse_invalid(forbidden_update(*name));
  if (written.empty()) return inner().update_item(request);
  std::optional<item::AttributeValue> seen;
  for (int round = 0; round < guarded_rounds; ++round) {
    store::UpdateItemRequest changed = request;
    add_guard(changed.condition, changed.placeholders, seen);
    changed.return_item_on_failure = true;
    auto response = inner().update_item(changed);
    if (response) {
      complete_report(*table, *response);
      return response;
    }
    store::Error& error = response.error();
    if (error.type != store::ErrorType::conditional_check_failed) return response;
    const auto moved = moved_names(error.details != nullptr ? error.details->item : std::nullopt);
    // The guard holds: the caller's own condition has failed.
    if (moved == seen) {
      if (!request.return_item_on_failure) error = without_item(std::move(error));
      return response;
    }
    if (const auto name = forbidden_name(written, moved)) return store::refuse_invalid(forbidden_update(*name));
    seen = moved;
  }
  return store::refuse(store::ErrorType::transaction_conflict, "the item is being written by others");
}

store::Answer<store::WriteItemResponse> LargeItemStore::delete_item(const store::DeleteItemRequest& request) {
  auto response = inner().delete_item(request);
  const LargeItemTable* const table = find(request.table_name);
  if (response && table != nullptr) complete_report(*table, *response);
  return response;
}

store::Answer<store::BatchWriteItemResponse> LargeItemStore::batch_write_item(
    const store::BatchWriteItemRequest& request) {
  if (std::ranges::none_of(request.tables, [&](const auto& table) { return find(table.table_name) != nullptr; }))
    return inner().batch_write_item(request);
  Outbound outbound(*this, std::nullopt);
  store::BatchWriteItemRequest changed = request;
  for (store::BatchWriteTable& each : changed.tables) {
    const LargeItemTable* const table = find(each.table_name);
    if (table == nullptr) continue;
    for (store::BatchWrite& write : each.writes)
      if (auto* put = std::get_if<store::BatchPut>(&write)) {
        auto taken = outbound.take(*table, std::move(put->item));
        if (!taken) {
          const store::Error error = taken.error();
          outbound.settle(&error);
          return base::propagate(error);
        }
        put->item = *std::move(taken);
      }
  }
  auto response = inner().batch_write_item(changed);
  outbound.settle(response ? nullptr : &response.error());
  if (!response) return response;
  // What was not written is told as it was handed in.
  for (store::BatchWriteTable& left : response->unprocessed) {
    const LargeItemTable* const table = find(left.table_name);
    const auto asked = std::ranges::find(request.tables, left.table_name, &store::BatchWriteTable::table_name);
    if (table == nullptr || asked == request.tables.end()) continue;
    for (store::BatchWrite& write : left.writes) {
      auto* put = std::get_if<store::BatchPut>(&write);
      if (put == nullptr) continue;
      const item::AttributeValue* address = put->item.find(large_items_kind().attribute);
      if (address == nullptr) continue;
      outbound.discard(address->as<std::string>());
      const item::Key key = table->keyed.key_of(put->item);
      for (const store::BatchWrite& original : asked->writes)
        if (const auto* given = std::get_if<store::BatchPut>(&original);
            given != nullptr && table->keyed.key_of(given->item) == key) {
          put->item = given->item;
          break;
        }
    }
  }
  return response;
}

store::Answer<store::TransactWriteItemsResponse> LargeItemStore::transact_write_items(
    const store::TransactWriteItemsRequest& request) {
  if (!touches(request)) return inner().transact_write_items(request);
  Outbound outbound(*this, request.client_request_token);
  store::TransactWriteItemsRequest changed = request;
  for (store::TransactAction& action : changed.actions) {
    auto* put = std::get_if<store::TransactPut>(&action);
    const LargeItemTable* const table = put != nullptr ? find(put->table_name) : nullptr;
    if (table == nullptr) continue;
    auto taken = outbound.take(*table, std::move(put->item));
    if (!taken) {
      const store::Error error = taken.error();
      outbound.settle(&error);
      return base::propagate(error);
    }
    put->item = *std::move(taken);
  }
  auto response = write_guarded(request, std::move(changed));
  outbound.settle(response ? nullptr : &response.error());
  return response;
}

// The updates in it go through only if they name nothing that has moved.
store::Answer<store::TransactWriteItemsResponse> LargeItemStore::write_guarded(
    const store::TransactWriteItemsRequest& request, store::TransactWriteItemsRequest changed) {
  struct Guarded {
    std::size_t place;
    std::set<std::string> written;
    std::optional<item::AttributeValue> seen = std::nullopt;
  };
  std::vector<Guarded> guarded;
  for (std::size_t i = 0; i < changed.actions.size(); ++i) {
    const auto* update = std::get_if<store::TransactUpdate>(&changed.actions[i]);
    if (update == nullptr || find(update->table_name) == nullptr) continue;
    std::set<std::string> written = written_names(update->update, update->placeholders);
    if (const auto name = forbidden_name(written, std::nullopt)) return store::refuse_invalid(forbidden_update(*name));
    if (!written.empty()) guarded.push_back({i, std::move(written)});
  }
  if (guarded.empty()) return inner().transact_write_items(changed);
  for (int round = 0; round < guarded_rounds; ++round) {
    std::string guards;
    for (const Guarded& each : guarded) {
      store::TransactUpdate update = std::get<store::TransactUpdate>(request.actions[each.place]);
      add_guard(update.condition, update.placeholders, each.seen);
      update.return_item_on_failure = true;
      changed.actions[each.place] = std::move(update);
      if (each.seen) guards.append(std::to_string(each.place)).append(item::to_json(*each.seen));
    }
    if (request.client_request_token && !guards.empty())
      changed.client_request_token = token_for_guards(*request.client_request_token, guards);
    else
      changed.client_request_token = request.client_request_token;
    auto response = inner().transact_write_items(changed);
    if (response || response.error().type != store::ErrorType::transaction_canceled ||
        response.error().details == nullptr)
      return response;
    auto details = std::make_shared<store::ErrorDetails>(*response.error().details);
    bool is_news = false;
    for (Guarded& each : guarded) {
      if (each.place >= details->reasons.size()) continue;
      store::CancellationReason& reason = details->reasons[each.place];
      if (reason.code != store::cancellation_code(store::ErrorType::conditional_check_failed)) continue;
      const auto moved = moved_names(reason.item);
      if (const auto name = forbidden_name(each.written, moved)) return store::refuse_invalid(forbidden_update(*name));
      is_news = is_news || moved != each.seen;
      each.seen = moved;
      if (!std::get<store::TransactUpdate>(request.actions[each.place]).return_item_on_failure) reason.item.reset();
    }
    if (is_news) continue;
    response.error().details = std::move(details);
    return response;
  }
  return store::refuse(store::ErrorType::transaction_conflict, "the items are being written by others");
}

bool LargeItemStore::touches(const store::TransactWriteItemsRequest& request) const {
  return std::ranges::any_of(request.actions, [&](const store::TransactAction& action) {
    return std::visit([&](const auto& each) { return find(each.table_name) != nullptr; }, action);
  });
}

void LargeItemStore::put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) {
  if (find(request.table_name) == nullptr) return inner().put_item(request, std::move(done));
  done(put_item(request));
}

void LargeItemStore::update_item(const store::UpdateItemRequest& request,
                                 store::Completion<store::WriteItemResponse> done) {
  if (find(request.table_name) == nullptr) return inner().update_item(request, std::move(done));
  done(update_item(request));
}

void LargeItemStore::delete_item(const store::DeleteItemRequest& request,
                                 store::Completion<store::WriteItemResponse> done) {
  if (find(request.table_name) == nullptr) return inner().delete_item(request, std::move(done));
  done(delete_item(request));
}

void LargeItemStore::batch_write_item(const store::BatchWriteItemRequest& request,
                                      store::Completion<store::BatchWriteItemResponse> done) {
  if (std::ranges::none_of(request.tables, [&](const auto& table) { return find(table.table_name) != nullptr; }))
    return inner().batch_write_item(request, std::move(done));
  done(batch_write_item(request));
}

void LargeItemStore::transact_write_items(const store::TransactWriteItemsRequest& request,
                                          store::Completion<store::TransactWriteItemsResponse> done) {
  if (!touches(request)) return inner().transact_write_items(request, std::move(done));
  done(transact_write_items(request));
}

}  // namespace postino::objects
