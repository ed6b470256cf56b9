#include "outbox_store.h"

#include <cstdio>

#include "base/check.h"

namespace postino::outbox {

OutboxStore::OutboxStore(SpoolChoice spool, std::shared_ptr<base::Clock> clock)
    : EmbeddedStore(std::move(clock)), spool_(spool) {
  CHECK(prepare_tables(engine(), tables_).has_value());
}

std::unique_ptr<Spool> OutboxStore::make_spool() {
  if (spool_ == SpoolChoice::store) return nullptr;
  auto directory = DirectorySpool::open(spool_directory(), random());
  CHECK(directory.has_value());
  return *std::move(directory);
}

std::unique_ptr<StoreLedger> OutboxStore::make_ledger(StoreLedgerOptions options) {
  return std::make_unique<StoreLedger>(engine(), tables_, ledger_policy(), clock(), random(), retry(), make_spool(),
                                       std::move(options));
}

const Policy& ledger_policy() {
  static const Policy policy = [] {
    Policy careful;
    careful.unknown_outcome = UnknownOutcomePolicy::hold;
    return careful;
  }();
  return policy;
}

Change Decider::operator()(const Email& email, Event event, base::TimePoint now) const {
  auto change = decide(email, std::move(event), policy_, now);
  if (!change) ADD_FAILURE() << change.error().message;
  return change ? *std::move(change) : Change();
}

Change moved_to(const Email& before, State state, base::TimePoint now) {
  Change change{before, before, {}, std::nullopt, false};
  Email& after = change.after;
  after.state = state;
  ++after.version;
  after.updated_at = std::max(now, before.updated_at);
  const int occurrence = ++after.reached[index_of(state)];
  change.lines.push_back({{std::string(name_of(state)), after.updated_at, after.reason, after.version}, occurrence});
  return change;
}

base::Result<void> amended(Ledger& ledger, const Email& email, Event event, base::TimePoint now) {
  TRY(Change change, decide(email, std::move(event), ledger_policy(), now));
  return amend(ledger, std::move(change));
}

base::Result<void> postponed(Ledger& ledger, const Email& email, base::TimePoint due) {
  Change change{email, email, {}, std::nullopt, false};
  change.after.due_at = due;
  return amend(ledger, std::move(change));
}

base::Result<std::vector<std::string>> renewed(Ledger& ledger, const std::vector<Email>& emails, base::TimePoint now,
                                               base::Milliseconds lease) {
  Policy policy;
  policy.lease = lease;
  std::vector<Change> changes;
  for (const Email& email : emails) {
    TRY(Change change, decide(email, event::LeaseRenewed{}, policy, now));
    changes.push_back(std::move(change));
  }
  return ledger.amend(changes);
}

std::string email_id(int number) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012d", number);
  return text;
}

Draft new_email(std::string id, std::string tenant) {
  Draft added;
  added.payload = R"({"from":"ann@example.com","to":"bob@example.com","subject":")" + id + R"(","body_text":"b"})";
  added.email.id = std::move(id);
  added.email.tenant = std::move(tenant);
  added.email.sender = "ann@example.com";
  added.email.recipients = {{"bob@example.com", RecipientState::pending, ""}};
  return added;
}

NewEmail accepted(Draft draft, base::TimePoint now) {
  auto change = decide(std::move(draft.email), event::Accepted{}, ledger_policy(), now);
  CHECK(change.has_value());
  return {*std::move(change), std::move(draft.payload)};
}

std::vector<Email> claimed(Ledger& ledger, Pipeline pipeline, int limit, const std::string& owner) {
  auto claim = ledger.claim(pipeline, limit, owner);
  EXPECT_TRUE(claim) << claim.error().message;
  return claim ? std::move(claim->emails) : std::vector<Email>();
}

namespace {

smtp::SendResult result_of(const Email& email, smtp::Severity severity, const smtp::Reply& reply) {
  smtp::SendResult result;
  result.severity = severity;
  result.reply = reply;
  for (const Recipient& recipient : email.recipients) result.recipients.push_back({recipient.address, severity, reply});
  return result;
}

}  // namespace

smtp::SendResult delivered(const Email& email) {
  return result_of(email, smtp::Severity::success, {250, "2.0.0", "250 2.0.0 ok"});
}

smtp::SendResult deferred(const Email& email, const std::string& words) {
  return result_of(email, smtp::Severity::temporary, {450, "4.2.0", words});
}

smtp::SendResult refused(const Email& email, const std::string& words) {
  return result_of(email, smtp::Severity::permanent, {550, "5.0.0", words});
}

}  // namespace postino::outbox
