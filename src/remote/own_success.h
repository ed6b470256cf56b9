// Recognises a conditional write that was done although its answer was lost: when it was sent again, its condition did
// not hold any more. Pure code.
#pragma once

#include <optional>

#include "store/error.h"
#include "store/item_operations.h"

namespace postino::remote {

// May it be sent again after an attempt that may have been done? Then doing it twice leaves what doing it once does,
// and its answer is the same.
bool is_repeatable(const store::PutItemRequest& request);
bool is_repeatable(const store::UpdateItemRequest& request);
bool is_repeatable(const store::DeleteItemRequest& request);

// The answer to a write whose repeat was refused because its condition does not hold, when the item shows that it was
// done: the item is as the write leaves it, or gone. nullopt when that cannot be told. `refusal` has the item, because
// a repeat asks for it.
std::optional<store::WriteItemResponse> own_success(const store::PutItemRequest& request, const store::Error& refusal);
std::optional<store::WriteItemResponse> own_success(const store::UpdateItemRequest& request,
                                                    const store::Error& refusal);
std::optional<store::WriteItemResponse> own_success(const store::DeleteItemRequest& request,
                                                    const store::Error& refusal);

}  // namespace postino::remote
