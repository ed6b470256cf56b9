#include <algorithm>

#include "remote/protocol/answers.h"
#include "remote/protocol/capacity_answers.h"

namespace postino::remote {

namespace {

using Json = AnswerReader::Json;

bool read_batch_write(AnswerReader& reader, Json json, store::BatchWrite& out) {
  return reader.members(json, [&](std::string_view kind, Json value) {
    return reader.members(value, [&](std::string_view name, Json map) {
      if (kind == "PutRequest" && name == "Item") return reader.item(map, out.emplace<store::BatchPut>().item);
      if (kind == "DeleteRequest" && name == "Key") return reader.item(map, out.emplace<store::BatchDelete>().key);
      return true;
    });
  });
}

// Keys that were not read; everything else about them is as it was asked for.
bool read_unprocessed_keys(AnswerReader& reader, Json json, const std::vector<store::BatchGetTable>& requested,
                           std::vector<store::BatchGetTable>& out) {
  return reader.members(json, [&](std::string_view table, Json value) {
    const auto found = std::ranges::find(requested, table, &store::BatchGetTable::table_name);
    store::BatchGetTable& left = out.emplace_back();
    if (found != requested.end())
      left = {found->table_name, {}, found->projection, found->placeholders, found->consistent_read};
    left.table_name.assign(table);
    return reader.members(
        value, [&](std::string_view name, Json keys) { return name == "Keys" ? reader.items(keys, left.keys) : true; });
  });
}

bool read_table_items(AnswerReader& reader, Json json, std::vector<store::BatchGetItemResponse::TableItems>& out) {
  return reader.members(json, [&](std::string_view table, Json value) {
    auto found = std::ranges::find(out, table, &store::BatchGetItemResponse::TableItems::table_name);
    if (found == out.end()) found = out.insert(out.end(), {std::string(table), {}});
    return reader.items(value, found->items);
  });
}

}  // namespace

base::Result<store::GetItemResponse> decode_get_item(std::string body) {
  return read_success<store::GetItemResponse>(
      std::move(body), "", [](AnswerReader& reader, std::string_view name, Json value, store::GetItemResponse& out) {
        if (name == "Item") return reader.item(value, out.item);
        if (name == "ConsumedCapacity") return read_capacity(reader, value, out.consumed_capacity.emplace());
        return true;
      });
}

base::Result<store::WriteItemResponse> decode_write_item(std::string body) {
  return read_success<store::WriteItemResponse>(
      std::move(body), "", [](AnswerReader& reader, std::string_view name, Json value, store::WriteItemResponse& out) {
        if (name == "Attributes") return reader.item(value, out.attributes);
        if (name == "ConsumedCapacity") return read_capacity(reader, value, out.consumed_capacity.emplace());
        if (name == "ItemCollectionMetrics")
          return read_collection_metrics(reader, value, out.item_collection_metrics.emplace());
        return true;
      });
}

base::Result<store::PageResponse> decode_page(std::string body) {
  return read_success<store::PageResponse>(
      std::move(body), "Count", [](AnswerReader& reader, std::string_view name, Json value, store::PageResponse& out) {
        if (name == "Items") return reader.items(value, out.items);
        if (name == "Count") return reader.integer(value, out.count);
        if (name == "ScannedCount") return reader.integer(value, out.scanned_count);
        if (name == "LastEvaluatedKey") return reader.item(value, out.last_evaluated_key);
        if (name == "ConsumedCapacity") return read_capacity(reader, value, out.consumed_capacity.emplace());
        return true;
      });
}

base::Result<store::BatchGetItemResponse> decode_batch_get(std::string body,
                                                           const std::vector<store::BatchGetTable>& requested) {
  store::BatchGetItemResponse response;
  for (const store::BatchGetTable& table : requested) response.tables.push_back({table.table_name, {}});
  return read_success<store::BatchGetItemResponse>(
      std::move(body), "Responses",
      [&](AnswerReader& reader, std::string_view name, Json value, store::BatchGetItemResponse& out) {
        if (name == "Responses") return read_table_items(reader, value, out.tables);
        if (name == "UnprocessedKeys") return read_unprocessed_keys(reader, value, requested, out.unprocessed);
        if (name == "ConsumedCapacity") return read_capacity_list(reader, value, out.consumed_capacity);
        return true;
      },
      std::move(response));
}

base::Result<store::BatchWriteItemResponse> decode_batch_write(std::string body) {
  return read_success<store::BatchWriteItemResponse>(
      std::move(body), "",
      [](AnswerReader& reader, std::string_view name, Json value, store::BatchWriteItemResponse& out) {
        if (name == "ConsumedCapacity") return read_capacity_list(reader, value, out.consumed_capacity);
        if (name == "ItemCollectionMetrics") return read_table_metrics(reader, value, out.item_collection_metrics);
        if (name != "UnprocessedItems") return true;
        return reader.members(value, [&](std::string_view table, Json writes) {
          store::BatchWriteTable& left = out.unprocessed.emplace_back();
          left.table_name.assign(table);
          return reader.elements(writes,
                                 [&](Json each) { return read_batch_write(reader, each, left.writes.emplace_back()); });
        });
      });
}

base::Result<store::TransactGetItemsResponse> decode_transact_get(std::string body) {
  return read_success<store::TransactGetItemsResponse>(
      std::move(body), "Responses",
      [](AnswerReader& reader, std::string_view name, Json value, store::TransactGetItemsResponse& out) {
        if (name == "ConsumedCapacity") return read_capacity_list(reader, value, out.consumed_capacity);
        if (name != "Responses") return true;
        return reader.elements(value, [&](Json each) {
          auto& item = out.items.emplace_back();
          return reader.members(each, [&](std::string_view member, Json map) {
            return member == "Item" ? reader.item(map, item) : true;
          });
        });
      });
}

base::Result<store::TransactWriteItemsResponse> decode_transact_write(std::string body) {
  return read_success<store::TransactWriteItemsResponse>(
      std::move(body), "",
      [](AnswerReader& reader, std::string_view name, Json value, store::TransactWriteItemsResponse& out) {
        if (name == "ConsumedCapacity") return read_capacity_list(reader, value, out.consumed_capacity);
        if (name == "ItemCollectionMetrics") return read_table_metrics(reader, value, out.item_collection_metrics);
        return true;
      });
}

}  // namespace postino::remote
