#include "reminders/recalls.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/log.h"
#include "item/attribute_text.h"
#include "reminders/deliveries.h"
#include "reminders/record/draft.h"
#include "reminders/record/item_fields.h"
#include "reminders/record/reminder_mail.h"
#include "reminders/record/sent_item.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

namespace {

// Is it written down by us that nothing more becomes of it? Another program may have put a word of its own there.
bool is_over(const item::Item& record) {
  using enum DeliveryStatus;
  constexpr std::array ends = {failed, bounced, cancelled, unknown};
  const std::string delivery = item::attribute_text(record, "delivery_status");
  if (delivery == name_of(sent)) return record.contains("delivered_at_ms");
  return std::ranges::find(ends, delivery, [](DeliveryStatus status) { return name_of(status); }) != ends.end();
}

// Those that wait in our outbox or on their way to it, as the records of a customer tell.
class WaitingReminders {
 public:
  WaitingReminders(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                   const ReminderChoice& is_concerned)
      : store_(store), keys_(keys), customer_id_(customer_id), is_concerned_(is_concerned) {}

  OrRefusal<std::vector<Watch>> find() {
    TRY_VOID(read(sent_begin, "PK, SK, email_id, delivery_status, delivered_at_ms, overdue_invoices", std::nullopt,
                  [&](const item::Item& item) { return add_sent(item); }));
    // Where another program has damaged or removed the record, the draft still leads to the e-mail.
    TRY_VOID(read(draft_begin, "PK, SK, revision, sent_record, overdue_invoices", name_of(DraftStatus::approved),
                  [&](const item::Item& item) { return add_draft(item); }));
    return std::move(waiting_);
  }

 private:
  template <class Take>
  OrRefusal<void> read(std::string_view begin, std::string projection, std::optional<std::string_view> status,
                       const Take& take) {
    store::QueryRequest request;
    request.table_name = store_.tables().tracking;
    request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
    request.projection.emplace(std::move(projection));
    request.placeholders.values = item::Map{{":pk", keys_.customer(customer_id_)}, {":begin", begin}};
    if (status) {
      request.filter = "#status = :status";
      request.placeholders.names = expr::Names{{"#status", "status"}};
      request.placeholders.values->set(":status", *status);
    }
    request.consistent_read = true;
    do {
      TRY(ReminderStore::QueryPage page, store_.query(request));
      for (const item::Item& item : page.items) TRY_VOID(take(item));
      request.exclusive_start_key = std::move(page.next);
    } while (request.exclusive_start_key);
    return {};
  }

  OrRefusal<void> add_sent(const item::Item& item) {
    const std::string email_id = item::attribute_text(item, "email_id");
    if (email_id.empty()) return {};  // of another program
    emails_.insert(email_id);
    if (is_over(item)) return {};
    return add(item, email_id, item::attribute_text(item, "SK").substr(sent_begin.size()));
  }

  OrRefusal<void> add_draft(const item::Item& item) {
    const std::string id = item::attribute_text(item, "SK").substr(draft_begin.size());
    ItemFields fields(item);
    const std::string email_id = reminder_email_id(keys_.tenant(), id, std::max(1, fields.count("revision")));
    if (!emails_.insert(email_id).second) return {};
    return add(item, email_id, item::attribute_text(item, "sent_record"));
  }

  OrRefusal<void> add(const item::Item& item, const std::string& email_id, std::string record) {
    if (is_concerned_) {
      TRY(const bool is_concerned, is_concerned_(item));
      if (!is_concerned) return {};
    }
    waiting_.push_back({email_id, keys_.tenant(), customer_id_, std::move(record)});
    return {};
  }

  ReminderStore& store_;
  const Keys& keys_;
  const std::string& customer_id_;
  const ReminderChoice& is_concerned_;
  std::set<std::string> emails_;
  std::vector<Watch> waiting_;
};

// One that has not reached the outbox. The worker that brings it there finds out that it is cancelled. busy when it has
// got there meanwhile. `before` is nothing when its record cannot be read.
OrRefusal<void> cancel_handover(ReminderStore& store, const Watch& watch, const std::optional<SentReminder>& before,
                                const std::string& reason, const Actor& actor) {
  Commit commit = store.begin();
  store::TransactDelete removal;
  removal.table_name = store.tables().tracking;
  removal.key = handover_key(watch.email_id);
  removal.condition = "attribute_exists(PK)";
  commit.add(std::move(removal));
  if (!before) return store.write(std::move(commit));
  SentReminder after = *before;
  after.delivery = DeliveryStatus::cancelled;
  after.failure = reason;
  return write_delivery(store, watch, *before, after, actor, std::move(commit), reason);
}

RecallOutcome outcome_of(DeliveryStatus delivery) {
  if (delivery == DeliveryStatus::queued) return RecallOutcome::being_sent;
  if (delivery == DeliveryStatus::cancelled) return RecallOutcome::cancelled;
  return delivery == DeliveryStatus::unknown ? RecallOutcome::perhaps_sent : RecallOutcome::over;
}

OrRefusal<RecallOutcome> try_recall(ReminderStore& store, ReminderMailer& mail, const Watch& watch,
                                    const std::string& reason, const Actor& actor) {
  using enum DeliveryStatus;
  const Keys keys = store.keys(watch.tenant);
  TRY(const std::optional<item::Item> item,
      store.get(keys.customer(watch.customer_id), std::string(sent_begin) + watch.record));
  std::optional<SentReminder> before;
  if (item)
    // Another one may have taken the place of one that was removed.
    if (auto read = read_sent(*item, store.tables().currency); read && read->email_id == watch.email_id)
      before = *std::move(read);
  if (before && before->erased_at) return RecallOutcome::over;
  if (before && !before->counts()) return outcome_of(before->delivery);
  if (!before) {
    const auto known = mail.find(watch.email_id, watch.tenant);
    if (!known) return base::propagate(refusal_of(known.error()));
    if (*known && as_delivered(SentReminder(), **known).delivery != queued) return RecallOutcome::over;
  }
  // First the outbox: the e-mail may be there although its hand-over record still is.
  const auto email = mail.cancel(watch.email_id, watch.tenant, reason);
  if (!email) return base::propagate(refusal_of(email.error()));
  if (!*email) {
    TRY(const std::optional<item::Item> handover,
        store.get(Keys::handover(Keys::work_shard(watch.email_id)), watch.email_id));
    if (!handover) return RecallOutcome::over;
    TRY_VOID(cancel_handover(store, watch, before, reason, actor));
    return RecallOutcome::cancelled;
  }
  const SentReminder after = as_delivered(before.value_or(SentReminder()), **email);
  if (before && after.delivery != queued && after.delivery != before->delivery)
    TRY_VOID(write_delivery(store, watch, *before, after, actor, store.begin(), reason));
  return outcome_of(after.delivery);
}

}  // namespace

void Recalled::add(const Recalled& more) {
  cancelled.insert(cancelled.end(), more.cancelled.begin(), more.cancelled.end());
  perhaps_sent.insert(perhaps_sent.end(), more.perhaps_sent.begin(), more.perhaps_sent.end());
  being_sent.insert(being_sent.end(), more.being_sent.begin(), more.being_sent.end());
  not_recalled.insert(not_recalled.end(), more.not_recalled.begin(), more.not_recalled.end());
  if (trouble.empty()) trouble = more.trouble;
}

OrRefusal<RecallOutcome> recall_reminder(ReminderStore& store, ReminderMailer& mail, const Watch& watch,
                                         const std::string& reason, const Actor& actor) {
  constexpr int rounds = 8;  // a hand-over, an approval or a payment may be in between
  for (int round = 1;; ++round) {
    auto outcome = try_recall(store, mail, watch, reason, actor);
    if (outcome || outcome.error().kind != RefusalKind::busy || round == rounds) return outcome;
  }
}

Recalled recall_reminders(ReminderStore& store, ReminderMailer& mail, const Keys& keys, const std::string& customer_id,
                          const std::string& reason, const Actor& actor, const ReminderChoice& is_concerned) {
  Recalled recalled;
  const auto tell = [&](const Refusal& refusal) {
    recalled.trouble = refusal.message;
    ++store.troubles().recalls;
    base::log_warning("reminders", "a reminder that waits is not called back yet, although its customer is stopped",
                      {{"customer", customer_id}, {"cause", refusal.message}});
  };
  const auto waiting = WaitingReminders(store, keys, customer_id, is_concerned).find();
  if (!waiting) {
    tell(waiting.error());
    return recalled;
  }
  for (const Watch& watch : *waiting) {
    const auto outcome = recall_reminder(store, mail, watch, reason, actor);
    if (!outcome) {
      tell(outcome.error());
      recalled.not_recalled.push_back(watch.record);
      continue;
    }
    using enum RecallOutcome;
    if (*outcome == cancelled) recalled.cancelled.push_back(watch.record);
    if (*outcome == perhaps_sent) recalled.perhaps_sent.push_back(watch.record);
    if (*outcome == being_sent) recalled.being_sent.push_back(watch.record);
  }
  return recalled;
}

}  // namespace postino::reminders
