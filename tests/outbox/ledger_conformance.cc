#include "ledger_conformance.h"

#include <gmock/gmock.h>

#include <set>
#include <stdexcept>

#include "outbox/email/state_machine_testing.h"
#include "outbox_store.h"

namespace postino::outbox {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

namespace {

Policy calling_policy() {
  Policy policy;
  policy.default_callback_url = "https://example.com/hook";
  return policy;
}

std::int64_t sum(const Counts& counts) {
  std::int64_t total = 0;
  for (const std::int64_t count : counts) total += count;
  return total;
}

std::int64_t counted(const Counts& counts, State state) { return counts[static_cast<std::size_t>(state)]; }

std::string render(const std::vector<AcceptOutcome>& outcomes) {
  std::string text;
  for (const AcceptOutcome& outcome : outcomes) text += outcome.id + (outcome.error ? " refused\n" : " accepted\n");
  return text;
}

}  // namespace

std::vector<std::string> ids_of(const std::vector<Email>& emails) {
  std::vector<std::string> ids;
  for (const Email& email : emails) ids.push_back(email.id);
  return ids;
}

LedgerConformance::LedgerConformance() : tested_(GetParam().make()), decide_(calling_policy()) {}

AcceptAnswer LedgerConformance::accept(const std::vector<Draft>& emails, const std::optional<AcceptKey>& key) {
  std::vector<NewEmail> accepting;
  for (const Draft& email : emails) accepting.push_back(accepted(email, now()));
  auto answer = ledger().accept(std::move(accepting), key, render);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? *std::move(answer) : AcceptAnswer();
}

std::vector<std::string> LedgerConformance::accept_some(int count, const std::string& tenant) {
  std::vector<std::string> ids;
  std::vector<Draft> emails;
  for (int i = 0; i < count; ++i) {
    ids.push_back(email_id(next_id_++));
    emails.push_back(new_email(ids.back(), tenant));
  }
  for (const AcceptOutcome& outcome : accept(std::move(emails)).outcomes)
    EXPECT_FALSE(outcome.error) << outcome.message;
  return ids;
}

AcceptKey LedgerConformance::key(std::string name, std::string request_hash) {
  return {std::move(name), std::move(request_hash), now() + hours(24), now()};
}

Claim LedgerConformance::claim(Pipeline pipeline, int limit, const std::string& owner) {
  auto claim = ledger().claim(pipeline, limit, owner);
  EXPECT_TRUE(claim) << claim.error().message;
  return claim ? *std::move(claim) : Claim();
}

Email LedgerConformance::find(const std::string& id) {
  auto email = ledger().find(id);
  EXPECT_TRUE(email && *email) << id;
  return email && *email ? **email : Email();
}

MoveStatus LedgerConformance::move(Change change) {
  std::vector<Change> moves;
  moves.push_back(std::move(change));
  return ledger().move(std::move(moves)).front().status;
}

Email LedgerConformance::moved(Change change) {
  std::vector<Change> moves;
  moves.push_back(std::move(change));
  MoveOutcome outcome = ledger().move(std::move(moves)).front();
  EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
  return std::move(outcome.email);
}

std::vector<std::string> LedgerConformance::history(const std::string& id) {
  std::vector<std::string> states;
  const auto entries = ledger().history(id);
  EXPECT_TRUE(entries);
  if (entries)
    for (const HistoryEntry& entry : *entries) states.push_back(entry.status);
  return states;
}

Email LedgerConformance::take(const std::string& id) {
  const Email email = find(id);
  Change change = moved_to(email, claimed_form(email.state).value_or(email.state), now());
  change.after.owner = "worker";
  change.after.due_at = now() + lease;
  if (change.after.state == State::processing) ++change.after.attempts;
  return moved(std::move(change));
}

Email LedgerConformance::to_ready(const std::string& id) {
  return moved(decide_(take(id), event::MessageBuilt{"message of " + id}, now()));
}

Email LedgerConformance::to_processing(const std::string& id) { return take(to_ready(id).id); }

Email LedgerConformance::to_sent(const std::string& id) {
  const Email email = to_processing(id);
  return moved(decide_(email, event::SendingAttempted{{}, delivered(email)}, now()));
}

void LedgerConformance::expect_counts_right() {
  for (const char* name : {"", "acme", "globex"}) {
    const std::string tenant = name;
    const auto counts = ledger().counts(tenant.empty() ? std::nullopt : std::optional(tenant));
    ASSERT_TRUE(counts) << counts.error().message;
    EXPECT_EQ(*counts, tested_->recount(tenant)) << "tenant '" << tenant << "'";
  }
}

// Acceptance.

TEST_P(LedgerConformance, AcceptedEmailsAreThereWithTheirPayload) {
  Draft added = new_email(email_id(1), "acme");
  added.email.tags = {"t"};
  added.email.callback_url = "https://example.com/mine";
  added.email.send_at = now() + hours(2);
  const std::string payload = added.payload;
  const AcceptAnswer answer = accept({added});
  EXPECT_EQ(answer.status, AcceptStatus::done);
  ASSERT_THAT(answer.outcomes, SizeIs(1));
  EXPECT_EQ(answer.outcomes[0].id, email_id(1));
  EXPECT_EQ(answer.outcomes[0].error, std::nullopt);

  const Email email = find(email_id(1));
  EXPECT_EQ(email.state, State::accepted);
  EXPECT_EQ(email.version, 1);
  EXPECT_EQ(email.created_at, now());
  EXPECT_EQ(email.updated_at, now());
  EXPECT_EQ(email.due_at, now()) << "intake need not wait for the time of sending";
  EXPECT_EQ(email.tenant, "acme");
  EXPECT_EQ(email.send_at, now() + hours(2));
  EXPECT_EQ(email.callback_url, "https://example.com/mine");
  EXPECT_THAT(email.tags, ElementsAre("t"));
  EXPECT_EQ(email.sender, "ann@example.com");
  EXPECT_EQ(email.recipients, added.email.recipients);
  EXPECT_EQ(tested_->spool().read(email.payload_path).value_or("-"), payload);
  const auto lines = ledger().history(email.id);
  ASSERT_TRUE(lines);
  EXPECT_THAT(*lines, ElementsAre(HistoryEntry{"ACCEPTED", now(), "", 1}));
  EXPECT_EQ(*ledger().find("nobody"), std::nullopt);
  expect_counts_right();
}

TEST_P(LedgerConformance, OfEqualIdsInARequestTheFirstCounts) {
  Draft second = new_email(email_id(1));
  second.payload = "second";
  const AcceptAnswer answer = accept({new_email(email_id(1)), second, new_email(email_id(2))});
  EXPECT_EQ(answer.outcomes[0].error, std::nullopt);
  EXPECT_EQ(answer.outcomes[1].error, AcceptError::duplicated_id);
  EXPECT_EQ(answer.outcomes[2].error, std::nullopt);
  EXPECT_EQ(tested_->spool().read(find(email_id(1)).payload_path).value_or("-"), new_email(email_id(1)).payload);
  expect_counts_right();
}

TEST_P(LedgerConformance, AnIdThatIsTakenIsRefusedAndTheOthersGoThrough) {
  accept({new_email(email_id(1)), new_email(email_id(2))});
  const Email before = to_ready(email_id(1));
  Draft repeated = new_email(email_id(1), "globex");
  repeated.payload = "other";
  const AcceptAnswer answer = accept({repeated, new_email(email_id(3)), new_email(email_id(2))});
  EXPECT_EQ(answer.outcomes[0].error, AcceptError::duplicated_id);
  EXPECT_FALSE(answer.outcomes[0].message.empty());
  EXPECT_EQ(answer.outcomes[1].error, std::nullopt);
  EXPECT_EQ(answer.outcomes[2].error, AcceptError::duplicated_id);
  EXPECT_EQ(find(email_id(1)), before) << "nothing of it changes";
  EXPECT_EQ(tested_->spool().read(before.payload_path).value_or("-"), new_email(email_id(1)).payload);
  expect_counts_right();
}

TEST_P(LedgerConformance, ARequestMayBeLargerThanACommit) {
  const std::vector<std::string> ids = accept_some(63);
  for (const std::string& id : ids) EXPECT_EQ(find(id).state, State::accepted);
  EXPECT_EQ(counted(*ledger().counts(std::nullopt), State::accepted), 63);
  expect_counts_right();
}

TEST_P(LedgerConformance, EveryEmailMayHaveATenantAndADayOfItsOwn) {
  std::vector<Draft> emails;
  for (int i = 0; i < 50; ++i) {
    emails.push_back(new_email(email_id(i), "tenant-" + std::to_string(i)));
    emails.back().email.send_at = now() + hours(24 * i);
  }
  for (const AcceptOutcome& outcome : accept(std::move(emails), key("days")).outcomes)
    EXPECT_EQ(outcome.error, std::nullopt) << outcome.message;
  const Claim claimed = claim(Pipeline::intake);
  EXPECT_THAT(claimed.emails, SizeIs(50));
  std::vector<Change> moves;
  for (const Email& email : claimed.emails) moves.push_back(decide_(email, event::MessageBuilt{"m"}, now()));
  for (const MoveOutcome& outcome : ledger().move(std::move(moves))) EXPECT_EQ(outcome.status, MoveStatus::done);
  EXPECT_EQ(counted(*ledger().counts(std::nullopt), State::ready), 50);
  EXPECT_EQ(counted(*ledger().counts("tenant-7"), State::ready), 1);
  expect_counts_right();
}

TEST_P(LedgerConformance, PayloadsMayBeLarge) {
  std::vector<Draft> emails;
  std::vector<std::string> payloads;
  for (int i = 0; i < 24; ++i) {
    emails.push_back(new_email(email_id(i)));
    emails.back().payload = std::string(i % 3 == 0 ? 700'000 + i : 290'000 + i, static_cast<char>('a' + i));
    payloads.push_back(emails.back().payload);
  }
  for (const AcceptOutcome& outcome : accept(std::move(emails)).outcomes)
    EXPECT_FALSE(outcome.error) << outcome.message;
  for (int i = 0; i < 24; ++i) {
    const auto read = tested_->spool().read(find(email_id(i)).payload_path);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == payloads[static_cast<std::size_t>(i)]) << i;
  }
}

TEST_P(LedgerConformance, AnEmailMayGoFurtherAtOnceWithAMessageOfAnySize) {
  std::vector<NewEmail> emails;
  for (int i = 0; i < 3; ++i) {
    emails.push_back(accepted(new_email(email_id(i)), now()));
    emails.back().change = *then(std::move(emails.back().change),
                                 event::MessageBuilt{std::string(i == 1 ? 700'000 : 4'000, static_cast<char>('a' + i))},
                                 decide_.policy(), now());
  }
  const auto answer = ledger().accept(std::move(emails), std::nullopt, render);
  ASSERT_TRUE(answer) << answer.error().message;
  for (const AcceptOutcome& outcome : answer->outcomes) {
    ASSERT_FALSE(outcome.error) << outcome.message;
    ASSERT_TRUE(outcome.email);
    EXPECT_EQ(*outcome.email, find(outcome.id));
  }
  for (int i = 0; i < 3; ++i) {
    const Email email = find(email_id(i));
    EXPECT_EQ(email.state, State::ready);
    EXPECT_EQ(email.version, 3);
    const auto read = tested_->spool().read(email.message_path);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == std::string(i == 1 ? 700'000 : 4'000, static_cast<char>('a' + i))) << i;
    const auto history = ledger().history(email.id);
    ASSERT_TRUE(history) << history.error().message;
    std::vector<std::string> states;
    for (const HistoryEntry& line : *history) states.push_back(line.status);
    EXPECT_EQ(states, (std::vector<std::string>{"ACCEPTED", "INTAKING", "READY"}));
  }
  expect_counts_right();
}

TEST_P(LedgerConformance, ARepeatWithTheSameKeyGetsTheFirstAnswer) {
  const AcceptAnswer first = accept({new_email(email_id(1)), new_email(email_id(2))}, key("k"));
  EXPECT_EQ(first.status, AcceptStatus::done);
  EXPECT_EQ(first.stored_answer, email_id(1) + " accepted\n" + email_id(2) + " accepted\n");
  to_sent(email_id(1));
  const AcceptAnswer again = accept({new_email(email_id(1)), new_email(email_id(2))}, key("k"));
  EXPECT_EQ(again.status, AcceptStatus::replayed);
  EXPECT_EQ(again.stored_answer, first.stored_answer);
  // A refusal is an answer as well.
  const AcceptAnswer refused = accept({new_email(email_id(1))}, key("k2"));
  EXPECT_EQ(refused.stored_answer, email_id(1) + " refused\n");
  EXPECT_EQ(accept({new_email(email_id(1))}, key("k2")).stored_answer, refused.stored_answer);
  EXPECT_EQ(sum(*ledger().counts(std::nullopt)), 2);
}

TEST_P(LedgerConformance, AKeyIsForOneRequest) {
  accept({new_email(email_id(1))}, key("k", "hash one"));
  EXPECT_EQ(accept({new_email(email_id(2))}, key("k", "hash two")).status, AcceptStatus::other_request);
  EXPECT_EQ(*ledger().find(email_id(2)), std::nullopt);
  EXPECT_EQ(accept({new_email(email_id(2))}, key("another", "hash two")).status, AcceptStatus::done);
}

TEST_P(LedgerConformance, AKeyCanBeUsedAgainWhenItHasExpired) {
  accept({new_email(email_id(1))}, key("k", "hash one"));
  clock().advance(hours(24) - seconds(1));
  EXPECT_EQ(accept({new_email(email_id(1))}, key("k", "hash one")).status, AcceptStatus::replayed);
  clock().advance(seconds(1));
  const AcceptAnswer answer = accept({new_email(email_id(1)), new_email(email_id(2))}, key("k", "hash two"));
  EXPECT_EQ(answer.status, AcceptStatus::done);
  EXPECT_EQ(answer.outcomes[0].error, AcceptError::duplicated_id) << "which is not this request's";
  EXPECT_EQ(answer.outcomes[1].error, std::nullopt);
  clock().advance(hours(24));
  const AcceptAnswer same = accept({new_email(email_id(1)), new_email(email_id(2))}, key("k", "hash two"));
  EXPECT_EQ(same.status, AcceptStatus::done);
  EXPECT_EQ(same.outcomes[1].error, AcceptError::duplicated_id) << "it was accepted by the use before";
}

// Such a request has made them before, and its key is forgotten. What they are by now is not what it would make of
// them.
TEST_P(LedgerConformance, ARepeatWithoutItsKeyDoesNotGetEmailsToWorkOn) {
  const auto made = [&] {
    std::vector<Draft> emails{new_email(email_id(1)), new_email(email_id(2))};
    for (Draft& each : emails) each.email.acceptance_token = "the same request";
    return emails;
  };
  EXPECT_TRUE(accept(made(), key("k")).outcomes[0].email);
  clock().advance(hours(25));
  AcceptKey copied = key("k");
  copied.used_at = now() - hours(2);  // the e-mails came by a copy, which leaves the key behind
  const AcceptAnswer again = accept(made(), copied);
  ASSERT_EQ(again.status, AcceptStatus::done);
  for (const AcceptOutcome& outcome : again.outcomes)
    EXPECT_TRUE(!outcome.error && !outcome.email) << "it is there, and others have it";
  EXPECT_EQ(sum(*ledger().counts(std::nullopt)), 2);
}

TEST_P(LedgerConformance, ARequestThatWasInterruptedIsCompletedByItsRepeat) {
  const auto request = [] {
    std::vector<Draft> emails;
    for (int i = 0; i < 60; ++i) emails.push_back(new_email(email_id(i)));
    return emails;
  };
  // The process is gone when it renders the answer for the second time, if it does.
  int rendered = 0;
  try {
    std::vector<NewEmail> emails;
    for (const Draft& email : request()) emails.push_back(accepted(email, now()));
    (void)ledger().accept(std::move(emails), key("k"), [&](const auto& outcomes) -> std::string {
      if (++rendered == 2) throw std::runtime_error("power failure");
      return render(outcomes);
    });
  } catch (const std::runtime_error&) {
    EXPECT_LT(sum(*ledger().counts(std::nullopt)), 60);
  }
  // A worker has what is there already.
  for (const Email& email : claim(Pipeline::intake, 10).emails) moved(decide_(email, event::MessageBuilt{"m"}, now()));
  clock().advance(seconds(60));
  const AcceptAnswer answer = accept(request(), key("k"));
  EXPECT_TRUE(answer.status == AcceptStatus::done || answer.status == AcceptStatus::replayed);
  for (const AcceptOutcome& outcome : answer.outcomes) EXPECT_EQ(outcome.error, std::nullopt) << outcome.id;
  EXPECT_EQ(answer.stored_answer.find("refused"), std::string::npos);
  EXPECT_EQ(sum(*ledger().counts(std::nullopt)), 60);
  EXPECT_EQ(accept(request(), key("k")).status, AcceptStatus::replayed);
  expect_counts_right();
}

// Claims.

TEST_P(LedgerConformance, AClaimTakesWhatIsDueForItsOwner) {
  const std::string id = accept_some(1)[0];
  const Claim claimed = claim(Pipeline::intake, 10, "me");
  ASSERT_THAT(claimed.emails, SizeIs(1));
  const Email& email = claimed.emails[0];
  EXPECT_EQ(email.state, State::intaking);
  EXPECT_EQ(email.owner, "me");
  EXPECT_EQ(email.due_at, now() + lease);
  EXPECT_EQ(email.version, 2);
  EXPECT_EQ(email, find(id));
  EXPECT_THAT(claim(Pipeline::intake).emails, IsEmpty());
  EXPECT_THAT(claim(Pipeline::send).emails, IsEmpty());
  EXPECT_THAT(history(id), ElementsAre("ACCEPTED", "INTAKING"));
  expect_counts_right();
}

TEST_P(LedgerConformance, EachPipelineTakesItsOwnAndCountsItsAttempts) {
  const std::string id = accept_some(1)[0];
  EXPECT_EQ(claim(Pipeline::intake).emails.at(0).attempts, 0);
  moved(decide_(find(id), event::MessageBuilt{"m"}, now()));
  const Email processing = claim(Pipeline::send).emails.at(0);
  EXPECT_EQ(processing.state, State::processing);
  EXPECT_EQ(processing.attempts, 1);
  EXPECT_EQ(processing.callback_attempts, 0);
  moved(decide_(processing, event::SendingAttempted{{}, delivered(processing)}, now()));
  const Email calling = claim(Pipeline::callback).emails.at(0);
  EXPECT_EQ(calling.state, State::calling_sent);
  EXPECT_EQ(calling.attempts, 1);
  EXPECT_EQ(calling.callback_attempts, 1);
}

TEST_P(LedgerConformance, WhatIsNotDueWaitsAndItsTimeIsTold) {
  const std::vector<std::string> ids = accept_some(3);
  for (const std::string& id : ids) to_ready(id);
  ASSERT_TRUE(postponed(ledger(), find(ids[0]), now() + hours(2)));
  ASSERT_TRUE(postponed(ledger(), find(ids[1]), now() + hours(1)));
  ASSERT_TRUE(postponed(ledger(), find(ids[2]), now() + hours(3)));
  const Claim none = claim(Pipeline::send);
  EXPECT_THAT(none.emails, IsEmpty());
  EXPECT_EQ(none.next_due, now() + hours(1));
  EXPECT_FALSE(none.more);
  clock().advance(hours(2));
  const Claim some = claim(Pipeline::send);
  EXPECT_THAT(ids_of(some.emails), UnorderedElementsAre(ids[0], ids[1]));
  EXPECT_EQ(some.next_due, now() + hours(1));
}

TEST_P(LedgerConformance, NothingIsClaimedTwice) {
  const std::vector<std::string> ids = accept_some(61);
  std::vector<std::string> claimed;
  for (int round = 0; round < 200; ++round) {
    Ledger& who = round % 2 == 0 ? tested_->ledger() : tested_->second();
    const auto got = who.claim(Pipeline::intake, 7, "worker");
    ASSERT_TRUE(got);
    EXPECT_LE(got->emails.size(), 7U);
    EXPECT_FALSE(got->emails.empty() && got->more);
    for (const Email& email : got->emails) claimed.push_back(email.id);
    if (claimed.size() == ids.size()) break;
    EXPECT_TRUE(got->more || got->emails.size() < 7) << "a full claim that leaves something says so";
  }
  EXPECT_THAT(claimed, UnorderedElementsAreArray(ids));
  expect_counts_right();
}

TEST_P(LedgerConformance, ALookAtWhatIsDueTakesNothing) {
  const std::vector<std::string> ids = accept_some(40);
  ASSERT_TRUE(postponed(ledger(), find(ids[0]), now() + hours(1)));
  const auto all = ledger().due(Pipeline::intake, 100, {});
  ASSERT_TRUE(all);
  EXPECT_THAT(ids_of(all->emails), UnorderedElementsAreArray(std::vector(ids.begin() + 1, ids.end())));
  EXPECT_EQ(all->next_due, now() + hours(1));
  for (const Email& email : all->emails) EXPECT_EQ(email, find(email.id)) << "as it was";
  EXPECT_EQ(counted(*ledger().counts(std::nullopt), State::accepted), 40);

  // Who works on some asks for others.
  std::set<std::string> under_way;
  for (int round = 0; round < 100 && under_way.size() < 39; ++round) {
    const auto some = ledger().due(Pipeline::intake, 6, under_way);
    ASSERT_TRUE(some);
    EXPECT_LE(some->emails.size(), 6U);
    for (const Email& email : some->emails) EXPECT_TRUE(under_way.insert(email.id).second) << "told twice";
  }
  EXPECT_EQ(under_way.size(), 39U);
  EXPECT_THAT(ledger().due(Pipeline::intake, 6, under_way)->emails, IsEmpty());
  EXPECT_THAT(tested_->second().due(Pipeline::intake, 100, {})->emails, SizeIs(39)) << "others see them all";
}

TEST_P(LedgerConformance, TheOldestDoesNotWaitForYoungerOnes) {
  std::vector<std::string> ids;
  for (int i = 0; i < 60; ++i) {
    ids.push_back(accept_some(1)[0]);
    clock().advance(milliseconds(1));
  }
  // Work may be spread over up to nine queues, each claimed from its old end.
  std::vector<std::string> first;
  for (int i = 0; i < 9; ++i)
    for (const Email& email : claim(Pipeline::intake, 2).emails) first.push_back(email.id);
  EXPECT_THAT(first, testing::Contains(ids[0]));
  EXPECT_THAT(first, testing::Not(testing::Contains(ids.back())));
}

// Moves.

TEST_P(LedgerConformance, TheWholeWayIsWrittenDown) {
  const std::string id = accept_some(1, "acme")[0];
  const Email sent = to_sent(id);
  EXPECT_EQ(sent.state, State::sent);
  EXPECT_EQ(tested_->spool().read(sent.message_path).value_or("-"), "message of " + id);
  clock().advance(seconds(1));
  const Email calling = claim(Pipeline::callback).emails.at(0);
  const Email ended = moved(decide_(calling, event::CallbackAcknowledged{}, now()));
  EXPECT_EQ(ended, find(id));
  EXPECT_EQ(ended.updated_at, now());
  const auto lines = ledger().history(id);
  ASSERT_TRUE(lines);
  EXPECT_THAT(history(id), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT", "CALLING-SENT-CALLBACK",
                                       "SENT-ACKNOWLEDGED"));
  for (std::size_t i = 0; i < lines->size(); ++i) {
    EXPECT_EQ((*lines)[i].version, static_cast<std::int64_t>(i) + 1);
    if (i == 0) continue;
    EXPECT_TRUE(may_follow(*parse_state((*lines)[i - 1].status), *parse_state((*lines)[i].status)));
  }
  EXPECT_EQ((*lines)[4].reason, "250 2.0.0 ok");
  expect_counts_right();
}

TEST_P(LedgerConformance, AMoveMayPassAStateOnTheWay) {
  const std::vector<std::string> ids = accept_some(30, "acme");
  std::vector<Change> moves;
  for (const std::string& id : ids) moves.push_back(decide_(find(id), event::MessageBuilt{"message of " + id}, now()));
  take(ids[4]);  // another worker was quicker
  const std::vector<MoveOutcome> outcomes = ledger().move(moves);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i == 4) continue;
    ASSERT_EQ(outcomes[i].status, MoveStatus::done) << outcomes[i].error;
    EXPECT_EQ(outcomes[i].email, find(ids[i]));
    EXPECT_EQ(outcomes[i].email.version, 3) << "each state counts";
    EXPECT_EQ(outcomes[i].email.reached[static_cast<std::size_t>(State::intaking)], 1);
    EXPECT_EQ(tested_->spool().read(outcomes[i].email.message_path).value_or("-"), "message of " + ids[i]);
  }
  EXPECT_EQ(outcomes[4].status, MoveStatus::lock_not_acquired);
  EXPECT_THAT(history(ids[4]), ElementsAre("ACCEPTED", "INTAKING"));
  const auto lines = ledger().history(ids[0]);
  ASSERT_TRUE(lines);
  EXPECT_THAT(*lines, ElementsAre(HistoryEntry{"ACCEPTED", now(), "", 1}, HistoryEntry{"INTAKING", now(), "", 2},
                                  HistoryEntry{"READY", now(), "", 3}));
  expect_counts_right();

  // Through and back again: the line of each time is there.
  const std::string again = accept_some(1)[0];
  for (int i = 0; i < 3; ++i) moved(decide_(find(again), event::IntakeFailed{"trouble"}, now()));
  EXPECT_THAT(history(again),
              ElementsAre("ACCEPTED", "INTAKING", "ACCEPTED", "INTAKING", "ACCEPTED", "INTAKING", "ACCEPTED"));
  EXPECT_EQ(find(again).version, 7);
  expect_counts_right();
}

TEST_P(LedgerConformance, AStateReachedAgainHasALineOfItsOwn) {
  const std::string id = accept_some(1)[0];
  Email email = to_processing(id);
  for (int i = 0; i < 11; ++i) {
    clock().advance(seconds(1));
    const smtp::SendResult result = deferred(email, "attempt " + std::to_string(i));
    Change back = decide_(email, event::SendingAttempted{{}, result}, now());
    back.lines.back().entry.reason = "note " + std::to_string(i);
    moved(back);
    email = take(id);
  }
  EXPECT_EQ(email.reached[static_cast<std::size_t>(State::processing)], 12);
  EXPECT_EQ(email.attempts, 12);
  const auto lines = ledger().history(id);
  ASSERT_TRUE(lines);
  ASSERT_THAT(*lines, SizeIs(26));
  for (std::size_t i = 0; i < lines->size(); ++i) EXPECT_EQ((*lines)[i].version, static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ((*lines)[4].reason, "note 0") << "what the line says, where it differs from the reason";
  EXPECT_EQ(find(id).reason, "attempt 10");
}

TEST_P(LedgerConformance, ALateWorkerChangesNothing) {
  const std::string id = accept_some(1)[0];
  const Email stuck = to_processing(id);
  moved(decide_(stuck, event::LeaseEnded{}, now()));
  const Email current = take(id);
  const auto lines = history(id);
  const Counts counts = *ledger().counts(std::nullopt);

  EXPECT_EQ(move(decide_(stuck, event::SendingAttempted{{}, delivered(stuck)}, now())), MoveStatus::lock_not_acquired);
  EXPECT_EQ(move(decide_(stuck, event::SendingAttempted{{}, refused(stuck, "x")}, now())),
            MoveStatus::lock_not_acquired);
  EXPECT_EQ(find(id), current);
  EXPECT_EQ(history(id), lines);
  EXPECT_EQ(*ledger().counts(std::nullopt), counts);

  // The same for a message that was built too late.
  const std::string other = accept_some(1)[0];
  const Email late = take(other);
  moved(decide_(late, event::LeaseEnded{}, now()));
  const Email built = moved(decide_(take(other), event::MessageBuilt{"right"}, now()));
  EXPECT_EQ(move(decide_(late, event::MessageBuilt{"wrong"}, now())), MoveStatus::lock_not_acquired);
  EXPECT_EQ(find(other), built);
  EXPECT_EQ(tested_->spool().read(built.message_path).value_or("-"), "right");
  expect_counts_right();
}

TEST_P(LedgerConformance, TheSameMoveHappensOnce) {
  const std::string id = accept_some(1)[0];
  const Email email = to_processing(id);
  const Change twice = decide_(email, event::SendingAttempted{{}, delivered(email)}, now());
  EXPECT_EQ(move(twice), MoveStatus::done);
  EXPECT_EQ(move(twice), MoveStatus::lock_not_acquired);
  EXPECT_EQ(counted(*ledger().counts(std::nullopt), State::sent), 1);
}

TEST_P(LedgerConformance, LateOnesDoNotHoldUpTheOthersOfABatch) {
  const std::vector<std::string> ids = accept_some(40);
  std::vector<Change> moves;
  for (const std::string& id : ids) moves.push_back(decide_(take(id), event::MessageBuilt{"message of " + id}, now()));
  const std::set<std::size_t> late = {0, 7, 8, 30, 39};
  for (const std::size_t i : late) moved(decide_(find(ids[i]), event::LeaseEnded{}, now()));
  const std::vector<MoveOutcome> outcomes = ledger().move(std::move(moves));
  ASSERT_THAT(outcomes, SizeIs(40));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const bool was_late = late.contains(i);
    EXPECT_EQ(outcomes[i].status, was_late ? MoveStatus::lock_not_acquired : MoveStatus::done) << i;
    EXPECT_EQ(find(ids[i]).state, was_late ? State::accepted : State::ready) << i;
    EXPECT_TRUE(was_late || outcomes[i].email == find(ids[i])) << "as it is now";
  }
  expect_counts_right();
}

TEST_P(LedgerConformance, MessagesMayBeLarge) {
  const std::vector<std::string> ids = accept_some(20);
  std::vector<Change> moves;
  for (std::size_t i = 0; i < ids.size(); ++i)
    moves.push_back(
        decide_(take(ids[i]), event::MessageBuilt{std::string(100'000 * (i + 1), static_cast<char>('a' + i))}, now()));
  for (const MoveOutcome& outcome : ledger().move(std::move(moves))) ASSERT_EQ(outcome.status, MoveStatus::done);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto read = tested_->spool().read(find(ids[i]).message_path);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == std::string(100'000 * (i + 1), static_cast<char>('a' + i))) << i;
  }
}

// Leases.

TEST_P(LedgerConformance, ARenewedLeaseLastsLongerAndALostOneIsNotTold) {
  const std::vector<std::string> ids = accept_some(3);
  std::vector<Email> held;
  for (const std::string& id : ids) held.push_back(to_processing(id));
  const Email moved_on = moved(decide_(held[1], event::SendingAttempted{{}, delivered(held[1])}, now()));
  const auto kept = renewed(ledger(), held, now(), seconds(90));
  ASSERT_TRUE(kept);
  EXPECT_THAT(*kept, UnorderedElementsAre(ids[0], ids[2]));
  EXPECT_EQ(find(ids[0]).due_at, now() + seconds(90));
  EXPECT_EQ(find(ids[0]).version, held[0].version) << "the fencing token stays the same";
  EXPECT_EQ(find(ids[1]), moved_on);
  clock().advance(seconds(60));
  EXPECT_THAT(*ledger().find_ended_leases(now(), 10), IsEmpty());
  EXPECT_EQ(move(decide_(held[0], event::SendingAttempted{{}, delivered(held[0])}, now())), MoveStatus::done)
      << "the worker's copy is older than its lease";
  EXPECT_EQ(find(ids[0]).due_at, now());
  moved(decide_(held[2], event::SendingPostponed{"later", *held[2].due_at}, now()));
  EXPECT_EQ(find(ids[2]).due_at, held[2].due_at)
      << "due when the lease would have ended, not when the renewed one does";
}

TEST_P(LedgerConformance, AnUnknownOutcomeIsMarkedUntilAMoveSaysMore) {
  const std::vector<std::string> ids = accept_some(2);
  const Email email = to_processing(ids[0]);
  ASSERT_TRUE(amended(ledger(), email, event::MessageEnding{}));
  EXPECT_TRUE(find(ids[0]).outcome_unknown);
  EXPECT_EQ(find(ids[0]).version, email.version);
  EXPECT_EQ(history(ids[0]).size(), 4U);
  const Email sent = moved(decide_(email, event::SendingAttempted{{}, delivered(email)}, now()));
  EXPECT_FALSE(sent.outcome_unknown);
  EXPECT_FALSE(find(ids[0]).outcome_unknown) << "the reply was read";

  const Email deferred_one = to_processing(ids[1]);
  ASSERT_TRUE(amended(ledger(), deferred_one, event::MessageEnding{}));
  moved(decide_(deferred_one, event::SendingAttempted{{}, deferred(deferred_one)}, now()));
  EXPECT_FALSE(find(ids[1]).outcome_unknown);
}

TEST_P(LedgerConformance, WhoLostTheLeaseMayNotEndTheMessage) {
  const std::string id = accept_some(1)[0];
  const Email stuck = to_processing(id);
  moved(decide_(stuck, event::LeaseEnded{}, now()));
  EXPECT_EQ(amended(ledger(), stuck, event::MessageEnding{}).error().code, base::ErrorCode::conflict);
  const Email current = take(id);
  EXPECT_EQ(amended(ledger(), stuck, event::MessageEnding{}).error().code, base::ErrorCode::conflict);
  EXPECT_EQ(find(id), current);
  Email nobody = current;
  nobody.id = "nobody";
  EXPECT_EQ(amended(ledger(), nobody, event::MessageEnding{}).error().code, base::ErrorCode::conflict);
  EXPECT_EQ(*ledger().find("nobody"), std::nullopt);
}

TEST_P(LedgerConformance, PostponingIsNoStepOfItsOwn) {
  const std::string id = accept_some(1)[0];
  const Email ready = to_ready(id);
  ASSERT_TRUE(postponed(ledger(), ready, now() + hours(1)));
  EXPECT_EQ(find(id).version, ready.version);
  EXPECT_THAT(history(id), ElementsAre("ACCEPTED", "INTAKING", "READY"));
  EXPECT_THAT(claim(Pipeline::send).emails, IsEmpty());
  clock().advance(hours(1));
  EXPECT_THAT(claim(Pipeline::send).emails, SizeIs(1));
  EXPECT_EQ(postponed(ledger(), ready, now()).error().code, base::ErrorCode::conflict);
}

}  // namespace postino::outbox
