#include "engine/items/transaction_tokens.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "item/binary_codec.h"

namespace postino::engine {

namespace {

constexpr char by_token = 't';
constexpr char by_expiry = 'e';

std::string encode_token_record(const TokenRecord& record) {
  std::string bytes;
  base::append_big_endian(bytes, base::epoch_milliseconds(record.expires));
  return bytes + record.request_hash;
}

base::Result<TokenRecord> decode_token_record(std::string_view bytes) {
  base::ByteReader reader(bytes);
  const auto expires = reader.big_endian<std::int64_t>();
  if (!expires) return base::fail(base::ErrorCode::corrupt, "the record of a client request token is damaged");
  return TokenRecord{base::from_epoch_milliseconds(*expires), std::string(reader.rest())};
}

template <class Expression>
void append_expression(std::string& out, const std::optional<Expression>& expression) {
  out.push_back(expression ? 1 : 0);
  if (expression) base::append_sized(out, expression->text());
}

void append_placeholders(std::string& out, const expr::Placeholders& placeholders) {
  if (placeholders.names)
    for (const auto& [placeholder, name] : *placeholders.names)
      base::append_sized(out, placeholder), base::append_sized(out, name);
  out.push_back(0);
  if (placeholders.values) item::encode(out, *placeholders.values);
}

template <class Action>
void append_action(std::string& out, const Action& action) {
  base::append_sized(out, action.table_name);
  if constexpr (requires { action.item; })
    item::encode(out, action.item);
  else
    item::encode(out, action.key);
  if constexpr (requires { action.update; }) append_expression(out, action.update);
  append_expression(out, action.condition);
  append_placeholders(out, action.placeholders);
  out.push_back(action.return_item_on_failure ? 1 : 0);
}

}  // namespace

std::string token_key(const std::string& token) { return by_token + token; }

std::string token_expiry_key(const std::string& token, base::TimePoint expires) {
  std::string key(1, by_expiry);
  base::append_big_endian(key, base::epoch_milliseconds(expires));
  return key + token;
}

std::string token_of_expiry_key(std::string_view key) {
  constexpr std::size_t before_token = 1 + sizeof(std::int64_t);
  CHECK(key.size() >= before_token);
  return std::string(key.substr(before_token));
}

std::string token_lock_key(const std::string& token) {
  // No table has the id 0.
  std::string key(sizeof(ObjectId), '\0');
  return key + token;
}

base::Result<std::optional<TokenRecord>> find_token(const Core& core, const std::string& token,
                                                    bool& depends_on_pending) {
  std::optional<TokenRecord> record;
  if (const PendingItem* pending = core.locks.find_pending(token_lock_key(token))) {
    depends_on_pending = true;
    TRY(record, decode_token_record(pending->item->bytes));
  } else {
    TRY(const auto bytes, core.database->get(Family::tokens, token_key(token)));
    if (!bytes) return std::nullopt;
    TRY(record, decode_token_record(bytes->ToStringView()));
  }
  return record->expires > core.now() ? record : std::nullopt;
}

StoredItemPointer put_token(const std::string& token, const TokenRecord& record, CommitEntry& entry) {
  auto pending = std::make_shared<StoredItem>();
  pending->bytes = encode_token_record(record);
  entry.put(Family::tokens, token_key(token), pending->bytes);
  entry.put(Family::tokens, token_expiry_key(token, record.expires), {});
  return pending;
}

std::string hash_of(const store::TransactWriteItemsRequest& request) {
  std::string canonical;
  for (const store::TransactAction& action : request.actions) {
    canonical.push_back(static_cast<char>(action.index()));
    std::visit([&](const auto& alternative) { append_action(canonical, alternative); }, action);
  }
  canonical.push_back(request.report.item_collection_metrics ? 1 : 0);
  return base::sha256(canonical);
}

}  // namespace postino::engine
