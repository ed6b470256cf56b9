#include "reminders/handovers.h"

#include <utility>

#include "base/log.h"
#include "item/attribute_text.h"
#include "reminders/recalls.h"
#include "reminders/record/item_fields.h"
#include "reminders/record/reminder_mail.h"
#include "reminders/record/sent_item.h"
#include "reminders/standing.h"

namespace postino::reminders {

namespace {

// Is it about the outbox or the store as a whole? Otherwise it is about one record.
bool is_away(const Refusal& refusal) {
  return refusal.kind == RefusalKind::unavailable || refusal.kind == RefusalKind::outcome_unknown;
}

}  // namespace

OrRefusal<int> Handovers::run_once(int limit) {
  const base::Milliseconds now = store_.clock().monotonic();
  const bool may_be_others = store_.store().is_shared() && now - looked_ >= outbox::look_for_others_every;
  if (nothing_is_left_ && !may_be_others) return 0;
  auto done = walk_.run(steps(), limit);
  nothing_is_left_ = mail_.shares_commits() && walk_.has_seen_all();
  looked_ = now;
  if (!done && is_away(done.error()) && away_.fails(done.error().message))
    base::log_warning("reminders", "approved reminders do not get into the outbox", {{"cause", done.error().message}});
  if (done && away_.works()) base::log_info("reminders", "approved reminders get into the outbox again");
  return done;
}

Handovers::Walk::Steps Handovers::steps() {
  Walk::Steps steps;
  steps.table = store_.tables().tracking;
  for (int shard = 0; shard < work_shards; ++shard) steps.partitions.push_back(Keys::handover(shard));
  steps.query = [this](const store::QueryRequest& request) -> OrRefusal<Walk::Records> {
    TRY(ReminderStore::QueryPage page, store_.query(request));
    return Walk::Records{std::move(page.items), std::move(page.next)};
  };
  steps.hand_over = [this](const item::Item& record) {
    const auto handover = read_handover(record);
    auto handed = handover ? hand_over(*handover) : OrRefusal<void>(base::propagate(refusal_of(handover.error())));
    if (!handed) ++store_.troubles().handovers;
    return handed;
  };
  steps.is_away = is_away;
  steps.name_of = key_text;
  steps.tell = [](const std::string& record, const Refusal& refusal) {
    base::log_warning("reminders", "an approved reminder is not in the outbox yet",
                      {{"record", record}, {"cause", refusal.message}});
  };
  return steps;
}

OrRefusal<void> Handovers::hand_over(const Handover& handover) {
  const Keys keys = store_.keys(handover.tenant);
  TRY(const std::optional<item::Item> item,
      store_.get(keys.customer(handover.customer_id), std::string(sent_begin) + handover.record));
  if (!item) {
    // The customer was erased meanwhile.
    TRY_VOID(forget(handover.email_id));
    return {};
  }
  auto sent = read_sent(*item, store_.tables().currency);
  if (!sent) return base::propagate(refusal_of(sent.error()));
  // A word of another program does not mean that it was sent: the outbox knows whether it has it.
  if (!sent->counts() || sent->email_id != handover.email_id || sent->erased_at) {
    TRY_VOID(forget(handover.email_id));
    return {};
  }
  Customers customers(store_);
  // The process that has stopped the customer may have ended before this one was called back. What cannot be read stops
  // no reminder.
  if (const auto stopped = why_stopped_now(store_, customers, keys, handover.customer_id, sent->overdue_invoices);
      stopped && !stopped->empty()) {
    TRY_VOID(recall_reminder(store_, mail_, {handover.email_id, handover.tenant, handover.customer_id, handover.record},
                             *stopped, {.tenant = handover.tenant, .name = "outbox", .key = {}, .from = {}}));
    return {};
  }
  const auto payload = make_payload(*sent, handover.from, handover.reply_to);
  if (!payload) return base::propagate(refusal_of(payload.error()));
  if (const auto accepted = mail_.accept(*payload, handover.tenant); !accepted)
    return base::propagate(refusal_of(accepted.error()));
  TRY(const bool was_there, forget(handover.email_id));
  if (was_there) return {};
  // Either another process has handed it over as well, or the customer was erased or stopped meanwhile: then it must
  // not go out. The record says so, also when the customer is there again.
  TRY(const std::optional<item::Item> by_now,
      store_.get(keys.customer(handover.customer_id), std::string(sent_begin) + handover.record));
  if (by_now && item::attribute_text(*by_now, "delivery_status") != name_of(DeliveryStatus::cancelled)) return {};
  if (by_now && !by_now->contains("erased_at_ms")) {
    const auto cancelled = mail_.cancel(handover.email_id, handover.tenant, item::attribute_text(*by_now, "failure"));
    if (!cancelled) return base::propagate(refusal_of(cancelled.error()));
    return {};
  }
  if (const auto erased = mail_.erase(handover.email_id, handover.tenant); !erased)
    return base::propagate(refusal_of(erased.error()));
  return {};
}

OrRefusal<bool> Handovers::forget(const std::string& email_id) {
  store::TransactDelete removal;
  removal.table_name = store_.tables().tracking;
  removal.key = handover_key(email_id);
  removal.condition = "attribute_exists(PK)";
  Commit commit = store_.begin();
  commit.add(std::move(removal));
  std::vector<std::size_t> failed;
  auto written = store_.write(std::move(commit), &failed);
  if (!written && failed.empty()) return base::propagate(std::move(written).error());
  return written.has_value();
}

}  // namespace postino::reminders
