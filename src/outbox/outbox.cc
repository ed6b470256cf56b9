#include "outbox/outbox.h"

#include <algorithm>

#include "access/caller_scope.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "mail/address.h"
#include "mail/delivery_report.h"
#include "net/url.h"
#include "outbox/email/description.h"
#include "outbox/work/direct_dispatch.h"
#include "smtp/reply.h"
#include "store/list_cursor.h"

namespace postino::outbox {

namespace {

// The operation's part of an idempotency key, so that tenants do not meet.
std::string scoped(const std::string& tenant, const std::string& key) { return tenant + "/" + key; }

tl::unexpected<base::Error> unknown(const std::string& id) {
  return base::fail(base::ErrorCode::not_found, "there is no e-mail " + id);
}

// A line of history, as a change that is about to write it notes it. No two lines of an e-mail are noted alike: each
// change has a version of its own.
std::string note_of_line(std::int64_t version, std::string_view status) {
  return std::to_string(version).append(" ").append(status);
}

// Of a step before anything is changed: whatever failed, the change was not made.
template <class T>
base::Result<T> before_change(base::Result<T> done) {
  if (!done && done.error().code == base::ErrorCode::io) done.error().code = base::ErrorCode::exhausted;
  return done;
}

// Of a step after so many others: when one has been done, it is not true that nothing was.
base::Result<void> after_changes(int made, base::Result<void> done) {
  if (!done && done.error().code == base::ErrorCode::exhausted && made > 0) done.error().code = base::ErrorCode::io;
  return done;
}

// As operators are shown it: it waits for them.
Email unreadable_email(const MalformedRecord& record) {
  Email email;
  email.id = record.id;
  email.state = State::held;
  email.reason = "its record cannot be read: " + record.error;
  return email;
}

// Nearly all of it, when it is large.
std::size_t size_of(const Payload& payload) {
  std::size_t bytes = payload.body_text.size() + payload.body_html.size();
  for (const PayloadAttachment& attachment : payload.attachments) bytes += attachment.content_base64.size();
  return bytes;
}

Email new_email(const Payload& payload, const std::string& tenant) {
  Email email;
  email.id = payload.id;
  email.tenant = tenant;
  fill_in(email, describe(payload));
  return email;
}

}  // namespace

// E-mails as the ledger takes them, and what belongs to those of them that go to a sender directly.
struct Outbox::Batch {
  MessageRoom room;
  std::vector<NewEmail> emails;
  std::optional<DirectDispatch::Batch> dispatch;
};

Outbox::Outbox(Ledger& ledger, SuppressionList& suppressions, const Policy& policy, const base::Clock& clock,
               base::Random& random, WorkSignal& signal, OutboxOptions options, DirectDispatch* dispatch)
    : ledger_(ledger),
      suppressions_(suppressions),
      policy_(policy),
      clock_(clock),
      random_(random),
      signal_(signal),
      options_(options),
      dispatch_(dispatch),
      acceptances_(ledger, signal) {}

Outbox::~Outbox() = default;

std::shared_ptr<Outbox::Batch> Outbox::prepare(std::vector<Payload> payloads, const std::string& tenant,
                                               const std::optional<AcceptKey>& key) {
  access::CallerScope::check(tenant);
  // The payload, and its text, which may have escaped letters. With a message beside them they are small.
  constexpr std::size_t accepting_factor = 3;
  auto batch = std::make_shared<Batch>();
  std::size_t bytes = 0;
  for (const Payload& payload : payloads) bytes += accepting_factor * size_of(payload);
  batch->room = MessageRoom(options_.memory);
  if (!batch->room.try_take(bytes)) return nullptr;
  batch->emails.reserve(payloads.size());
  if (dispatch_ != nullptr) batch->dispatch.emplace(*dispatch_);
  const base::TimePoint now = clock_.now();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    Payload& payload = payloads[i];
    if (payload.id.empty())
      payload.id = key ? derived_uuid(key->name_of_email(i)) : base::make_ordered_uuid(now, random_);
    auto change = decide(new_email(payload, tenant), event::Accepted{}, policy_, now);
    CHECK(change.has_value());
    batch->emails.push_back({*std::move(change), to_json(payload)});
    if (batch->dispatch) batch->dispatch->take(batch->emails.back(), std::move(payload), now);
  }
  return batch;
}

void Outbox::accepted(Batch& batch, const std::vector<AcceptOutcome>& outcomes) {
  if (batch.dispatch) batch.dispatch->hand_over(outcomes);
  for (const Pipeline pipeline : {Pipeline::intake, Pipeline::send})
    if (std::ranges::any_of(outcomes, [&](const AcceptOutcome& outcome) {
          return outcome.email && pipeline_of(*outcome.email) == pipeline;
        }))
      signal_.announce(pipeline);
}

// A key may be used for the same request again after it has expired, while the e-mails of then are still there. Those
// of now are others, so they have names of another generation. A generation is a span of time as long as the key lives:
// a repeat finds the one that it belongs to among two, however often the key was used before.
base::Result<AcceptKey> Outbox::accept_key(const KeyedRequest& keyed, const std::vector<Payload>& payloads,
                                           const std::string& tenant) {
  const base::Milliseconds life = keyed.life.value_or(options_.key_life);
  const base::TimePoint now = clock_.now();
  AcceptKey key{scoped(tenant, keyed.key), keyed.request_hash, now + life};
  if (clock_.is_doubtful()) return key;  // by a clock that may be wrong nothing has expired
  // What expires in a moment has expired when the ledger looks for the key.
  key.used_at = now + std::min<base::Milliseconds>(life / 10, std::chrono::seconds(1));
  // Of e-mails with ids of the caller's there is one each; a second one is refused.
  std::vector<std::size_t> made;
  for (std::size_t i = 0; i < payloads.size(); ++i)
    if (payloads[i].id.empty()) made.push_back(i);
  enum class Found { none, of_this_use, of_another };
  const auto look_for = [&](std::string generation) -> base::Result<Found> {
    key.generation = std::move(generation);
    std::vector<std::string> ids;
    for (const std::size_t i : made) ids.push_back(derived_uuid(key.name_of_email(i)));
    TRY(const auto acceptances, ledger_.acceptances(ids));
    for (std::size_t place = 0; place < made.size(); ++place) {
      const auto found = acceptances.find(ids[place]);
      if (found == acceptances.end() || !key.has_accepted(made[place], found->second.token)) continue;
      // One of an earlier version does not say when its key expires.
      const bool says_expiry = found->second.token.find('@') != std::string::npos;
      if (says_expiry || found->second.at + life > key.used_at) return Found::of_this_use;
    }
    return acceptances.empty() ? Found::none : Found::of_another;
  };
  TRY(const Found first, look_for(""));
  if (first != Found::of_another) return key;
  const std::int64_t span = base::epoch_milliseconds(now) / std::max<std::int64_t>(life.count(), 1);
  TRY(const Found earlier, look_for(std::to_string(span - 1)));
  if (earlier != Found::of_this_use) key.generation = std::to_string(span);
  return key;
}

base::Result<AcceptAnswer> Outbox::accept(std::vector<Payload> payloads, const std::string& tenant,
                                          const std::optional<KeyedRequest>& keyed, const RenderAnswer& render) {
  std::optional<AcceptKey> key;
  if (keyed) {
    TRY(key, accept_key(*keyed, payloads, tenant));
  }
  const auto batch = prepare(std::move(payloads), tenant, key);
  if (!batch) return AcceptAnswer{.status = AcceptStatus::no_room};
  auto answer = ledger_.accept(std::move(batch->emails), key, render);
  if (answer && answer->status == AcceptStatus::done) accepted(*batch, answer->outcomes);
  return answer;
}

JoinedOutcome Outbox::accept_with(Payload payload, const std::string& tenant,
                                  std::vector<store::TransactAction> actions) {
  CHECK(!payload.id.empty());
  std::vector<Payload> payloads;
  payloads.push_back(std::move(payload));
  const auto batch = prepare(std::move(payloads), tenant, std::nullopt);
  if (!batch) {
    JoinedOutcome refused;
    refused.error.emplace(store::ErrorType::service_unavailable, "there is no room in memory for the e-mail");
    return refused;
  }
  JoinedOutcome outcome = ledger_.accept_with(std::move(batch->emails.front()), std::move(actions));
  if (outcome.email) {
    std::vector<AcceptOutcome> outcomes(1);
    outcomes.front().id = outcome.email->id;
    outcomes.front().email = outcome.email;
    accepted(*batch, outcomes);
  }
  return outcome;
}

bool Outbox::accept_soon(std::vector<Payload> payloads, const std::string& tenant, AcceptanceQueue::Done done) {
  const auto batch = prepare(std::move(payloads), tenant, std::nullopt);
  if (!batch) return false;
  return acceptances_.try_submit(
      batch->emails, [this, batch, done = std::move(done)](base::Result<std::vector<AcceptOutcome>> outcomes) {
        if (outcomes) accepted(*batch, *outcomes);
        done(std::move(outcomes));
      });
}

base::Result<Email> Outbox::find(const std::string& id, const std::string& tenant) {
  access::CallerScope::check(tenant);
  TRY(std::optional<Email> email, ledger_.find(id));
  if (!email || (!tenant.empty() && email->tenant != tenant)) return unknown(id);
  return std::move(*email);
}

bool Outbox::is_known(const std::string& id) {
  const auto found = ledger_.find(id);
  return found ? found->has_value() : found.error().code == base::ErrorCode::corrupt;
}

bool Outbox::refuses_callback(const std::string& callback_url) {
  constexpr std::int64_t least_pause = 60'000;  // between two lines: a caller can be wrong as often as it likes
  if (!leads_inside(callback_url, policy_)) return false;
  const std::int64_t now = base::epoch_milliseconds(clock_.now());
  std::int64_t told = refused_callbacks_told_.load();
  if (now - told >= least_pause && refused_callbacks_told_.compare_exchange_strong(told, now))
    base::log_warning("outbox",
                      "callback URLs into a private network are refused; --callback-allow-private allows them",
                      {{"host", net::Url::parse(callback_url)->host}});
  return true;
}

base::Result<ShownEmail> Outbox::show(const std::string& id, const std::string& tenant) {
  TRY(Email email, find(id, tenant));
  TRY(std::vector<HistoryEntry> history, ledger_.history(id));
  return ShownEmail{std::move(email), std::move(history)};
}

base::Result<EmailPage> Outbox::list(const ListRequest& request) {
  access::CallerScope::check(request.tenant);
  ListRequest within = request;
  TRY(within.cursor, store::read_tenant_cursor(request.tenant, request.cursor));
  TRY(EmailPage page, ledger_.list(within));
  page.cursor = store::tenant_cursor(request.tenant, page.cursor);
  return page;
}

base::Result<Counts> Outbox::counts(const std::string& tenant) {
  access::CallerScope::check(tenant);
  return ledger_.counts(tenant.empty() ? std::nullopt : std::optional(tenant));
}

base::Result<std::vector<Email>> Outbox::stale(const std::string& tenant, int limit) {
  access::CallerScope::check(tenant);
  constexpr int most_looked_at = 1'000;  // of all tenants: they are few, or there is greater trouble than a short list
  TRY(std::vector<Email> emails, ledger_.stale(clock_.now(), tenant.empty() ? limit : most_looked_at));
  if (!tenant.empty()) std::erase_if(emails, [&](const Email& email) { return email.tenant != tenant; });
  // Whose a malformed record is cannot be told, so tenants are not shown it.
  if (tenant.empty())
    for (const MalformedRecord& record : ledger_.malformed()) emails.push_back(unreadable_email(record));
  if (emails.size() > static_cast<std::size_t>(limit)) emails.resize(static_cast<std::size_t>(limit));
  return emails;
}

base::Result<EmailPage> Outbox::dead_callbacks(const std::string& tenant, const std::string& cursor, int limit) {
  access::CallerScope::check(tenant);
  TRY(const std::string within, store::read_tenant_cursor(tenant, cursor));
  TRY(EmailPage page, ledger_.dead_callbacks(tenant, within, limit));
  page.cursor = store::tenant_cursor(tenant, page.cursor);
  return page;
}

base::Result<std::string> Outbox::message(const std::string& id, const std::string& tenant, const Spool::Admit& admit) {
  TRY(const Email email, find(id, tenant));
  if (email.message_path.empty())
    return base::fail(base::ErrorCode::not_found, "the message of e-mail " + id + " is not built yet");
  return read_contents(ledger_.spool(), SpoolKind::message, id, email.message_path, admit);
}

base::Result<std::string> Outbox::payload(const std::string& id, const std::string& tenant, const Spool::Admit& admit) {
  TRY(const Email email, find(id, tenant));
  return read_contents(ledger_.spool(), SpoolKind::payload, id, email.payload_path, admit);
}

base::Result<bool> Outbox::remove_contents(const std::string& id, const std::string& tenant) {
  TRY(const Email email, find(id, tenant));
  if (!is_finished(email)) return false;
  for (const std::string& path : {email.payload_path, email.message_path})
    if (!path.empty() && id_in_spool_path(path) == id)
      if (const auto removed = ledger_.spool().remove(path);
          !removed && removed.error().code != base::ErrorCode::not_found)
        return base::propagate(removed.error());
  return true;
}

std::optional<std::string> Outbox::why_unreadable(const std::string& id) {
  const auto found = ledger_.find(id);
  if (found || found.error().code != base::ErrorCode::corrupt) return std::nullopt;
  return found.error().message;
}

base::Result<bool> Outbox::has_line(const std::string& id, const std::string& note) {
  TRY(const std::vector<HistoryEntry> history, ledger_.history(id));
  return std::ranges::any_of(history,
                             [&](const HistoryEntry& line) { return note_of_line(line.version, line.status) == note; });
}

base::Result<Email> Outbox::change(const std::string& id, const std::string& tenant, const ChangeNotes* notes,
                                   const Event& event) {
  constexpr int rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    TRY(Email before, before_change(find(id, tenant)));
    if (round == 0 && notes != nullptr && !notes->last.empty()) {
      TRY(const bool made, before_change(has_line(id, notes->last)));
      if (made) return before;
    }
    if (std::holds_alternative<event::Requeued>(event) && options_.is_worked_on && options_.is_worked_on(before))
      return base::fail(base::ErrorCode::conflict, "a worker of this server still has e-mail " + id + ", which is " +
                                                       std::string(name_of(before.state)));
    TRY(Change change, decide(std::move(before), event, policy_, clock_.now()));
    if (notes != nullptr)
      TRY_VOID(before_change(notes->write(note_of_line(change.after.version, name_of(change.after.state)))));
    std::vector<Change> changes;
    changes.push_back(std::move(change));
    std::vector<MoveOutcome> outcomes = ledger_.move(std::move(changes));
    MoveOutcome& outcome = outcomes.front();
    if (outcome.status == MoveStatus::failed)
      return base::fail(outcome.in_doubt ? base::ErrorCode::io : base::ErrorCode::exhausted, outcome.error);
    if (outcome.status != MoveStatus::done) continue;
    signal_.announce(outcome.email);
    return std::move(outcome.email);
  }
  return base::fail(base::ErrorCode::conflict, "e-mail " + id + " changes too fast; try again");
}

base::Result<Email> Outbox::cancel(const std::string& id, const std::string& tenant, const std::string& reason,
                                   const ChangeNotes* notes) {
  return change(id, tenant, notes, event::Cancelled{reason});
}

base::Result<Email> Outbox::hold(const std::string& id, const std::string& tenant, const std::string& reason,
                                 const ChangeNotes* notes) {
  return change(id, tenant, notes, event::Held{reason});
}

base::Result<Email> Outbox::release(const std::string& id, const std::string& tenant, const std::string& reason,
                                    const ChangeNotes* notes) {
  return change(id, tenant, notes, event::Released{reason});
}

base::Result<Email> Outbox::requeue(const std::string& id, const std::string& tenant, const std::string& reason,
                                    const ChangeNotes* notes) {
  return change(id, tenant, notes, event::Requeued{reason});
}

base::Result<Email> Outbox::amend(const std::string& id, const std::string& tenant, const ChangeNotes* notes,
                                  const Event& event, const char* note) {
  TRY(Email email, before_change(find(id, tenant)));
  auto change = decide(email, event, policy_, clock_.now());
  if (!change) {
    if (notes != nullptr && !notes->last.empty()) return email;  // it was done, and a worker has it since
    return base::propagate(change.error());
  }
  if (notes != nullptr) TRY_VOID(before_change(notes->write(note)));
  const Email wanted = change->after;
  const auto written = outbox::amend(ledger_, *std::move(change));
  const bool in_doubt = !written && written.error().code == base::ErrorCode::io;
  if (!written && !in_doubt) return base::propagate(written.error());
  const auto found = find(id, tenant);
  // A look says whether it was written. That it was not is no proof: it may be about to be.
  if (in_doubt && (!found || *found != wanted)) return base::propagate(written.error());
  const Email& amended = found ? *found : wanted;
  signal_.announce(amended);
  return amended;
}

base::Result<Email> Outbox::replay_callback(const std::string& id, const std::string& tenant,
                                            const ChangeNotes* notes) {
  return amend(id, tenant, notes, event::CallbackReplayed{}, "replay");
}

base::Result<Email> Outbox::retry(const std::string& id, const std::string& tenant, const ChangeNotes* notes) {
  return amend(id, tenant, notes, event::Retried{}, "retry");
}

// By its time a bounce is known again when the report is taken once more.
base::Result<base::TimePoint> Outbox::time_of_bounce(const ChangeNotes* notes) {
  const base::TimePoint now = clock_.now();
  if (notes == nullptr) return now;
  if (const auto noted = base::parse_timestamp(notes->last)) return *noted;
  TRY_VOID(before_change(notes->write(base::format_timestamp(now))));
  return now;
}

base::Result<BounceOutcome> Outbox::take_bounce(std::string_view message, const std::string& tenant,
                                                const ChangeNotes* notes) {
  access::CallerScope::check(tenant);
  TRY(const mail::DeliveryReport report, mail::parse_delivery_report(message));
  BounceOutcome outcome;
  Email bounced;
  for (const std::string& name : {report.envelope_id, report.message_id.substr(0, report.message_id.find('@'))}) {
    if (name.empty()) continue;
    const auto found = ledger_.find(name);
    if (!found && found.error().code != base::ErrorCode::corrupt)
      return before_change(base::Result<BounceOutcome>(base::propagate(found.error())));
    if (!found) {
      outcome.unreadable = {name, found.error().message};
      continue;
    }
    const std::optional<Email>& email = *found;
    if (!email || (!tenant.empty() && email->tenant != tenant)) continue;
    outcome.email_id = email->id;
    bounced = *email;
    break;
  }
  if (outcome.email_id.empty()) return outcome;
  outcome.unreadable.reset();
  TRY(const base::TimePoint at, time_of_bounce(notes));
  int changes = 0;  // made so far
  for (const mail::ReportedRecipient& recipient : report.recipients) {
    // What a report says comes from outside: it can speak for those the e-mail was for, and for no other.
    const bool meant = std::ranges::any_of(bounced.recipients, [&](const Recipient& each) {
      return mail::is_same_address(each.address, recipient.address);
    });
    if (recipient.action != "failed" || !meant) continue;
    Bounce bounce{recipient.address, recipient.status, recipient.diagnostic, recipient.status.starts_with('5'), at};
    const bool recorded = std::ranges::find(bounced.bounces, bounce) != bounced.bounces.end();
    if (!recorded) TRY_VOID(after_changes(changes, ledger_.record_bounce(outcome.email_id, bounce)));
    ++changes;
    if (smtp::means_bad_address(recipient.status)) {
      TRY_VOID(after_changes(changes, suppress(bounced.tenant, recipient.address,
                                               "bounced: " + recipient.status + " " + recipient.diagnostic)));
      outcome.suppressed.push_back(recipient.address);
    }
    outcome.bounces.push_back(std::move(bounce));
  }
  return outcome;
}

base::Result<void> Outbox::suppress(const std::string& tenant, const std::string& address, const std::string& reason) {
  access::CallerScope::check(tenant);
  return suppressions_.add(tenant, {address, reason, clock_.now()});
}

base::Result<bool> Outbox::unsuppress(const std::string& tenant, const std::string& address) {
  access::CallerScope::check(tenant);
  return suppressions_.remove(tenant, address);
}

base::Result<bool> Outbox::is_suppressed(const std::string& tenant, const std::string& address) {
  access::CallerScope::check(tenant);
  TRY(const std::vector<Suppression> found, suppressions_.find(tenant, {address}));
  return !found.empty();
}

base::Result<SuppressionPage> Outbox::suppressions(const std::string& tenant, const std::string& cursor, int limit) {
  access::CallerScope::check(tenant);
  TRY(const std::string within, store::read_tenant_cursor(tenant, cursor));
  TRY(SuppressionPage page, suppressions_.list(tenant, within, limit));
  page.cursor = store::tenant_cursor(tenant, page.cursor);
  return page;
}

}  // namespace postino::outbox
