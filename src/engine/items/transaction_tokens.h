// Client request tokens: a transaction that was done once is not done again for ten minutes.
#pragma once

#include <optional>
#include <string>

#include "engine/catalog/core.h"
#include "store/transaction.h"

namespace postino::engine {

struct TokenRecord {
  base::TimePoint expires;
  std::string request_hash;  // SHA-256 of everything the request asks for
};

// tokens: 't' and the token, for the record; 'e', the millisecond of expiry and the token, to find what has expired.
std::string token_key(const std::string& token);
std::string token_expiry_key(const std::string& token, base::TimePoint expires);
std::string token_of_expiry_key(std::string_view key);

// A key to lock and to keep pending, apart from those of all items.
std::string token_lock_key(const std::string& token);

// The record of a token that has not expired, in the queue or on disk. The lock of token_lock_key is held.
base::Result<std::optional<TokenRecord>> find_token(const Core& core, const std::string& token,
                                                    bool& depends_on_pending);

// Adds the record to the entry and returns it in the form that becomes pending.
StoredItemPointer put_token(const std::string& token, const TokenRecord& record, CommitEntry& entry);

// The same for the same request and, for all practical purposes, for no other; how capacity is reported does not count.
std::string hash_of(const store::TransactWriteItemsRequest& request);

}  // namespace postino::engine
