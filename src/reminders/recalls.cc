#include "reminders/recalls.h"

#include "base/log.h"
#include "reminders/deliveries.h"
#include "reminders/record/sent_item.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

namespace {

// Those that wait in our outbox, or on their way to it.
Answer<std::vector<Watch>> waiting_reminders(ReminderStore& store, const Keys& keys, const std::string& customer_id) {
  store::QueryRequest request;
  request.table_name = store.tables().tracking;
  request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  request.filter = "delivery_status = :queued AND attribute_exists(email_id)";
  request.placeholders.values = item::Map{
      {":pk", keys.customer(customer_id)}, {":begin", sent_begin}, {":queued", name_of(DeliveryStatus::queued)}};
  request.consistent_read = true;
  std::vector<Watch> waiting;
  do {
    TRY(ReminderStore::QueryPage page, store.query(request));
    for (const item::Item& item : page.items)
      if (const auto sent = read_sent(item, store.tables().currency))
        waiting.push_back({sent->email_id, keys.tenant(), customer_id, sent->id, sent->sent_at});
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  return waiting;
}

// One that has not reached the outbox. Whoever is bringing it there finds out that it is cancelled. busy when it has
// got there meanwhile.
Answer<void> cancel_handover(ReminderStore& store, const Watch& watch, const SentReminder& before,
                             const std::string& reason, const Actor& actor) {
  SentReminder after = before;
  after.delivery = DeliveryStatus::cancelled;
  after.failure = reason;
  Commit commit = store.begin();
  store::TransactDelete removal;
  removal.table_name = store.tables().tracking;
  removal.key = handover_key(watch.email_id);
  removal.condition = "attribute_exists(PK)";
  commit.add(std::move(removal));
  return write_delivery(store, watch, before, after, actor, std::move(commit));
}

Answer<RecallOutcome> try_recall(ReminderStore& store, MailRoom& mail, const Watch& watch, const std::string& reason,
                                 const Actor& actor) {
  using enum RecallOutcome;
  const Keys keys = store.keys(watch.tenant);
  TRY(const std::optional<item::Item> item,
      store.get(keys.customer(watch.customer_id), std::string(sent_begin) + watch.record));
  if (!item) return over;
  const auto before = read_sent(*item, store.tables().currency);
  if (!before) return base::propagate(refusal_of(before.error()));
  if (before->delivery == DeliveryStatus::cancelled) return cancelled;
  if (before->delivery != DeliveryStatus::queued || before->erased_at) return over;
  TRY(const std::optional<item::Item> handover,
      store.get(Keys::handover(Keys::work_shard(watch.email_id)), watch.email_id));
  if (handover) {
    TRY_VOID(cancel_handover(store, watch, *before, reason, actor));
    return cancelled;
  }
  const auto email = mail.cancel(watch.email_id, watch.tenant, reason);
  if (!email) return base::propagate(refusal_of(email.error()));
  if (!*email) return over;
  const SentReminder after = as_delivered(*before, **email);
  if (after.delivery == DeliveryStatus::queued) return being_sent;
  TRY_VOID(write_delivery(store, watch, *before, after, actor, store.begin()));
  return after.delivery == DeliveryStatus::cancelled ? cancelled : over;
}

}  // namespace

Answer<RecallOutcome> recall_reminder(ReminderStore& store, MailRoom& mail, const Watch& watch,
                                      const std::string& reason, const Actor& actor) {
  constexpr int rounds = 8;  // a hand-over, an approval or a payment may be in between
  for (int round = 1;; ++round) {
    auto outcome = try_recall(store, mail, watch, reason, actor);
    if (outcome || outcome.error().kind != RefusalKind::busy || round == rounds) return outcome;
  }
}

Recalled recall_reminders(ReminderStore& store, MailRoom& mail, const Keys& keys, const std::string& customer_id,
                          const std::string& reason, const Actor& actor) {
  Recalled recalled;
  const auto tell = [&](const Refusal& refusal) {
    base::log_warning("reminders", "a reminder that waits is not called back yet, although its customer is stopped",
                      {{"customer", customer_id}, {"cause", refusal.message}});
  };
  const auto waiting = waiting_reminders(store, keys, customer_id);
  if (!waiting) {
    tell(waiting.error());
    return recalled;
  }
  for (const Watch& watch : *waiting) {
    const auto outcome = recall_reminder(store, mail, watch, reason, actor);
    if (!outcome) tell(outcome.error());
    if (!outcome || *outcome == RecallOutcome::being_sent) recalled.being_sent.push_back(watch.record);
    if (outcome && *outcome == RecallOutcome::cancelled) recalled.cancelled.push_back(watch.record);
  }
  return recalled;
}

}  // namespace postino::reminders
