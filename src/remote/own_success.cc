#include "remote/own_success.h"

#include "expr/expression.h"

namespace postino::remote {

namespace {

using store::ReturnValues;

const item::Item* item_seen(const store::Error& refusal) {
  return refusal.details != nullptr && refusal.details->item ? &*refusal.details->item : nullptr;
}

base::Result<expr::BoundUpdate> bind_update(const store::UpdateItemRequest& request) {
  expr::Update update = request.update->parsed();
  if (update == nullptr) {
    TRY(update, expr::cached_update(request.update->text()));
  }
  return expr::Binder(request.placeholders).bind(update);
}

// What was there before cannot be told once it is done.
bool returns_the_past(ReturnValues values) {
  return values == ReturnValues::all_old || values == ReturnValues::updated_old;
}

}  // namespace

bool is_repeatable(const store::PutItemRequest& request) { return request.return_values == ReturnValues::none; }

bool is_repeatable(const store::DeleteItemRequest& request) { return request.return_values == ReturnValues::none; }

bool is_repeatable(const store::UpdateItemRequest& request) {
  if (returns_the_past(request.return_values)) return false;
  if (!request.update) return true;
  const auto bound = bind_update(request);
  return bound && bound->is_repeatable();
}

std::optional<store::WriteItemResponse> own_success(const store::PutItemRequest& request, const store::Error& refusal) {
  const item::Item* const seen = item_seen(refusal);
  if (seen == nullptr || !(*seen == request.item)) return std::nullopt;
  return store::WriteItemResponse();
}

std::optional<store::WriteItemResponse> own_success(const store::UpdateItemRequest& request,
                                                    const store::Error& refusal) {
  const item::Item* const seen = item_seen(refusal);
  if (seen == nullptr) return std::nullopt;
  store::WriteItemResponse response;
  if (request.return_values == ReturnValues::all_new) response.attributes = *seen;
  if (!request.update) return response;
  const auto bound = bind_update(request);
  if (!bound || !bound->is_repeatable()) return std::nullopt;
  const auto after = bound->apply(*seen);
  if (!after || !(*after == *seen)) return std::nullopt;
  if (request.return_values == ReturnValues::updated_new) response.attributes = bound->touched(*seen);
  return response;
}

std::optional<store::WriteItemResponse> own_success(const store::DeleteItemRequest&, const store::Error& refusal) {
  if (item_seen(refusal) != nullptr) return std::nullopt;
  return store::WriteItemResponse();
}

}  // namespace postino::remote
