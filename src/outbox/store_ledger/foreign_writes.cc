#include "outbox/store_ledger/foreign_writes.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox/store_ledger/store_layout.h"

namespace postino::outbox {

namespace {

const std::string* key_text(const item::Map& item, std::string_view name) {
  const item::AttributeValue* value = item.find(name);
  return value != nullptr ? value->get_if<std::string>() : nullptr;
}

}  // namespace

void ForeignWriteLog::begin(const std::vector<std::string>& ids) {
  const std::lock_guard lock(mutex_);
  under_way_.insert(ids.begin(), ids.end());
}

void ForeignWriteLog::end(const std::vector<std::string>& ids, const std::string& token) {
  constexpr std::size_t most_remembered = 10'000;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& id : ids) {
      under_way_.erase(under_way_.find(id));
      if (!token.empty()) ended_.push_back({id, token});
    }
    while (ended_.size() > most_remembered) ended_.pop_front();
  }
  is_news_ = true;
  tell();
}

std::vector<ForeignWriteLog::Ended> ForeignWriteLog::take_ended() {
  const std::lock_guard lock(mutex_);
  std::vector<Ended> ended(std::make_move_iterator(ended_.begin()), std::make_move_iterator(ended_.end()));
  ended_.clear();
  return ended;
}

void ForeignWriteLog::tell() {
  const std::lock_guard lock(listener_mutex_);
  if (listener_) listener_();
}

bool ForeignWriteLog::is_under_way(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  return under_way_.contains(id);
}

void ForeignWriteLog::listen(std::function<void()> listener) {
  const std::lock_guard lock(listener_mutex_);
  listener_ = std::move(listener);
}

std::string mark_queue(int shard) { return "ADOPT#" + std::to_string(shard); }

std::string unreadable_queue(int shard) { return "UNREADABLE#" + std::to_string(shard); }

item::Key look_through_key() { return {{"Tenant", "*adoption"}, {"Slice", "looked-through"}}; }

item::Item mark_of(const std::string& id, base::TimePoint due, const std::string& token) {
  return {{"Id", id},
          {"Status", mark_status},
          {"Queue", mark_queue(shard_of(id, mark_shards))},
          {"DueAt", base::epoch_milliseconds(due)},
          {"Token", token}};
}

void ForeignWrites::add_id(const std::string& table, const item::Map& key, Ids& ids) const {
  if (table != table_) return;
  const std::string* const id = key_text(key, "Id");
  const std::string* const status = key_text(key, "Status");
  // What lacks its key is refused; marks are no e-mails.
  if (id == nullptr || id->empty() || status == nullptr || *status == mark_status) return;
  if (std::ranges::find(ids, *id) == ids.end()) ids.push_back(*id);
}

ForeignWrites::Ids ForeignWrites::ids_in(const store::PutItemRequest& request) const {
  Ids ids;
  add_id(request.table_name, request.item, ids);
  return ids;
}
ForeignWrites::Ids ForeignWrites::ids_in(const store::UpdateItemRequest& request) const {
  Ids ids;
  add_id(request.table_name, request.key, ids);
  return ids;
}
ForeignWrites::Ids ForeignWrites::ids_in(const store::DeleteItemRequest& request) const {
  Ids ids;
  add_id(request.table_name, request.key, ids);
  return ids;
}
ForeignWrites::Ids ForeignWrites::ids_in(const store::BatchWriteItemRequest& request) const {
  Ids ids;
  for (const store::BatchWriteTable& table : request.tables)
    for (const store::BatchWrite& write : table.writes) {
      if (const auto* put = std::get_if<store::BatchPut>(&write)) add_id(table.table_name, put->item, ids);
      if (const auto* removal = std::get_if<store::BatchDelete>(&write)) add_id(table.table_name, removal->key, ids);
    }
  return ids;
}
ForeignWrites::Ids ForeignWrites::ids_in(const store::TransactWriteItemsRequest& request) const {
  Ids ids;
  for (const store::TransactAction& action : request.actions) {
    if (const auto* put = std::get_if<store::TransactPut>(&action)) add_id(put->table_name, put->item, ids);
    if (const auto* update = std::get_if<store::TransactUpdate>(&action)) add_id(update->table_name, update->key, ids);
    if (const auto* removal = std::get_if<store::TransactDelete>(&action))
      add_id(removal->table_name, removal->key, ids);
  }
  return ids;
}

// How the e-mails are counted, from their records, or from marks that are there already.
store::Answer<void> ForeignWrites::add_counted(std::vector<item::Item>& marks) {
  std::map<std::string, item::Item*> by_id;
  store::BatchGetTable table;
  table.table_name = table_;
  table.consistent_read = true;
  for (item::Item& mark : marks) {
    const std::string& id = mark.find("Id")->as<std::string>();
    by_id.emplace(id, &mark);
    for (const std::string_view status : {mark_status, meta_status})
      table.keys.push_back({{"Id", id}, {"Status", std::string(status)}});
  }
  std::map<std::string, item::Item> metas;
  store::BatchGetItemRequest request;
  request.tables.push_back(std::move(table));
  while (!request.tables.empty()) {
    TRY(store::BatchGetItemResponse answer, inner().batch_get_item(request));
    for (auto& found : answer.tables)
      for (item::Item& each : found.items) {
        const std::string id = each.find("Id")->as<std::string>();
        if (*key_text(each, "Status") == meta_status)
          metas.emplace(id, std::move(each));
        else
          keep_counted(each, *by_id.at(id));
      }
    request.tables = std::move(answer.unprocessed);
  }
  for (const auto& [id, meta] : metas) note_counted(meta, *by_id.at(id));
  return {};
}

// They are durable before the write begins. What breaks a rule is left to the write itself, which breaks it, too.
store::Answer<void> ForeignWrites::mark(const Ids& ids, const std::string& token) {
  constexpr base::Milliseconds longest_write = std::chrono::minutes(1);
  const base::TimePoint due = clock_.now() + (inner().is_shared() ? longest_write : base::Milliseconds(0));
  for (std::size_t begin = 0; begin < ids.size(); begin += store::max_batch_write_requests) {
    std::vector<item::Item> marks;
    for (std::size_t i = begin; i < std::min(begin + store::max_batch_write_requests, ids.size()); ++i)
      marks.push_back(mark_of(ids[i], due, token));
    const auto counted = add_counted(marks);
    store::BatchWriteItemRequest request;
    store::BatchWriteTable table{table_, {}};
    for (item::Item& each : marks) table.writes.emplace_back(store::BatchPut{std::move(each)});
    request.tables.push_back(std::move(table));
    const auto marked = counted ? inner().batch_write_item(request)
                                : store::Answer<store::BatchWriteItemResponse>(tl::unexpected(counted.error()));
    using enum store::ErrorType;
    if (!marked && (marked.error().type == validation || marked.error().type == resource_not_found)) return {};
    if (!marked) return tl::unexpected(marked.error());
    if (!marked->unprocessed.empty())
      return store::refuse(provisioned_throughput_exceeded, std::string(store::table_throughput_exceeded));
  }
  return {};
}

// Once for each process, if no other process can write the note meanwhile.
store::Answer<void> ForeignWrites::remove_note() {
  if (is_note_gone_ && !inner().is_shared()) return {};
  store::DeleteItemRequest request;
  request.table_name = StoreTables{table_}.counts();
  request.key = look_through_key();
  const auto removed = inner().delete_item(request);
  using enum store::ErrorType;
  // A table that is no outbox's has no counts, or other ones.
  if (!removed && removed.error().type != validation && removed.error().type != resource_not_found)
    return tl::unexpected(removed.error());
  is_note_gone_ = true;
  return {};
}

store::Answer<void> ForeignWrites::prepare(const Ids& ids, const std::string& token) {
  return watch_ == Watch::marks ? mark(ids, token) : remove_note();
}

template <class Response, class Request>
store::Answer<Response> ForeignWrites::write(const Request& request,
                                             store::Answer<Response> (store::Store::*function)(const Request&)) {
  const Ids ids = ids_in(request);
  if (ids.empty()) return (inner().*function)(request);
  const std::string token = base::make_uuid(random_);
  log_->begin(ids);
  const auto prepared = prepare(ids, token);
  auto answer = prepared ? (inner().*function)(request) : store::Answer<Response>(tl::unexpected(prepared.error()));
  log_->end(ids, tells_tokens() ? token : "");
  return answer;
}

template <class Response, class Request>
void ForeignWrites::write(const Request& request, store::Completion<Response> done,
                          void (store::Store::*function)(const Request&, store::Completion<Response>)) {
  Ids ids = ids_in(request);
  if (ids.empty()) return (inner().*function)(request, std::move(done));
  std::string token = base::make_uuid(random_);
  log_->begin(ids);
  if (const auto prepared = prepare(ids, token); !prepared) {
    log_->end(ids);
    return done(tl::unexpected(prepared.error()));
  }
  if (!tells_tokens()) token.clear();
  (inner().*function)(request, [log = log_, ids = std::move(ids), token = std::move(token),
                                done = std::move(done)](store::Answer<Response> answer) {
    log->end(ids, token);
    done(std::move(answer));
  });
}

store::Answer<store::WriteItemResponse> ForeignWrites::put_item(const store::PutItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::put_item);
}
store::Answer<store::WriteItemResponse> ForeignWrites::update_item(const store::UpdateItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::update_item);
}
store::Answer<store::WriteItemResponse> ForeignWrites::delete_item(const store::DeleteItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::delete_item);
}
store::Answer<store::BatchWriteItemResponse> ForeignWrites::batch_write_item(
    const store::BatchWriteItemRequest& request) {
  return write<store::BatchWriteItemResponse>(request, &store::Store::batch_write_item);
}
store::Answer<store::TransactWriteItemsResponse> ForeignWrites::transact_write_items(
    const store::TransactWriteItemsRequest& request) {
  return write<store::TransactWriteItemsResponse>(request, &store::Store::transact_write_items);
}

void ForeignWrites::put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) {
  write<store::WriteItemResponse>(request, std::move(done), &store::Store::put_item);
}
void ForeignWrites::update_item(const store::UpdateItemRequest& request,
                                store::Completion<store::WriteItemResponse> done) {
  write<store::WriteItemResponse>(request, std::move(done), &store::Store::update_item);
}
void ForeignWrites::delete_item(const store::DeleteItemRequest& request,
                                store::Completion<store::WriteItemResponse> done) {
  write<store::WriteItemResponse>(request, std::move(done), &store::Store::delete_item);
}
void ForeignWrites::batch_write_item(const store::BatchWriteItemRequest& request,
                                     store::Completion<store::BatchWriteItemResponse> done) {
  write<store::BatchWriteItemResponse>(request, std::move(done), &store::Store::batch_write_item);
}
void ForeignWrites::transact_write_items(const store::TransactWriteItemsRequest& request,
                                         store::Completion<store::TransactWriteItemsResponse> done) {
  write<store::TransactWriteItemsResponse>(request, std::move(done), &store::Store::transact_write_items);
}

}  // namespace postino::outbox
