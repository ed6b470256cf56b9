#include "metrics/follow/checkpoint.h"

#include <algorithm>

#include "base/log.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "store/place_form.h"

namespace postino::metrics {

namespace {

constexpr std::string_view hash_name = "metric_name";
constexpr std::string_view position_before_all = "100000000000000000000";

item::Key key_of_checkpoint(const std::string& follower) {
  return {{std::string(hash_name), checkpoint_name(follower)}};
}

// The condition that it is still the one that was seen.
template <class Action>
void require_version(Action& action, std::int64_t version) {
  action.condition = version == 0 ? "attribute_not_exists(#name)" : "#version = :seen";
  if (version == 0) {
    action.placeholders.names = expr::Names{{"#name", std::string(hash_name)}};
  } else {
    action.placeholders.names = expr::Names{{"#version", "version"}};
    action.placeholders.values = item::Map{{":seen", version}};
  }
}

// The condition that an item that cannot be read is still the one that was seen.
void require_same(store::PutItemRequest& put, const item::Item& seen) {
  std::string condition;
  item::Map values;
  for (const std::string name : {"version", "position", "shards"}) {
    if (!condition.empty()) condition += " AND ";
    const item::AttributeValue* const value = seen.find(name);
    condition += value != nullptr ? "#" + name + " = :" + name : "attribute_not_exists(#" + name + ")";
    if (value != nullptr) values.set(":" + name, *value);
  }
  put.condition = std::move(condition);
  put.placeholders.names = expr::Names{{"#version", "version"}, {"#position", "position"}, {"#shards", "shards"}};
  if (!values.empty()) put.placeholders.values = std::move(values);
}

const store::CancellationReason* reason_at(const store::Error& error, std::size_t place) {
  if (error.type != store::ErrorType::transaction_canceled || error.details == nullptr) return nullptr;
  return place < error.details->reasons.size() ? &error.details->reasons[place] : nullptr;
}

bool was_done_or_not(const store::Error& error) { return error.type == store::ErrorType::internal_server_error; }

}  // namespace

std::string checkpoint_name(const std::string& follower) { return "checkpoint#" + follower; }

item::Item checkpoint_item(const std::string& follower, const Checkpoint& checkpoint) {
  item::Item item = key_of_checkpoint(follower);
  item.set("version", checkpoint.version);
  // A checkpoint has a position also before it has followed a stream.
  if (checkpoint.place.positions.empty()) item.set("position", std::string(position_before_all));
  store::put_place(item, "position", checkpoint.place);
  item.set("updated_at", base::format_timestamp(checkpoint.at));
  if (!checkpoint.due.empty()) item.set("due", checkpoint.due);
  if (!checkpoint.owner.empty()) item.set("owner", checkpoint.owner);
  if (!checkpoint.notes.empty()) item.set("notes", checkpoint.notes);
  return item;
}

base::Result<Checkpoint> read_checkpoint(const item::Item& item) {
  Checkpoint checkpoint;
  const item::AttributeValue* const version = item.find("version");
  const auto* const number = version != nullptr ? version->get_if<item::Number>() : nullptr;
  const auto whole = number != nullptr ? number->to_int64() : std::nullopt;
  auto place = store::place_in(item, "position");
  if (!whole || *whole < 1 || !place)
    return base::fail(base::ErrorCode::corrupt,
                      item::attribute_text(item, hash_name) + " cannot be read: version and position must be there");
  checkpoint.version = *whole;
  checkpoint.place = *std::move(place);
  checkpoint.due = item::attribute_text(item, "due");
  checkpoint.owner = item::attribute_text(item, "owner");
  if (const auto at = base::parse_timestamp(item::attribute_text(item, "updated_at"))) checkpoint.at = *at;
  const item::AttributeValue* const notes = item.find("notes");
  if (const auto* const map = notes != nullptr ? notes->get_if<item::Map>() : nullptr) checkpoint.notes = *map;
  return checkpoint;
}

item::Item CheckpointKeeper::item_of(const Checkpoint& checkpoint) const {
  return checkpoint_item(options_.follower, checkpoint);
}

Outcome<std::optional<item::Item>> CheckpointKeeper::load() {
  store::GetItemRequest request;
  request.table_name = options_.table;
  request.key = key_of_checkpoint(options_.follower);
  request.consistent_read = true;
  const auto answer = retry_([&] { return store_.get_item(request); });
  if (!answer) return temporary(answer.error());
  return answer->item;
}

Outcome<bool> CheckpointKeeper::take(const Checkpoint& seen) {
  Checkpoint next = seen;
  next.version = seen.version + 1;
  if (seen.version == 0) next.due = nothing_counted;
  store::PutItemRequest request;
  require_version(request, seen.version);
  return claim(std::move(next), std::move(request));
}

Outcome<bool> CheckpointKeeper::replace_spoilt(const item::Item& seen, const std::string& fault) {
  Checkpoint next;
  next.version = 1;
  next.due = checkpoint_spoilt;
  store::PutItemRequest request;
  require_same(request, seen);
  TRY(const bool is_ours, claim(std::move(next), std::move(request)));
  if (is_ours)
    base::log_error("metrics", "a checkpoint was damaged, and everything is done again",
                    {{"follower", options_.follower}, {"cause", fault}});
  return is_ours;
}

Outcome<bool> CheckpointKeeper::claim(Checkpoint next, store::PutItemRequest request) {
  next.owner = options_.owner;
  next.at = clock_.now();
  request.table_name = options_.table;
  request.item = item_of(next);
  const auto answer = retry_([&] { return store_.put_item(request); });
  if (!answer && answer.error().type == store::ErrorType::conditional_check_failed) return false;
  if (!answer) return temporary(answer.error());
  checkpoint_ = std::move(next);
  holds_ = true;
  written_ = clock_.monotonic();
  silence_.forget();
  return true;
}

Outcome<bool> CheckpointKeeper::hold() {
  if (holds_) return true;
  TRY(const std::optional<item::Item> item, load());
  if (!item) return take(Checkpoint());
  const auto found = read_checkpoint(*item);
  if (!found) return replace_spoilt(*item, found.error().message);
  checkpoint_ = *found;
  if (found->owner == options_.owner) {
    holds_ = true;
    written_ = clock_.monotonic();
    return true;
  }
  if (!found->owner.empty() && !options_.alone &&
      !silence_.has_lasted(found->version, clock_.monotonic(), options_.lease))
    return false;
  return take(*found);
}

Checkpoint CheckpointKeeper::moved_behind(std::span<const store::StreamRecord> records) const {
  Checkpoint next = checkpoint_;
  for (const store::StreamRecord& record : records) next.place.move_to(record);
  return next;
}

Checkpoint CheckpointKeeper::begun_at(const store::StreamPlace& place) const {
  Checkpoint next = checkpoint_;
  next.place = place;
  next.due.clear();
  return next;
}

// The error of a commit: was it done after all?
Outcome<void> CheckpointKeeper::settle(const store::Error& error, const Checkpoint& next) {
  holds_ = false;
  TRY(const std::optional<item::Item> item, load());
  const auto found = read_checkpoint(item.value_or(item::Item()));
  if (!found || found->owner != options_.owner)
    return trouble(Trouble::followed, "another process follows the stream now");
  holds_ = true;
  if (found->version == next.version) {
    checkpoint_ = next;
    return {};
  }
  checkpoint_ = *found;
  if (found->version + 1 == next.version) return temporary(error);
  holds_ = false;
  return trouble(Trouble::lost, "the checkpoint was changed by another program");
}

Outcome<void> CheckpointKeeper::write(Checkpoint next, std::vector<store::TransactAction> actions) {
  next.owner = options_.owner;
  next.version = checkpoint_.version + 1;
  next.at = clock_.now();
  store::TransactPut put;
  put.table_name = options_.table;
  put.item = item_of(next);
  require_version(put, checkpoint_.version);
  store::TransactWriteItemsRequest request;
  request.actions.emplace_back(std::move(put));
  std::ranges::move(actions, std::back_inserter(request.actions));
  const auto answer = retry_.transact(store_, request);
  if (!answer) {
    const store::Error& error = answer.error();
    const store::CancellationReason* const own = reason_at(error, 0);
    if (was_done_or_not(error) || (own != nullptr && own->code == "ConditionalCheckFailed")) return settle(error, next);
    for (std::size_t place = 1; place < request.actions.size(); ++place) {
      const store::CancellationReason* const reason = reason_at(error, place);
      if (reason != nullptr && (reason->code == "ConditionalCheckFailed" || reason->code == "ValidationError"))
        return trouble(Trouble::figures, reason->message);
    }
    if (error.type == store::ErrorType::validation) return trouble(Trouble::record, error.message);
    return temporary(error);
  }
  checkpoint_ = std::move(next);
  written_ = clock_.monotonic();
  return {};
}

Outcome<void> CheckpointKeeper::commit(Checkpoint next, std::vector<store::TransactAction> actions) {
  return write(std::move(next), std::move(actions));
}

Outcome<void> CheckpointKeeper::commit_part(std::vector<store::TransactAction> actions) {
  return write(checkpoint_, std::move(actions));
}

Outcome<void> CheckpointKeeper::renew() {
  if (options_.alone || clock_.monotonic() - written_ < options_.lease / 3) return {};
  return write(checkpoint_, {});
}

void CheckpointKeeper::release() {
  if (!holds_) return;
  holds_ = false;
  Checkpoint next = checkpoint_;
  next.owner.clear();
  ++next.version;
  next.at = clock_.now();
  store::PutItemRequest put;
  put.table_name = options_.table;
  put.item = item_of(next);
  require_version(put, checkpoint_.version);
  (void)store_.put_item(put);  // if it is not done, the lease ends by itself
}

}  // namespace postino::metrics
