#include "reminders/approvals.h"

#include <algorithm>

#include "base/text.h"
#include "base/timestamp.h"
#include "mail/text_rules.h"
#include "reminders/record/draft_item.h"
#include "reminders/record/reminder_mail.h"
#include "reminders/record/sent_item.h"
#include "reminders/record/watch.h"
#include "reminders/rendering.h"

namespace postino::reminders {

namespace {

constexpr int most_attempts = 32;  // after others have changed the same customer

// Only what the approval changes: attributes that other programs added stay.
store::TransactUpdate approved_draft(const ReminderTables& tables, const Keys& keys, const StoredDraft& stored,
                                     const SentReminder& sent, const std::string& token) {
  const Draft& draft = stored.draft;
  store::TransactUpdate update;
  update.table_name = tables.tracking;
  update.key = Keys::key(keys.customer(draft.customer_id), std::string(draft_begin) + draft.id);
  update.placeholders.names = expr::Names{{"#status", "status"}, {"#ttl", std::string(ttl_attribute)}};
  const std::string_view status = name_of(DraftStatus::approved);
  const std::int64_t now = base::epoch_milliseconds(sent.sent_at);
  update.placeholders.values = item::Map{{":status", status},
                                         {":partition", keys.status(status, draft.id)},
                                         {":sort", seed_time(draft.created_at)},
                                         {":by", sent.approved_by},
                                         {":now", now},
                                         {":record", sent.id},
                                         {":token", token},
                                         {":version", draft.version + 1},
                                         {":ttl", base::epoch_seconds(draft.created_at + draft_life)}};
  update.update =
      "SET #status = :status, GSI1PK = :partition, GSI1SK = :sort, decided_by = :by, decided_at_ms = :now, "
      "updated_at_ms = :now, sent_record = :record, decision_token = :token, version = :version, "
      "#ttl = if_not_exists(#ttl, :ttl)";
  update.condition.emplace(same_draft(stored, update.placeholders));
  return update;
}

SentReminder sent_of(const Draft& draft, const Standing& standing, const std::string& approved_by,
                     base::TimePoint now) {
  SentReminder sent;
  sent.customer_id = draft.customer_id;
  sent.customer_name = standing.customer ? standing.customer->name : draft.customer_name;
  sent.customer_email = standing.address;
  sent.reminder_type = draft.reminder_type;
  sent.text = draft.text;
  sent.sent_at = now;
  sent.approved_by = approved_by;
  sent.draft_id = draft.id;
  sent.revision = draft.revision;
  sent.template_id = draft.template_id;
  sent.template_version = draft.template_version;
  sent.overdue_amount = draft.overdue_amount;
  sent.overdue_totals = draft.overdue_totals;
  sent.overdue_invoices = draft.overdue_invoices;
  sent.version = 1;
  return sent;
}

std::string why_not_open(const Draft& draft, DraftStatus status) {
  const std::string name = "the draft " + draft.id;
  if (status == DraftStatus::approved)
    return name + " was approved before" + (draft.sent_record.empty() ? "" : ", and was sent as " + draft.sent_record);
  if (status == DraftStatus::expired)
    return name + " expired at " + base::format_timestamp(draft.created_at + draft_life);
  return name + " was " + std::string(name_of(status)) + (draft.reason.empty() ? "" : ": " + draft.reason);
}

}  // namespace

struct Approvals::Attempt {
  const std::string& draft_id;
  const std::string& customer_id;
  const int seen;
  const Actor& actor;
  const Keys keys;
  const std::string token;  // by which it knows its own work again
  base::TimePoint now{};
  std::optional<base::TimePoint> free_second{};  // when the key of this second is taken
  bool had_email = false;                        // the outbox had an e-mail of this id
  SentReminder sent{};                           // when it is done
};

OrRefusal<SentReminder> Approvals::approve(const std::string& draft_id, int seen, const Actor& actor) {
  const auto parts = parse_draft_id(draft_id);
  if (!parts) return refuse(RefusalKind::unknown_draft, "there is no draft " + draft_id);
  Attempt attempt{.draft_id = draft_id,
                  .customer_id = parts->customer_id,
                  .seen = seen,
                  .actor = actor,
                  .keys = store_.keys(actor.tenant),
                  .token = base::make_uuid(store_.random())};
  for (int attempts = 0; attempts < most_attempts; ++attempts) {
    TRY(const Outcome outcome, try_once(attempt));
    if (outcome == Outcome::done) return std::move(attempt.sent);
  }
  return refuse(RefusalKind::busy, "others change the customer " + attempt.customer_id + " all the time; try again");
}

std::string Approvals::missing_sender(const Draft& draft) const {
  if (!draft.from.empty() || !rules_.from.empty()) return "";
  return "reminders have no sender: configure reminders.from (--reminders-from), or give the template a branding with "
         "`from` and draft the reminder again";
}

OrRefusal<Approvals::Outcome> Approvals::try_once(Attempt& attempt) {
  // Rules are about time.
  attempt.now = store_.clock().now();
  if (store_.clock().is_doubtful() || (rules_.is_clock_contradicted && rules_.is_clock_contradicted()))
    return refuse(RefusalKind::busy, "the clock of this server is doubted, so that no reminder may be sent");
  const std::string partition = attempt.keys.customer(attempt.customer_id);
  const std::string sort = std::string(draft_begin) + attempt.draft_id;
  TRY(const std::optional<StoredDraft> stored, read_stored_draft(store_, attempt.keys, attempt.draft_id, false));
  if (!stored) return refuse(RefusalKind::unknown_draft, "there is no draft " + attempt.draft_id);
  const Draft* const draft = &stored->draft;
  if (draft->status == DraftStatus::approved && draft->decision_token == attempt.token) {
    const auto done = is_done(attempt);
    // It is approved, so that the answer must not be that nothing was done.
    if (!done) return refuse(RefusalKind::outcome_unknown, done.error().message);
    if (*done) return Outcome::done;
  }
  TRY_VOID(check(attempt, *draft));
  if (attempt.had_email)
    return refuse(RefusalKind::wrong_state, "the outbox has an e-mail of this revision of the draft " +
                                                attempt.draft_id + " already, so that none is sent");
  TRY(const Standing standing, read_standing(store_, customers_, mail_, attempt.keys, attempt.customer_id,
                                             draft->customer_email, draft->overdue_invoices));
  Decision decision = store_.rules().decide(draft->reminder_type, standing.guard.last, attempt.now);
  if (standing.stopped.empty() && decision.is_allowed()) return commit(attempt, *stored, standing);
  // What is against it may be an approval of this very draft that came in between. Then that is the answer.
  TRY(const std::optional<item::Item> by_now, store_.get(partition, sort));
  if (by_now != stored->item) return Outcome::again;
  if (!standing.stopped.empty())
    return refuse(RefusalKind::stopped,
                  "the customer " + attempt.customer_id + " gets no reminders: " + standing.stopped);
  Refusal refusal{.kind = RefusalKind::rule, .message = decision.explanation};
  refusal.decision = std::move(decision);
  return base::propagate(std::move(refusal));
}

OrRefusal<void> Approvals::check(const Attempt& attempt, const Draft& draft) const {
  if (const DraftStatus status = status_at(draft, attempt.now); status != DraftStatus::draft)
    return refuse(RefusalKind::wrong_state, why_not_open(draft, status));
  if (draft.revision != attempt.seen) {
    Refusal refusal{.kind = RefusalKind::other_revision,
                    .message = "the draft " + draft.id + " has the revision " + std::to_string(draft.revision) +
                               " by now, not " + std::to_string(attempt.seen)};
    refusal.current_revision = draft.revision;
    return base::propagate(std::move(refusal));
  }
  const Actor& actor = attempt.actor;
  if (!actor.is_known()) return refuse_field("approved_by", "is required");
  if (!rules_.other_person) return {};
  const auto is_known = [](const std::string& name, const std::string& key) {
    return !mail::folded(name).empty() || !mail::folded(key).empty();
  };
  const bool is_author_known = is_known(draft.created_by, draft.created_key);
  const bool is_reviser_known = !draft.revised_at || is_known(draft.revised_by, draft.revised_key);
  if (!is_author_known || !is_reviser_known)
    return refuse(RefusalKind::same_person, "the draft " + draft.id +
                                                " does not say who wrote it, and it must be approved by another person "
                                                "than that");
  // Who gives no name is known by that of the key, so that each is compared with both.
  const auto is_actor = [&](const std::string& name, const std::string& key) {
    for (const std::string& theirs : {mail::folded(name), mail::folded(key)})
      if (!theirs.empty() && (theirs == mail::folded(actor.name) || theirs == mail::folded(actor.key))) return true;
    return false;
  };
  if (is_actor(draft.created_by, draft.created_key) || is_actor(draft.revised_by, draft.revised_key))
    return refuse(RefusalKind::same_person,
                  "the draft " + draft.id + " must be approved by another person than the one who wrote it");
  return {};
}

OrRefusal<Approvals::Outcome> Approvals::commit(Attempt& attempt, const StoredDraft& stored, const Standing& standing) {
  const Keys& keys = attempt.keys;
  const Draft& draft = stored.draft;
  SentReminder sent = sent_of(draft, standing, attempt.actor.known_as(), attempt.now);
  sent.id = key_time(std::max(attempt.now, attempt.free_second.value_or(attempt.now))) + "_" + draft.reminder_type;
  sent.email_id = reminder_email_id(keys.tenant(), draft.id, draft.revision);
  const std::string& from = draft.from.empty() ? rules_.from : draft.from;
  if (from.empty()) return refuse(RefusalKind::no_sender, missing_sender(draft));
  TRY_VOID(refuse_faults(faults_of(draft, sent.customer_email)));
  const auto payload = make_payload(sent, from, draft.reply_to);
  if (!payload) return base::propagate(refusal_of(payload.error()));
  sent.message_id = mail_.message_id_of(sent.email_id, payload->from.address);

  Commit commit(store_.tables(), attempt.now);
  commit.add(approved_draft(store_.tables(), keys, stored, sent, attempt.token));
  const std::size_t record = commit.put(sent_item(keys, sent), "attribute_not_exists(PK)");
  commit.move_guard(keys, draft.customer_id, standing.guard,
                    standing.guard.with(sent.reminder_type, sent.sent_at, sent.id));
  // Still there, or still not: what was decided for a customer holds for that customer.
  if (standing.customer)
    commit.count_reminder(keys, draft.customer_id);
  else
    commit.check(Keys::key(keys.customer(draft.customer_id), profile_sort), "attribute_not_exists(PK)");
  commit.put(watch_item({sent.email_id, keys.tenant(), draft.customer_id, sent.id}, attempt.now));
  commit.audit(attempt.actor, "draft.approved", "drafts/" + draft.id,
               {{"email_id", sent.email_id},
                {"reminder", sent.id},
                {"revision", std::to_string(draft.revision)},
                {"type", draft.reminder_type}},
               store_.random());
  commit.count(keys, "approved", draft.id);
  if (attempt.actor.note_answer) commit.add(attempt.actor.note_answer(sent.place()));
  attempt.sent = std::move(sent);
  if (mail_.shares_commits()) return write_joined(attempt, *payload, std::move(commit), record);
  commit.put(
      handover_item({attempt.sent.email_id, keys.tenant(), draft.customer_id, attempt.sent.id, from, draft.reply_to}));
  return write_alone(attempt, std::move(commit), record);
}

OrRefusal<Approvals::Outcome> Approvals::write_joined(Attempt& attempt, const outbox::Payload& payload, Commit commit,
                                                      std::size_t record) {
  const std::vector<store::TransactAction> actions = commit.take_actions();
  const outbox::JoinedOutcome outcome = mail_.accept_with(payload, attempt.keys.tenant(), actions);
  if (outcome.email) return Outcome::done;
  const std::vector<std::size_t> failed = failed_conditions(*outcome.error);
  attempt.had_email = outcome.known;
  if (!failed.empty() || store_.mend_counts(actions, *outcome.error)) return after_conditions(attempt, failed, record);
  return after_failure(attempt, refusal_of(*outcome.error));
}

OrRefusal<Approvals::Outcome> Approvals::write_alone(Attempt& attempt, Commit commit, std::size_t record) {
  std::vector<std::size_t> failed;
  auto written = store_.write(std::move(commit), &failed);
  if (written) return Outcome::done;
  if (!failed.empty()) return after_conditions(attempt, failed, record);
  return after_failure(attempt, std::move(written).error());
}

OrRefusal<Approvals::Outcome> Approvals::after_conditions(Attempt& attempt, const std::vector<std::size_t>& failed,
                                                          std::size_t record) {
  // The second has a reminder of this type, of another program or of a clock that went back.
  if (failed.size() == 1 && failed.front() == record) {
    TRY(attempt.free_second, store_.free_second(attempt.keys.customer(attempt.customer_id), sent_begin,
                                                attempt.sent.reminder_type, attempt.now));
  }
  return Outcome::again;
}

OrRefusal<Approvals::Outcome> Approvals::after_failure(Attempt& attempt, Refusal refusal) {
  // Others had the same records for a while. One of them may have decided on the draft: that is the answer then.
  if (refusal.kind == RefusalKind::busy) return Outcome::again;
  if (refusal.kind != RefusalKind::outcome_unknown) return base::propagate(std::move(refusal));
  // It may have been written. If that can be seen now, it is known.
  const auto done = is_done(attempt);
  if (done && *done) return Outcome::done;
  return base::propagate(std::move(refusal));
}

OrRefusal<bool> Approvals::is_done(Attempt& attempt) {
  const std::string partition = attempt.keys.customer(attempt.customer_id);
  TRY(const std::optional<item::Item> draft, store_.get(partition, std::string(draft_begin) + attempt.draft_id));
  if (!draft) return false;
  const auto approved = read_draft(*draft, store_.tables().currency);
  if (!approved || approved->decision_token != attempt.token) return false;
  TRY(const std::optional<item::Item> record, store_.get(partition, std::string(sent_begin) + approved->sent_record));
  if (!record) return false;
  auto sent = read_sent(*record, store_.tables().currency);
  if (!sent) return base::propagate(refusal_of(sent.error()));
  attempt.sent = *std::move(sent);
  return true;
}

}  // namespace postino::reminders
