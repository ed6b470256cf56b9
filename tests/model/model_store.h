// The naive model: the whole store as maps, without a thought for speed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model_table.h"
#include "operation.h"
#include "store/error.h"

namespace postino::model {

// An error that the store must report. Where several things are wrong, or the wording is not known, more than one
// message will do; none means that any will.
struct Fault {
  store::ErrorType type = store::ErrorType::validation;
  std::vector<std::string> messages;
  std::optional<item::Item> item;                  // of a failed condition
  std::vector<store::CancellationReason> reasons;  // of a cancelled transaction; an empty message stands for any
};

template <class T>
using Expected = base::Result<T, Fault>;

inline tl::unexpected<Fault> fault(store::ErrorType type, std::vector<std::string> messages = {}) {
  return tl::unexpected<Fault>(Fault{type, std::move(messages), std::nullopt, {}});
}
inline tl::unexpected<Fault> invalid(std::vector<std::string> messages = {}) {
  return fault(store::ErrorType::validation, std::move(messages));
}

// What a write does: the item before and after.
struct Effect {
  std::optional<item::Item> before;
  std::optional<item::Item> after;
};

struct WriteAnswer {
  std::optional<item::Item> attributes;
  Effect effect;
};

class ModelStore {
 public:
  explicit ModelStore(std::shared_ptr<base::Clock> clock) : clock_(std::move(clock)) {}

  std::map<std::string, ModelTable> tables;

  base::TimePoint now() const { return clock_->now(); }

  Expected<WriteAnswer> write(const WriteOperation& operation);
  Expected<std::optional<item::Item>> get(const GetOperation& operation) const;
  // Puts and removes; conditions and updates are not for batches.
  Expected<std::vector<Effect>> write_batch(const std::vector<WriteOperation>& operations);
  Expected<std::vector<std::optional<item::Item>>> get_batch(const std::vector<GetOperation>& operations) const;
  // Empty when the transaction was done before under its token.
  Expected<std::vector<Effect>> write_transaction(const TransactionOperation& operation);
  Expected<std::vector<std::optional<item::Item>>> get_transaction(const std::vector<GetOperation>& operations) const;

 private:
  // What is wrong with the operation before its item is looked at.
  Expected<void> check_request(const WriteOperation& operation) const;
  Expected<void> check_schema(const WriteOperation& operation) const;
  // What it does, without doing it.
  Expected<Effect> decide(const WriteOperation& operation) const;
  void apply(const WriteOperation& operation, const Effect& effect);
  // True when the same request was done before under its token.
  Expected<bool> was_done(const TransactionOperation& operation) const;

  struct Token {
    std::string request;
    base::TimePoint expires;
  };

  std::shared_ptr<base::Clock> clock_;
  std::map<std::string, Token> tokens_;
};

}  // namespace postino::model
