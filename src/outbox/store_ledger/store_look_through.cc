// The look at all e-mails: for those that other programs have written while no server was running, by an earlier
// version or before the table was Postino's. It is made once in the life of the tables, and again after other programs
// could write unseen: a note says that it was made.
//
// On a shared store one process makes it for all. The note says who and since when; if the note is removed meanwhile,
// because another process has let a program write unseen, the look starts over.
#include <algorithm>

#include "item/attribute_text.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

constexpr const char* looking_name = "Looking";      // the token of the process that looks
constexpr const char* looking_since_name = "Since";  // in milliseconds

// A process that takes longer, for a page or for all, counts as gone.
constexpr base::Milliseconds longest_look = std::chrono::hours(1);
// On a shared store the note may be removed at any time.
constexpr base::Milliseconds between_looks_at_note = std::chrono::minutes(10);
constexpr base::Milliseconds after_disturbance = std::chrono::minutes(1);

}  // namespace

base::Result<StoreLedger::LookThrough> StoreLedger::find_look_through() {
  store::GetItemRequest get;
  get.table_name = tables_.counts();
  get.key = look_through_key();
  get.consistent_read = true;
  const auto answer = retry_([&] { return store_.get_item(get); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  if (!answer->item) return LookThrough::due;
  const std::string token = item::attribute_text(*answer->item, looking_name);
  if (token.empty()) return LookThrough::done;
  const item::AttributeValue* const since = answer->item->find(looking_since_name);
  const item::Number* const time = since != nullptr ? since->get_if<item::Number>() : nullptr;
  const bool is_under_way =
      time != nullptr && *time > item::Number(base::epoch_milliseconds(clock_.now() - longest_look));
  return is_under_way && token != look_token_ ? LookThrough::of_another : LookThrough::due;
}

base::Result<void> StoreLedger::begin_look_through() {
  if (!is_shared()) return {};
  look_token_ = base::make_uuid(random_);
  store::PutItemRequest put;
  put.table_name = tables_.counts();
  put.item = look_through_key();
  put.item.set(looking_name, look_token_);
  put.item.set(looking_since_name, base::epoch_milliseconds(clock_.now()));
  const auto answer = retry_([&] { return store_.put_item(put); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return {};
}

// False when the note is another one by now.
base::Result<bool> StoreLedger::end_look_through() {
  store::PutItemRequest put;
  put.table_name = tables_.counts();
  put.item = look_through_key();
  if (is_shared()) {
    // Without a token the look was ended by an attempt whose answer did not come, or by another process.
    put.condition = "#looking = :token OR (attribute_exists(Tenant) AND attribute_not_exists(#looking))";
    put.placeholders.names = expr::Names{{"#looking", looking_name}};
    put.placeholders.values = item::Map{{":token", look_token_}};
  }
  const auto answer = retry_([&] { return store_.put_item(put); });
  if (!answer && answer.error().type == store::ErrorType::conditional_check_failed) return false;
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return true;
}

// E-mails from the place on that was reached. Without the index that has them alone, all records are looked at.
store::Answer<store::PageResponse> StoreLedger::read_some(int limit) {
  const auto read = [&](auto request) {
    request.table_name = tables_.emails;
    request.placeholders.names = expr::Names{{"#status", "Status"}};
    request.placeholders.values = item::Map{{":meta", meta_status}};
    request.limit = limit;
    request.exclusive_start_key = looked_up_to_;
    return request;
  };
  if (!tables_.has_status_index) {
    auto scan = read(store::ScanRequest());
    scan.filter = "#status = :meta";
    scan.projection = "Id";
    return store_.scan(scan);
  }
  auto query = read(store::QueryRequest());
  query.index_name = std::string(status_index);
  query.key_condition = "#status = :meta";
  return store_.query(query);
}

base::Result<bool> StoreLedger::look_for_foreign(int limit) {
  if (is_adoption_left_.exchange(false) && options_.foreign_writes) options_.foreign_writes->be_asked_again();
  if (!looked_up_to_) {
    const base::Milliseconds now = clock_.monotonic();
    if (is_shared() ? now < next_look_at_note_ : is_looked_through_) return false;
    TRY(const LookThrough found, find_look_through());
    if (found != LookThrough::due) next_look_at_note_ = now + between_looks_at_note;
    is_looked_through_ = found == LookThrough::done;
    if (found != LookThrough::due) return false;
    TRY_VOID(begin_look_through());
  }
  const auto page = retry_([&] { return read_some(std::min<int>(limit, store::max_batch_get_keys)); });
  if (!page) return base::propagate(store::as_error(page.error()));
  std::vector<std::string> ids;
  for (const item::Item& entry : page->items) ids.push_back(entry.find("Id")->as<std::string>());
  TRY(const std::vector<item::Item> metas, read_metas(ids));
  for (const item::Item& meta : metas)
    if (needs_adoption(meta)) {
      const std::string& id = meta.find("Id")->as<std::string>();
      const std::lock_guard turn(adoption_turn_);
      TRY(const bool done, adopt_or_leave(id));
      if (!done) TRY_VOID(mark(id));
    }
  looked_up_to_ = page->last_evaluated_key;
  if (looked_up_to_) return true;
  TRY(is_looked_through_, end_look_through());
  next_look_at_note_ = clock_.monotonic() + (is_looked_through_ ? between_looks_at_note : after_disturbance);
  return false;
}

}  // namespace postino::outbox
