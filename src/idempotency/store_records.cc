#include "idempotency/store_records.h"

#include "base/timestamp.h"

namespace postino::idempotency {

store::Answer<std::optional<item::Item>> StoreRecords::find(const std::string& partition_key) {
  store::GetItemRequest get;
  get.table_name = table_;
  get.key = {{"pk", partition_key}};
  get.consistent_read = true;
  TRY(store::GetItemResponse answer, store_.get_item(get));
  return std::move(answer.item);
}

store::TransactPut StoreRecords::put_of(const Record& record) const {
  store::TransactPut put;
  put.table_name = table_;
  put.item = to_item(record);
  return put;
}

store::Answer<void> StoreRecords::write(const store::TransactPut& put) {
  store::PutItemRequest request;
  request.table_name = put.table_name;
  request.item = put.item;
  request.condition = put.condition;
  request.placeholders = put.placeholders;
  request.return_item_on_failure = put.return_item_on_failure;
  TRY_VOID(store_.put_item(request));
  return {};
}

store::Answer<void> StoreRecords::insert(const Record& record) {
  store::TransactPut put = put_of(record);
  put.condition = store::ConditionExpression("attribute_not_exists(pk)");
  put.return_item_on_failure = true;
  return write(put);
}

store::Answer<void> StoreRecords::replace(const item::Item& seen, const Record& record) {
  store::TransactPut put = put_of(record);
  std::string condition;
  expr::Names names;
  item::Map values;
  for (const std::string name : {"status", "requestHash", "updatedAt", "expiresAt", "leaseOwner", "progress"}) {
    condition += condition.empty() ? "" : " AND ";
    names.emplace("#" + name, name);
    const item::AttributeValue* value = seen.find(name);
    if (value == nullptr) {
      condition.append("attribute_not_exists(#").append(name).append(")");
      continue;
    }
    condition.append("#").append(name).append(" = :").append(name);
    values.set(":" + name, *value);
  }
  put.condition = store::ConditionExpression(std::move(condition));
  put.placeholders.names = std::move(names);
  put.placeholders.values = std::move(values);
  return write(put);
}

store::TransactPut StoreRecords::put_if_free(const Record& record, base::TimePoint now) const {
  store::TransactPut put = put_of(record);
  put.condition = store::ConditionExpression(
      "attribute_not_exists(pk) OR expiresAt <= :now OR "
      "(#status = :failed AND (attribute_not_exists(progress) OR requestHash = :hash)) OR "
      "(#status = :in_progress AND leaseUntil <= :now AND requestHash = :hash)");
  put.placeholders.names = expr::Names{{"#status", "status"}};
  put.placeholders.values = item::Map{{":now", base::format_timestamp(now)},
                                      {":failed", "FAILED"},
                                      {":in_progress", "IN_PROGRESS"},
                                      {":hash", record.request_hash}};
  return put;
}

store::TransactPut StoreRecords::put_if_owned(const Record& record) const {
  store::TransactPut put = put_of(record);
  put.condition = store::ConditionExpression("leaseOwner = :owner AND #status = :in_progress");
  put.placeholders.names = expr::Names{{"#status", "status"}};
  put.placeholders.values = item::Map{{":owner", record.owner}, {":in_progress", "IN_PROGRESS"}};
  return put;
}

store::Answer<void> StoreRecords::replace_owned(const Record& record) { return write(put_if_owned(record)); }

store::TransactUpdate StoreRecords::hold_of(const Record& record, bool notes_progress) const {
  item::Map values{{":updated", base::format_timestamp(record.updated_at)},
                   {":until", base::format_timestamp(record.lease_until)},
                   {":expires", base::format_timestamp(record.expires_at)},
                   {":ttl", base::epoch_seconds(record.expires_at)}};
  std::string update = "SET updatedAt = :updated, leaseUntil = :until, expiresAt = :expires, #ttl = :ttl";
  if (notes_progress) {
    update += ", progress = :progress";
    values.set(":progress", record.progress);
  }
  return update_if_owned(record, std::move(update), {{"#ttl", "ttl"}}, std::move(values), Status::in_progress);
}

store::TransactUpdate StoreRecords::hold_if_owned(const Record& record) const { return hold_of(record, true); }

store::Answer<void> StoreRecords::hold(const Record& record, bool notes_progress) {
  return write(hold_of(record, notes_progress));
}

store::Answer<void> StoreRecords::replace_response(const Record& record, const std::string& noted) {
  store::TransactUpdate update;
  update.table_name = table_;
  update.key = {{"pk", partition_key(record.operation, record.key)}};
  update.update = store::UpdateExpression("SET responsePayload = :response");
  update.condition = store::ConditionExpression(
      "#status = :completed AND requestHash = :hash AND createdAt = :created AND responsePayload = :noted");
  update.placeholders.names = expr::Names{{"#status", "status"}};
  update.placeholders.values = item::Map{{":response", record.response},
                                         {":completed", "COMPLETED"},
                                         {":hash", record.request_hash},
                                         {":created", base::format_timestamp(record.created_at)},
                                         {":noted", noted}};
  return write(std::move(update));
}

store::Answer<void> StoreRecords::settle(const Record& record) {
  std::string update = "REMOVE progress, leaseUntil, leaseOwner SET updatedAt = :updated";
  expr::Names names;
  item::Map values{{":updated", base::format_timestamp(record.updated_at)}};
  // Until now it was kept for as long as the settlement might take.
  if (record.life_ends > record.updated_at) {
    update += ", expiresAt = :expires, #ttl = :ttl";
    names.emplace("#ttl", "ttl");
    values.set(":expires", base::format_timestamp(record.life_ends));
    values.set(":ttl", base::epoch_seconds(record.life_ends));
  }
  return write(update_if_owned(record, std::move(update), std::move(names), std::move(values), Status::completed));
}

store::TransactUpdate StoreRecords::update_if_owned(const Record& record, std::string text, expr::Names names,
                                                    item::Map values, Status status) const {
  store::TransactUpdate update;
  update.table_name = table_;
  update.key = {{"pk", partition_key(record.operation, record.key)}};
  update.update = store::UpdateExpression(std::move(text));
  update.condition = store::ConditionExpression("leaseOwner = :owner AND #status = :status");
  names.emplace("#status", "status");
  update.placeholders.names = std::move(names);
  values.set(":owner", record.owner);
  values.set(":status", status == Status::completed ? "COMPLETED" : "IN_PROGRESS");
  update.placeholders.values = std::move(values);
  return update;
}

store::Answer<void> StoreRecords::write(store::TransactUpdate update) {
  store::UpdateItemRequest request;
  request.table_name = std::move(update.table_name);
  request.key = std::move(update.key);
  request.update = std::move(update.update);
  request.condition = std::move(update.condition);
  request.placeholders = std::move(update.placeholders);
  TRY_VOID(store_.update_item(request));
  return {};
}

store::Answer<void> StoreRecords::put_part(const std::string& name, std::int64_t part, std::string bytes,
                                           base::TimePoint keep_until) {
  store::PutItemRequest request;
  request.table_name = table_ + "-answers";
  request.item = {{"pk", name}, {"part", part}, {"ttl", base::epoch_seconds(keep_until)}};
  request.item.set("content", item::Binary{std::move(bytes)});
  TRY_VOID(store_.put_item(request));
  return {};
}

store::Answer<std::optional<std::string>> StoreRecords::find_part(const std::string& name, std::int64_t part) {
  store::GetItemRequest request;
  request.table_name = table_ + "-answers";
  request.key = {{"pk", name}, {"part", part}};
  request.consistent_read = true;
  TRY(const store::GetItemResponse answer, store_.get_item(request));
  const item::AttributeValue* content = answer.item ? answer.item->find("content") : nullptr;
  const item::Binary* bytes = content != nullptr ? content->get_if<item::Binary>() : nullptr;
  return bytes != nullptr ? std::optional(bytes->bytes) : std::nullopt;
}

}  // namespace postino::idempotency
