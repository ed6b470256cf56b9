#include "reminders/deliveries.h"

#include <algorithm>

#include "base/log.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "reminders/customer_commit.h"
#include "reminders/customer_records.h"
#include "reminders/recalls.h"
#include "reminders/record/item_fields.h"
#include "reminders/record/reminder_mail.h"
#include "reminders/record/sent_item.h"
#include "reminders/standing.h"
#include "smtp/reply.h"

namespace postino::reminders {

namespace {

constexpr std::size_t most_noted = 10'000;  // more are found by looking

// The ids of reminders are derived; most others are not.
bool may_be_reminder(const std::string& email_id) { return outbox::is_derived_uuid(email_id); }

// Of one reminder, which an operator has to mend. Otherwise it is about the outbox or the store as a whole.
bool is_about_record(const Refusal& refusal) {
  return refusal.kind == RefusalKind::corrupt || refusal.kind == RefusalKind::invalid;
}

// For good, unless an operator requeues it.
bool has_failed(outbox::State state) {
  using enum outbox::State;
  return state == failed || state == calling_failed || state == failed_acknowledged || state == invalid ||
         state == calling_invalid || state == invalid_acknowledged;
}

// "550 5.1.1 no such user": the enhanced status in a reply of a mail server.
std::string_view status_in(std::string_view reply) {
  const std::size_t begin = reply.find(' ');
  if (!smtp::is_reply(reply) || begin == std::string_view::npos) return "";
  const std::string_view rest = reply.substr(begin + 1);
  return rest.substr(0, rest.find(' '));
}

// Why the customer's address gets no more mail; empty: it may.
std::string bad_address(const outbox::Email& email) {
  for (const outbox::Bounce& bounce : email.bounces)
    if (bounce.permanent) return bounce.status + " " + bounce.diagnostic;
  for (const outbox::Recipient& recipient : email.recipients)
    if (recipient.state == outbox::RecipientState::refused && smtp::means_bad_address(status_in(recipient.reply)))
      return recipient.reply;
  return "";
}

Actor outbox_of(const std::string& tenant) { return {.tenant = tenant, .name = "outbox", .key = {}, .from = {}}; }

}  // namespace

SentReminder as_delivered(const SentReminder& before, const MailedReminder& email) {
  SentReminder after = before;
  const auto become = [&](DeliveryStatus status, std::string failure) {
    after.delivery = status;
    after.failure = std::move(failure);
  };
  if (outbox::was_sent(email.state)) {
    become(DeliveryStatus::sent, "");
    after.delivered_at = email.settled_at;
  } else if (email.state == outbox::State::cancelled) {
    become(DeliveryStatus::cancelled, std::string(outbox::public_reason(email)));
  } else if (has_failed(email.state)) {
    become(DeliveryStatus::failed, std::string(outbox::public_reason(email)));
  } else {
    become(DeliveryStatus::queued, "");
  }
  const bool was_given_up = after.delivery == DeliveryStatus::cancelled || after.delivery == DeliveryStatus::failed;
  if (was_given_up && email.may_have_gone_out)
    become(DeliveryStatus::unknown, after.failure + "; an attempt before may have reached the customer");
  if (!email.bounces.empty()) {
    const outbox::Bounce& bounce = email.bounces.back();
    become(DeliveryStatus::bounced, bounce.status + " " + bounce.diagnostic);
  }
  // Words of mail servers tell addresses.
  if (before.erased_at) after.failure.clear();
  return after;
}

namespace {

// What follows for the customer: the guard, how many reminders it got, and that its address is a bad one.
OrRefusal<void> add_consequences(ReminderStore& store, const Watch& watch, const SentReminder& before,
                                 const SentReminder& after, const Actor& actor, const std::string& bounced,
                                 Commit& commit) {
  const Keys keys = store.keys(watch.tenant);
  const bool counts_otherwise = before.counts() != after.counts();
  if (!counts_otherwise && bounced.empty()) return {};
  TRY(const Guard guard, store.mended_guard(keys, watch.customer_id, actor));
  OrRefusal<Guard> next = guard;
  if (counts_otherwise)
    next = after.counts() ? OrRefusal<Guard>(guard.with(after.reminder_type, after.sent_at, after.id))
                          : store.guard_without(keys, watch.customer_id, guard, watch.record);
  if (!next) return base::propagate(std::move(next).error());
  TRY(const std::optional<Customer> customer, mended_customer(store, keys, watch.customer_id, actor));
  Customer changed = customer.value_or(Customer());
  const bool is_bad_address = customer && !bounced.empty() && take_bounce(changed, bounced, before.customer_email);
  if (counts_otherwise || is_bad_address) commit.move_guard(keys, watch.customer_id, guard, *next);
  if (is_bad_address) {
    if (counts_otherwise)
      changed.reminders_sent = std::max<std::int64_t>(changed.reminders_sent + (after.counts() ? 1 : -1), 0);
    changed.updated_at = commit.now();
    ++changed.version;
    add_change(commit, keys, *customer, changed);
    add_objection(commit, keys, watch.customer_id, objection_of(*customer), objection_of(changed));
    commit.audit(actor, "customer.bounced", "customers/" + watch.customer_id, {}, store.random());
  } else if (customer && counts_otherwise && after.counts()) {
    commit.count_reminder(keys, watch.customer_id);
  } else if (customer && counts_otherwise) {
    commit.uncount_reminder(keys, watch.customer_id, customer->reminders_sent);
  }
  return {};
}

}  // namespace

OrRefusal<void> write_delivery(ReminderStore& store, const Watch& watch, const SentReminder& before,
                               const SentReminder& after, const Actor& actor, Commit commit, const std::string& reason,
                               const std::string& bounced) {
  const Keys keys = store.keys(watch.tenant);
  // Only what has changed: attributes of others, and texts that were erased meanwhile, stay as they are.
  const std::string_view status = after.counts() ? "sent" : "failed";
  store::TransactUpdate update;
  update.table_name = store.tables().tracking;
  update.key = Keys::key(keys.customer(watch.customer_id), std::string(sent_begin) + watch.record);
  update.placeholders.names = expr::Names{{"#status", "status"}};
  update.placeholders.values = item::Map{{":partition", keys.status(status, before.customer_id + before.id)},
                                         {":status", status},
                                         {":delivery", name_of(after.delivery)},
                                         {":failure", after.failure},
                                         {":seen", before.version},
                                         {":version", before.version + 1}};
  std::string text =
      "SET GSI1PK = :partition, #status = :status, delivery_status = :delivery, failure = :failure, version = :version";
  if (after.delivered_at) {
    text += ", delivered_at_ms = :delivered";
    update.placeholders.values->set(":delivered", base::epoch_milliseconds(*after.delivered_at));
  }
  update.update.emplace(std::move(text));
  // Another program may have written the record again, without one.
  update.condition = before.version == 0 ? "attribute_exists(PK) AND (attribute_not_exists(version) OR version = :seen)"
                                         : "version = :seen";
  commit.add(std::move(update));

  TRY_VOID(add_consequences(store, watch, before, after, actor, bounced, commit));
  const bool is_called_back = after.delivery != before.delivery && !reason.empty();
  if (before.counts() != after.counts() || is_called_back) {
    std::map<std::string, std::string> details = {{"delivery", std::string(name_of(after.delivery))},
                                                  {"email_id", watch.email_id}};
    if (!reason.empty()) details["reason"] = reason;
    const bool is_cancelled = is_called_back || after.delivery == DeliveryStatus::cancelled;
    commit.audit(actor,
                 is_cancelled     ? "reminder.cancelled"
                 : after.counts() ? "reminder.counts"
                                  : "reminder.failed",
                 "customers/" + watch.customer_id + "/reminders/" + watch.record, details, store.random());
  }
  TRY(const std::optional<item::Item> known, store.get(Keys::email(watch.email_id), std::string(watch_sort)));
  Watch fresh = after_look(watch, after.delivery == DeliveryStatus::queued, commit.now());
  fresh.looks = 0;
  if (known) commit.put(watch_item(fresh, commit.now()), "attribute_exists(PK)");
  if (after.delivery != before.delivery && after.delivery != DeliveryStatus::queued) {
    commit.count(keys, name_of(after.delivery), watch.record);
    if (after.delivery == DeliveryStatus::sent) commit.count(keys, "sent:" + after.reminder_type, watch.record);
  }
  return store.write(std::move(commit));
}

void Deliveries::note(const std::string& email_id) {
  if (!may_be_reminder(email_id)) return;
  const std::lock_guard lock(mutex_);
  if (noted_.size() < most_noted) noted_.insert(email_id);
}

OrRefusal<int> Deliveries::run_once(int limit) {
  std::string cause;
  auto changed = look_at_all(limit, cause);
  if (!cause.empty() && trouble_.fails(cause))
    base::log_warning("reminders", "outcomes of reminders cannot be recorded now", {{"cause", cause}});
  if (cause.empty() && trouble_.works()) base::log_info("reminders", "outcomes of reminders are recorded again");
  return changed;
}

OrRefusal<int> Deliveries::look_at_all(int limit, std::string& cause) {
  std::set<std::string> ids;
  {
    const std::lock_guard lock(mutex_);
    ids.swap(noted_);
  }
  if (const auto added = add_due(ids, limit); !added) {
    cause = added.error().message;
    return base::propagate(added.error());
  }
  int changed = 0;
  int looked = 0;
  std::optional<Refusal> trouble;
  for (const std::string& id : ids) {
    const auto was_changed = look_at(id);
    if (was_changed) {
      ++looked;
      changed += *was_changed ? 1 : 0;
      continue;
    }
    ++store_.troubles().deliveries;
    trouble = was_changed.error();
    if (!is_about_record(*trouble)) {
      cause = trouble->message;
      continue;
    }
    // Others must not wait behind it. It is looked at again after growing pauses, until an operator has mended it.
    if (const auto later = put_off(id); !later) {
      cause = later.error().message;
      return base::propagate(later.error());
    }
    base::log_warning("reminders", "the outcome of a reminder could not be recorded",
                      {{"email", id}, {"cause", trouble->message}});
  }
  if (looked == 0 && trouble) return base::propagate(*std::move(trouble));
  return changed;
}

OrRefusal<void> Deliveries::add_due(std::set<std::string>& ids, int limit) {
  const std::string now = base::format_timestamp(store_.clock().now());
  for (int shard = 0; shard < work_shards; ++shard) {
    store::QueryRequest request;
    request.table_name = store_.tables().tracking;
    request.index_name = std::string(status_index);
    request.key_condition = "GSI1PK = :pk AND GSI1SK <= :now";
    request.placeholders.values = item::Map{{":pk", Keys::watch(shard)}, {":now", now}};
    request.limit = limit;
    // Each shard has its share, so that none waits behind another one.
    TRY(const ReminderStore::QueryPage page, store_.query(std::move(request)));
    for (const item::Item& item : page.items) {
      if (const auto watch = read_watch(item))
        ids.insert(watch->email_id);
      else
        TRY_VOID(take_out(item, watch.error()));
    }
  }
  return {};
}

// What is no watch leads nowhere: it is out of the way from now on.
OrRefusal<void> Deliveries::take_out(const item::Item& item, const base::Error& cause) {
  base::log_warning("reminders", "a record of an e-mail that is followed cannot be read, and is left alone",
                    {{"record", key_text(item)}, {"cause", cause.message}});
  store::TransactUpdate update;
  update.table_name = store_.tables().tracking;
  update.key = Keys::key(item.find("PK")->as<std::string>(), item.find("SK")->as<std::string>());
  update.update = "REMOVE GSI1PK, GSI1SK";
  update.condition = "attribute_exists(PK)";
  Commit commit = store_.begin();
  commit.add(std::move(update));
  std::vector<std::size_t> failed;
  auto written = store_.write(std::move(commit), &failed);
  if (!written && failed.empty()) return written;
  return {};
}

OrRefusal<void> Deliveries::put_off(const std::string& email_id) {
  TRY(const std::optional<item::Item> item, store_.get(Keys::email(email_id), std::string(watch_sort)));
  if (!item) return {};
  const auto watch = read_watch(*item);
  if (!watch) return take_out(*item, watch.error());
  auto later = look_later(*watch, !watch->settled_at);
  if (!later && later.error().kind == RefusalKind::busy) return {};  // another look was in between
  return later;
}

OrRefusal<bool> Deliveries::look_at(const std::string& email_id) {
  constexpr int rounds = 8;  // an approval or a payment may be in between
  for (int round = 1;; ++round) {
    TRY(const std::optional<item::Item> item, store_.get(Keys::email(email_id), std::string(watch_sort)));
    if (!item) return false;  // an e-mail of another kind
    const auto watch = read_watch(*item);
    if (!watch) return base::propagate(refusal_of(watch.error()));
    auto changed = look(*watch);
    if (changed || changed.error().kind != RefusalKind::busy || round == rounds) return changed;
  }
}

OrRefusal<bool> Deliveries::look(const Watch& watch) {
  const Keys keys = store_.keys(watch.tenant);
  TRY(const std::optional<item::Item> item,
      store_.get(keys.customer(watch.customer_id), std::string(sent_begin) + watch.record));
  const auto email = mail_.find(watch.email_id, watch.tenant);
  if (!email) return base::propagate(refusal_of(email.error()));
  // It is not there: not yet, or no longer.
  if (!*email) {
    TRY(const std::optional<item::Item> handover,
        store_.get(Keys::handover(Keys::work_shard(watch.email_id)), watch.email_id));
    TRY_VOID(look_later(watch, handover.has_value()));
    return false;
  }
  const auto before = item ? read_sent(*item, store_.tables().currency)
                           : base::Result<SentReminder>(base::fail(base::ErrorCode::not_found, "it was removed"));
  if (!before) {
    // Whatever has become of its record, it does not go out to a customer who is stopped.
    const bool waits = as_delivered(SentReminder(), **email).delivery == DeliveryStatus::queued;
    if (waits) TRY_VOID(call_back(watch, item ? invoices_in(*item) : std::vector<std::string>()));
    if (item) return base::propagate(refusal_of(before.error()));
    TRY_VOID(look_later(watch, waits));
    return false;
  }
  const SentReminder after = as_delivered(*before, **email);
  // It was cancelled before it reached the outbox, by one who could not see that it was there already.
  if (before->delivery == DeliveryStatus::cancelled && after.delivery == DeliveryStatus::queued) {
    if (const auto cancelled = mail_.cancel(watch.email_id, watch.tenant, before->failure); !cancelled)
      return base::propagate(refusal_of(cancelled.error()));
    TRY_VOID(look_later(watch, true));
    return false;
  }
  if (after.delivery == before->delivery && after.failure == before->failure) {
    const bool waits = after.delivery == DeliveryStatus::queued;
    if (waits) {
      TRY(const bool is_cancelled, call_back(watch, before->overdue_invoices));
      if (is_cancelled) return true;
    }
    TRY_VOID(look_later(watch, waits));
    return false;
  }
  TRY_VOID(
      write_delivery(store_, watch, *before, after, outbox_of(watch.tenant), store_.begin(), "", bad_address(**email)));
  return true;
}

OrRefusal<bool> Deliveries::call_back(const Watch& watch, const std::vector<std::string>& invoices) {
  const Keys keys = store_.keys(watch.tenant);
  const auto stopped = why_stopped_now(store_, customers_, keys, watch.customer_id, invoices);
  // What cannot be read stops no reminder.
  if (!stopped || stopped->empty()) return false;
  TRY(const RecallOutcome outcome, recall_reminder(store_, mail_, watch, *stopped, outbox_of(watch.tenant)));
  return outcome == RecallOutcome::cancelled || outcome == RecallOutcome::perhaps_sent;
}

std::optional<std::string> Deliveries::why_not_send(const outbox::Email& email) {
  auto objection = find_objection(email);
  if (objection) return objection->empty() ? std::nullopt : std::optional(*std::move(objection));
  ++store_.troubles().recalls;
  base::log_warning("reminders", "a reminder is not sent yet, because it is not known whether its customer may get it",
                    {{"email", email.id}, {"cause", objection.error().message}});
  return "it is not known now whether the customer may get it: " + objection.error().message;
}

OrRefusal<std::string> Deliveries::find_objection(const outbox::Email& email) {
  TRY(const std::optional<item::Item> item, store_.get(Keys::email(email.id), std::string(watch_sort)));
  if (!item) {
    // Another program may have removed it. The e-mail itself tells whose it is.
    const std::string customer = customer_in_tags(email.tags);
    if (!may_be_reminder(email.id) || !may_be_customer(customer)) return "";
    return why_stopped_now(store_, customers_, store_.keys(email.tenant), customer, {});
  }
  const auto watch = read_watch(*item);
  if (!watch) return base::propagate(refusal_of(watch.error()));
  const Keys keys = store_.keys(watch->tenant);
  TRY(const std::optional<item::Item> record,
      store_.get(keys.customer(watch->customer_id), std::string(sent_begin) + watch->record));
  const std::vector<std::string> invoices = record ? invoices_in(*record) : std::vector<std::string>();
  TRY(std::string stopped, why_stopped_now(store_, customers_, keys, watch->customer_id, invoices));
  if (!stopped.empty()) return stopped;
  const bool is_cancelled =
      record && item::attribute_text(*record, "delivery_status") == name_of(DeliveryStatus::cancelled);
  return is_cancelled ? "the reminder was cancelled" : "";
}

OrRefusal<void> Deliveries::check_requeue(const std::string& email_id) {
  // What became of it may not be written down yet.
  TRY_VOID(look_at(email_id));
  TRY(const std::optional<item::Item> item, store_.get(Keys::email(email_id), std::string(watch_sort)));
  if (!item) return {};
  const auto watch = read_watch(*item);
  if (!watch) return base::propagate(refusal_of(watch.error()));
  const Keys keys = store_.keys(watch->tenant);
  TRY(const std::optional<item::Item> record,
      store_.get(keys.customer(watch->customer_id), std::string(sent_begin) + watch->record));
  if (!record) return refuse(RefusalKind::wrong_state, "the reminder of this e-mail was erased");
  const auto sent = read_sent(*record, store_.tables().currency);
  if (!sent) return base::propagate(refusal_of(sent.error()));
  if (!sent->counts())
    return refuse(RefusalKind::wrong_state, "the e-mail is of a reminder that is " +
                                                std::string(name_of(sent->delivery)) +
                                                " and no longer counts for the rules; draft the reminder again");
  TRY(const std::string stopped, why_stopped_now(store_, customers_, keys, watch->customer_id, sent->overdue_invoices));
  if (!stopped.empty()) return refuse(RefusalKind::stopped, stopped);
  return {};
}

OrRefusal<void> Deliveries::look_later(Watch watch, bool waits) {
  ++watch.looks;
  Commit commit = store_.begin();
  commit.put(watch_item(after_look(std::move(watch), waits, commit.now()), commit.now()), "attribute_exists(PK)");
  return store_.write(std::move(commit));
}

}  // namespace postino::reminders
