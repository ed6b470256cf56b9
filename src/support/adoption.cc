#include "support/adoption.h"

#include <array>

#include "base/log.h"
#include "item/attribute_text.h"
#include "support/record/feedback.h"

namespace postino::support {

namespace {

constexpr int adoption_rounds = 8;     // the item may change between the look and the write
constexpr int records_for_note = 500;  // until the position is written down
// Where nothing but the note itself changes, it is written again after this time, so that it stays within what the
// stream keeps.
constexpr base::Milliseconds note_life = std::chrono::hours(6);

bool is_sort(const std::string& sort, std::string_view begin) { return sort.starts_with(begin); }

// Is it about this record alone, which then keeps no others back? That is told.
bool is_left(const Refusal& refusal, const item::Map& key) {
  if (refusal.kind != RefusalKind::corrupt && refusal.kind != RefusalKind::invalid) return false;
  base::log_warning("support", "an item of another program is left as it is",
                    {{"record", key_text(key)}, {"cause", refusal.message}});
  return true;
}

}  // namespace

Adoption::Adoption(TicketStore& store, TicketWriter& writer, store::Lease* lease)
    : store_(store),
      writer_(writer),
      note_(store.store(), store.tables().tickets, Keys::position()),
      changes_(store.store(), store.tables().tickets, note_, store.clock(), note_life, lease) {}

OrRefusal<int> Adoption::run_once(int limit, base::Milliseconds timeout) {
  if (is_looking_through_) {
    const auto is_ours = changes_.has_turn();
    if (!is_ours) return base::propagate(refusal_of(is_ours.error()));
    if (*is_ours) return look_through(limit);
    // Who has it now looks at all of them, too, because no place was noted.
    is_looking_through_ = false;
    looked_up_to_.reset();
  }
  const auto changes = changes_.next(limit, timeout);
  if (!changes) return base::propagate(refusal_of(changes.error()));
  // What was written before the oldest record that is kept is found in the table.
  is_looking_through_ = !changes->missed.empty();
  if (is_looking_through_ && changes->missed != store::no_place_noted)
    base::log_warning("support", "changes of tickets were missed, and all tickets are looked at",
                      {{"cause", changes->missed}});
  int written = 0;
  for (const store::StreamRecord& record : changes->records) {
    const auto looked = look_at(record);
    if (looked) {
      written += *looked;
    } else if (!is_left(looked.error(), record.keys)) {
      changes_.drop();  // the next call begins with this record
      return base::propagate(looked.error());
    }
    changes_.done(record);
    // The note is a change of the table itself: it is no reason for the next one.
    if (record.keys != Keys::position()) ++seen_since_note_;
  }
  TRY_VOID(note_position(changes->records.empty()));
  return written;
}

OrRefusal<int> Adoption::look_through(int limit) {
  store::ScanRequest request;
  request.table_name = store_.tables().tickets;
  request.filter = "SK = :metadata OR begins_with(SK, :feedback)";
  request.placeholders.values = item::Map{{":feedback", feedback_begin}, {":metadata", metadata_sort}};
  request.limit = limit;
  request.exclusive_start_key = looked_up_to_;
  auto page = store_.store().scan(request);
  if (!page) return base::propagate(refusal_of_read(page.error()));
  int written = 0;
  for (const item::Item& item : page->items) {
    const auto place = parse_ticket_partition(item::attribute_text(item, "PK"));
    if (!place) continue;
    const Keys keys = store_.keys({.tenant = place->tenant, .customer_id = std::nullopt});
    const auto looked = item::attribute_text(item, "SK") == metadata_sort
                            ? look_at_ticket(keys, place->ticket_id)
                            : look_at_feedback(keys, place->ticket_id, item);
    if (looked)
      written += *looked ? 1 : 0;
    else if (!is_left(looked.error(), item))
      return base::propagate(looked.error());
  }
  looked_up_to_ = std::move(page->last_evaluated_key);
  if (!looked_up_to_) {
    is_looking_through_ = false;
    seen_since_note_ = records_for_note;  // so that the place is noted soon
  }
  return written;
}

OrRefusal<int> Adoption::look_at(const store::StreamRecord& record) {
  const std::string sort = item::attribute_text(record.keys, "SK");
  const auto place = parse_ticket_partition(item::attribute_text(record.keys, "PK"));
  if (!place) return 0;
  const Keys keys = store_.keys({.tenant = place->tenant, .customer_id = std::nullopt});
  if (sort == metadata_sort) {
    if (record.type == store::ChangeType::remove) {
      TRY(const bool written, clean_up(keys, place->ticket_id));
      return written ? 1 : 0;
    }
    // Most changes are our own, and complete.
    if (record.new_image)
      if (const auto stored = read_ticket(keys, *record.new_image); stored && is_complete(keys, *stored)) return 0;
    TRY(const bool written, look_at_ticket(keys, place->ticket_id));
    return written ? 1 : 0;
  }
  if (!is_sort(sort, feedback_begin) || record.type == store::ChangeType::remove || !record.new_image) return 0;
  TRY(const bool written, look_at_feedback(keys, place->ticket_id, *record.new_image));
  return written ? 1 : 0;
}

OrRefusal<bool> Adoption::look_at_ticket(const Keys& keys, const std::string& ticket_id) {
  const Scope all{.tenant = keys.tenant(), .customer_id = std::nullopt};
  for (int round = 0; round < adoption_rounds; ++round) {
    const auto stored = store_.find(ticket_id, all);
    if (!stored && stored.error().kind == RefusalKind::unknown_ticket) return false;
    if (!stored) return base::propagate(stored.error());
    if (is_complete(keys, *stored)) return false;
    TRY(const bool done, writer_.complete(keys, *stored));
    if (done) return true;
  }
  return refuse(RefusalKind::busy, "others change the ticket " + ticket_id + " all the time");
}

OrRefusal<bool> Adoption::look_at_feedback(const Keys& keys, const std::string& ticket_id, const item::Item& seen) {
  if (has_feedback_keys(seen)) return false;
  TRY(const std::optional<item::Item> found,
      store_.get(Keys::key(item::attribute_text(seen, "PK"), item::attribute_text(seen, "SK"))));
  if (!found) return false;
  const auto stored = store_.find(ticket_id, {.tenant = keys.tenant(), .customer_id = std::nullopt});
  if (!stored && stored.error().kind == RefusalKind::unknown_ticket) return false;
  if (!stored) return base::propagate(stored.error());
  const auto completed = completed_feedback(keys, *found, stored->ticket.customer.id);
  if (!completed) return false;
  constexpr std::array<std::string_view, 2> unchanged = {"operator_id", "submitted_at"};
  return writer_.complete(*found, *completed, unchanged);
}

OrRefusal<bool> Adoption::clean_up(const Keys& keys, const std::string& ticket_id) {
  const std::string partition = keys.ticket(ticket_id);
  std::vector<store::TransactAction> actions;
  store::TransactConditionCheck check;  // it may be there again
  check.table_name = store_.tables().tickets;
  check.key = Keys::key(partition, metadata_sort);
  check.condition = "attribute_not_exists(PK)";
  actions.emplace_back(std::move(check));
  for (const std::string_view sort : {by_product_sort, by_error_sort, by_priority_sort, escalation_sort})
    actions.emplace_back(store_.removal(Keys::key(partition, sort)));
  std::vector<std::size_t> failed;
  auto written = store_.write(actions, &failed);
  if (!written && failed.empty()) return base::propagate(std::move(written).error());
  return written.has_value();
}

OrRefusal<void> Adoption::note_position(bool is_idle) {
  // Until all tickets were looked at the note stays as it was: who begins with it looks at all of them, too.
  if (is_looking_through_) return {};
  const bool is_due = seen_since_note_ >= records_for_note || (is_idle && seen_since_note_ > 0);
  const auto noted = is_due ? changes_.note() : changes_.note_in_time();
  if (!noted) return base::propagate(refusal_of(noted.error()));
  if (is_due) seen_since_note_ = 0;
  return {};
}

}  // namespace postino::support
