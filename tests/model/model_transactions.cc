// Batches and transactions of the model.
#include <set>

#include "model_rules.h"
#include "model_store.h"

namespace postino::model {

namespace {

const std::string duplicate_keys = "Provided list of item keys contains duplicates";
const std::string duplicate_actions = "Transaction request cannot include multiple operations on one item";
const std::string no_table = "Requested resource not found";

// Finds items that are named twice.
class Distinct {
 public:
  bool add(const std::string& table, KeyValues key) { return seen_[table].insert(std::move(key)).second; }

 private:
  std::map<std::string, std::set<KeyValues, KeyLess>> seen_;
};

// Gathers why a transaction is cancelled.
class Cancellation {
 public:
  explicit Cancellation(std::size_t count) : reasons_(count) {}

  void add(std::size_t action, const Fault& cause) {
    cancelled_ = true;
    store::CancellationReason& reason = reasons_[action];
    if (cause.type == store::ErrorType::conditional_check_failed) {
      reason.code = "ConditionalCheckFailed";
      reason.item = cause.item;
    } else {
      if (has_validation_error_) return;
      has_validation_error_ = true;
      reason.code = "ValidationError";
    }
    if (cause.messages.size() == 1) reason.message = cause.messages.front();
  }
  bool cancelled() const { return cancelled_; }
  tl::unexpected<Fault> fault() const {
    return tl::unexpected<Fault>(Fault{store::ErrorType::transaction_canceled, {}, std::nullopt, reasons_});
  }

 private:
  std::vector<store::CancellationReason> reasons_;
  bool cancelled_ = false;
  bool has_validation_error_ = false;
};

}  // namespace

Expected<std::vector<Effect>> ModelStore::write_batch(const std::vector<WriteOperation>& operations) {
  Distinct distinct;
  bool repeated = false;
  std::vector<std::string> faults;
  for (const WriteOperation& operation : operations) {
    const ModelTable& table = tables.at(operation.table);
    const bool is_put = operation.kind == WriteOperation::Kind::put;
    if (auto fits = is_put ? check_item(table, operation.subject, true) : check_key(table, operation.subject); !fits)
      faults.push_back(fits.error().messages.front());
    else
      repeated |= !distinct.add(operation.table, table.key_values(operation.subject));
  }
  if (!faults.empty()) return invalid(faults);
  if (repeated) return invalid({duplicate_keys});
  std::vector<Effect> effects;
  for (const WriteOperation& operation : operations) {
    TRY(Effect effect, decide(operation));
    apply(operation, effect);
    effects.push_back(std::move(effect));
  }
  return effects;
}

Expected<std::vector<std::optional<item::Item>>> ModelStore::get_batch(
    const std::vector<GetOperation>& operations) const {
  Distinct distinct;
  std::vector<std::optional<item::Item>> items;
  std::vector<std::string> faults;  // of keys; which one comes first depends on the order of the tables
  for (const GetOperation& operation : operations)
    if (operation.projection && operation.projection->is_invalid()) return invalid();
  for (const GetOperation& operation : operations) {
    const ModelTable& table = tables.at(operation.table);
    if (auto fits = check_key(table, operation.key); !fits)
      faults.push_back(fits.error().messages.front());
    else if (!distinct.add(operation.table, table.key_values(operation.key)))
      faults.push_back(duplicate_keys);
    else
      items.push_back(*get(operation));
  }
  if (!faults.empty()) return invalid(faults);
  return items;
}

Expected<bool> ModelStore::was_done(const TransactionOperation& operation) const {
  if (!operation.token || !tokens_.contains(*operation.token)) return false;
  const Token& token = tokens_.at(*operation.token);
  if (now() >= token.expires) return false;
  if (token.request == operation.request_text) return true;
  return fault(store::ErrorType::idempotent_parameter_mismatch);
}

Expected<std::vector<Effect>> ModelStore::write_transaction(const TransactionOperation& operation) {
  for (const WriteOperation& write : operation.writes) TRY_VOID(check_request(write));
  Distinct distinct;
  bool repeated = false;
  Cancellation before_reading(operation.writes.size());
  for (std::size_t i = 0; i < operation.writes.size(); ++i) {
    const WriteOperation& write = operation.writes[i];
    if (!tables.contains(write.table)) return fault(store::ErrorType::resource_not_found, {no_table});
    const ModelTable& table = tables.at(write.table);
    TRY_VOID(check_key_not_empty(table, write.subject));
    if (auto fits = check_schema(write); !fits)
      before_reading.add(i, fits.error());
    else
      repeated |= !distinct.add(write.table, table.key_values(write.subject));
  }
  if (repeated) return invalid({duplicate_actions});
  if (before_reading.cancelled()) return before_reading.fault();

  TRY(const bool done_before, was_done(operation));
  if (done_before) return std::vector<Effect>();

  Cancellation cancellation(operation.writes.size());
  std::vector<Effect> effects;
  for (std::size_t i = 0; i < operation.writes.size(); ++i) {
    auto effect = decide(operation.writes[i]);
    if (effect)
      effects.push_back(std::move(*effect));
    else
      cancellation.add(i, effect.error());
  }
  if (cancellation.cancelled()) return cancellation.fault();
  for (std::size_t i = 0; i < effects.size(); ++i) apply(operation.writes[i], effects[i]);
  if (operation.token) tokens_[*operation.token] = {operation.request_text, now() + store::client_request_token_life};
  return effects;
}

Expected<std::vector<std::optional<item::Item>>> ModelStore::get_transaction(
    const std::vector<GetOperation>& operations) const {
  for (const GetOperation& operation : operations)
    if (operation.projection && operation.projection->is_invalid()) return invalid();
  Distinct distinct;
  Cancellation cancellation(operations.size());
  bool repeated = false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const ModelTable& table = tables.at(operations[i].table);
    if (auto fits = check_key(table, operations[i].key); !fits)
      cancellation.add(i, fits.error());
    else
      repeated |= !distinct.add(operations[i].table, table.key_values(operations[i].key));
  }
  if (repeated) return invalid({duplicate_actions});
  if (cancellation.cancelled()) return cancellation.fault();
  std::vector<std::optional<item::Item>> items;
  for (const GetOperation& operation : operations) {
    TRY(auto item, get(operation));
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace postino::model
