// The contract of the ledger, continued: e-mails that come from another ledger, with all that belongs to them.
#include <gmock/gmock.h>

#include <map>

#include "ledger_conformance.h"
#include "outbox/ledger/ledger_copy.h"
#include "outbox_store.h"

namespace postino::outbox {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

namespace {

std::vector<std::string> listed_ids(Ledger& ledger, const std::string& tenant, std::optional<State> state) {
  ListRequest request;
  request.tenant = tenant;
  if (state) request.states = {*state};
  request.limit = 4;
  std::vector<std::string> ids;
  do {
    const auto page = ledger.list(request);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) break;
    for (const Email& email : page->emails) ids.push_back(email.id);
    request.cursor = page->cursor;
  } while (!request.cursor.empty());
  return ids;
}

// The paths are the ledger's own.
Email without_paths(Email email) {
  email.payload_path.clear();
  email.message_path.clear();
  return email;
}

// Nothing is left at its default.
Email full_email() {
  Email email;
  email.id = email_id(900);
  email.tenant = "acme";
  email.acceptance_token = "0123456789abcdef";
  email.state = State::processing;
  email.reason = "450 4.2.0 später";
  email.internal_reason = true;
  email.version = 7;
  email.created_at = test_start + milliseconds(123);
  email.updated_at = test_start + milliseconds(45'678);
  email.payload_path = "2020/01/elsewhere.json";
  email.message_path = "2020/01/elsewhere.eml";
  email.send_at = test_start + milliseconds(1'001);
  email.due_at = test_start + milliseconds(60'007);
  email.owner = "worker 7";
  email.outcome_unknown = true;
  email.attempts = 2;
  email.rescues = 1;
  email.callback_attempts = 3;
  email.callback_dead = false;
  email.callback_error = "503 Service Unavailable";
  email.callback_url = "https://example.com/own?a=b";
  email.held_from = State::ready;
  email.tags = {"one", "zwei ü"};
  email.sender = "ann@example.com";
  email.subject = "Grüße ✓";
  email.recipients = {{"bob@example.com", RecipientState::delivered, "250 ok"},
                      {"eve@example.com", RecipientState::refused, "550 5.1.1 no"},
                      {"list@example.com", RecipientState::suppressed, "complaint"},
                      {"tim@example.com", RecipientState::pending, ""}};
  email.settled_at = test_start + milliseconds(50'005);
  email.bounces = {{"bob@example.com", "5.1.1", "smtp; 550 ünknown", true, test_start + milliseconds(51'009)},
                   {"bob@example.com", "4.2.2", "full", false, test_start + milliseconds(52'000)}};
  email.reached[static_cast<std::size_t>(State::accepted)] = 1;
  email.reached[static_cast<std::size_t>(State::intaking)] = 1;
  email.reached[static_cast<std::size_t>(State::ready)] = 2;
  email.reached[static_cast<std::size_t>(State::processing)] = 2;
  return email;
}

std::vector<HistoryEntry> full_history() {
  const auto at = [](int count) { return test_start + milliseconds(count * 1'003); };
  return {{"ACCEPTED", at(1), "", 1},
          {"INTAKING", at(2), "", 2},
          {"READY", at(3), "", 3},
          {"PROCESSING", at(4), "", 4},
          {"READY", at(5), "450 4.2.0 später", 5},
          {"PROCESSING", at(6), "", 6},
          {"BOUNCED", at(7), "bob@example.com: smtp; 550 ünknown", 7},
          {"BOUNCED", at(8), "bob@example.com: full", 7}};
}

StoredEmail full_stored() { return {full_email(), full_history(), R"({"subject":"s"})", "Subject: s\r\n\r\n\0\xff"}; }

// A short way for each kind of e-mail, as the tests below move them.
StoredEmail waiting(int number, State state, base::TimePoint due) {
  StoredEmail stored;
  stored.email.id = email_id(number);
  stored.email.state = state;
  stored.email.version = 1;
  stored.email.created_at = stored.email.updated_at = test_start;
  stored.email.due_at = due;
  stored.email.sender = "ann@example.com";
  stored.email.recipients = {{"bob@example.com", RecipientState::pending, ""}};
  stored.history = {{"ACCEPTED", test_start, "", 1}};
  ++stored.email.reached[static_cast<std::size_t>(State::accepted)];
  if (state == State::ready) {
    stored.history.push_back({"INTAKING", test_start, "", 2});
    stored.history.push_back({"READY", test_start, "", 3});
    ++stored.email.reached[static_cast<std::size_t>(State::intaking)];
    ++stored.email.reached[static_cast<std::size_t>(State::ready)];
    stored.email.version = 3;
    stored.message = "message";
  }
  stored.payload = "{}";
  return stored;
}

}  // namespace

TEST_P(LedgerConformance, EveryFieldOfARestoredEmailIsAsItWas) {
  const StoredEmail stored = full_stored();
  const auto restored = ledger().restore(stored);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(*restored);
  const Email found = find(stored.email.id);
  EXPECT_EQ(without_paths(found), without_paths(stored.email));
  EXPECT_NE(found.payload_path, stored.email.payload_path);
  EXPECT_EQ(tested_->spool().read(found.payload_path), stored.payload);
  EXPECT_EQ(tested_->spool().read(found.message_path), *stored.message);
  const auto history = ledger().history(stored.email.id);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_EQ(*history, stored.history);
  expect_counts_right();
  EXPECT_EQ((*ledger().counts("acme"))[static_cast<std::size_t>(State::processing)], 1);
}

TEST_P(LedgerConformance, ALedgerMovesToAnotherWithAllItsEmails) {
  const auto ids = accept_some(9, "acme");
  clock().advance(milliseconds(1));
  const auto others = accept_some(3);
  take(ids[1]);
  to_ready(ids[2]);
  ASSERT_TRUE(amended(ledger(), to_processing(ids[3]), event::MessageEnding{}));
  const Email tried = to_processing(ids[4]);
  moved(decide_(tried, event::SendingAttempted{{}, deferred(tried)}, now()));
  take(ids[4]);
  to_sent(ids[5]);
  moved(decide_(take(to_sent(ids[6]).id), event::CallbackFailed{"410 Gone", std::nullopt, true}, now()));
  const Email called = take(to_sent(ids[7]).id);
  moved(decide_(called, event::CallbackAcknowledged{}, now()));
  ASSERT_TRUE(ledger().record_bounce(ids[7], {"bob@example.com", "5.1.1", "no such user", true, now()}));
  const Email rejected = take(others[1]);
  moved(decide_(rejected, event::PayloadRejected{"no sender"}, now()));
  ASSERT_TRUE(tested_->suppressions().add("", {"all@example.com", "complaint", now()}));
  ASSERT_TRUE(tested_->suppressions().add("acme", {"bob@example.com", "bounced", now() - hours(5)}));

  const std::unique_ptr<LedgerUnderTest> other = GetParam().make();
  LedgerCopy copy({ledger(), tested_->suppressions()}, {other->ledger(), other->suppressions()}, {3, 5});
  std::vector<std::int64_t> progress;
  const auto counts = copy.copy([&](std::int64_t done) { progress.push_back(done); });
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->copied, 12);
  EXPECT_EQ(counts->present, 0);
  EXPECT_EQ(counts->suppressions, 2);
  EXPECT_THAT(counts->failures, IsEmpty());
  EXPECT_THAT(progress, ElementsAre(5, 10, 12));

  for (const std::string& tenant : {std::string(), std::string("acme")}) {
    EXPECT_EQ(*other->ledger().counts(tenant), *ledger().counts(tenant));
    EXPECT_EQ(other->recount(tenant), tested_->recount(tenant));
    EXPECT_EQ(listed_ids(other->ledger(), tenant, std::nullopt), listed_ids(ledger(), tenant, std::nullopt));
    for (const State state : all_states())
      EXPECT_EQ(listed_ids(other->ledger(), tenant, state), listed_ids(ledger(), tenant, state)) << name_of(state);
  }
  for (const std::string& id : listed_ids(ledger(), "", std::nullopt)) {
    const Email before = find(id);
    const auto after = other->ledger().find(id);
    ASSERT_TRUE(after && *after) << id;
    EXPECT_EQ(without_paths(**after), without_paths(before));
    EXPECT_EQ(*other->ledger().history(id), *ledger().history(id));
    EXPECT_EQ(*other->spool().read((*after)->payload_path), *tested_->spool().read(before.payload_path));
    EXPECT_EQ((*after)->message_path.empty(), before.message_path.empty());
    if (before.message_path.empty()) continue;
    EXPECT_EQ(*other->spool().read((*after)->message_path), *tested_->spool().read(before.message_path));
  }
  const auto dead = other->ledger().dead_callbacks("", "", 10);
  ASSERT_TRUE(dead);
  ASSERT_THAT(dead->emails, SizeIs(1));
  EXPECT_EQ(dead->emails[0].id, ids[6]);
  EXPECT_THAT(*other->suppressions().tenants(), UnorderedElementsAre("", "acme"));
  const auto suppressed = other->suppressions().find("acme", {"BOB@example.com"});
  ASSERT_THAT(*suppressed, SizeIs(1));
  EXPECT_EQ(suppressed->front().reason, "bounced");
  EXPECT_EQ(suppressed->front().since, now() - hours(5));

  const auto comparison = copy.compare([](std::int64_t) {});
  ASSERT_TRUE(comparison);
  EXPECT_TRUE(comparison->equal());
  EXPECT_EQ(comparison->source, *ledger().counts(std::nullopt));
  EXPECT_EQ(comparison->source_suppressions, 2);
  EXPECT_EQ(comparison->target_suppressions, 2);
  ASSERT_TRUE(other->suppressions().remove("acme", "bob@example.com"));
  const auto without_one = copy.compare([](std::int64_t) {});
  ASSERT_TRUE(without_one);
  EXPECT_EQ(without_one->target_suppressions, 1);
  EXPECT_FALSE(without_one->equal()) << "the e-mails are the same";
}

// Some ledgers remove what has expired at a time of their own.
TEST_P(LedgerConformance, WhatIsOverIsCopiedAndNotCompared) {
  const std::vector<std::string> ids = accept_some(3);
  const std::unique_ptr<LedgerUnderTest> other = GetParam().make();
  CopyOptions options;
  options.with_suppressions = false;
  options.is_over = [&](const Email& email) { return email.id == ids[1]; };
  ASSERT_TRUE(tested_->suppressions().add("", {"all@example.com", "complaint", now()}));
  LedgerCopy copy({ledger(), tested_->suppressions()}, {other->ledger(), other->suppressions()}, options);
  const auto counts = copy.copy([](std::int64_t) {});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->copied, 3);
  EXPECT_EQ(counts->suppressions, 0);
  EXPECT_THAT(*other->suppressions().tenants(), IsEmpty()) << "another way copies them";
  const auto comparison = copy.compare([](std::int64_t) {});
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->over, 1);
  EXPECT_EQ(comparison->source[static_cast<std::size_t>(State::accepted)], 2);
  EXPECT_TRUE(comparison->equal());
}

TEST_P(LedgerConformance, ACopyThatIsStartedAgainGoesOn) {
  const auto ids = accept_some(6);
  const std::unique_ptr<LedgerUnderTest> other = GetParam().make();
  // As if it had been broken off after one page; and one of those has gone on since.
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(other->ledger().restore(*read_stored(ledger(), find(ids[static_cast<std::size_t>(i)]))));
  const auto claimed_there = claimed(other->ledger(), Pipeline::intake, 1);
  ASSERT_THAT(claimed_there, SizeIs(1));

  LedgerCopy copy({ledger(), tested_->suppressions()}, {other->ledger(), other->suppressions()}, {2, 4});
  const auto counts = copy.copy([](std::int64_t) {});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->copied, 3);
  EXPECT_EQ(counts->present, 3);
  EXPECT_EQ(**other->ledger().find(claimed_there[0].id), claimed_there[0]);
  const auto comparison = copy.compare([](std::int64_t) {});
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->equal()) << "that one is elsewhere now";
  EXPECT_EQ(comparison->source[static_cast<std::size_t>(State::accepted)], 6);
  EXPECT_EQ(comparison->target[static_cast<std::size_t>(State::accepted)], 5);
  EXPECT_EQ(comparison->target[static_cast<std::size_t>(State::intaking)], 1);
}

TEST_P(LedgerConformance, WhatIsThereIsNotRestoredAgain) {
  StoredEmail stored = full_stored();
  ASSERT_EQ(ledger().restore(stored), true);
  const Email before = find(stored.email.id);
  stored.email.state = State::sent;
  stored.email.version = 9;
  stored.email.tenant = "globex";
  stored.history.push_back({"SENT", test_start, "", 9});
  stored.payload = "another";
  stored.message = std::string(700'000, 'm');
  ASSERT_EQ(ledger().restore(stored), false);
  ASSERT_EQ(tested_->second().restore(stored), false);
  EXPECT_EQ(find(stored.email.id), before);
  EXPECT_EQ(*ledger().history(stored.email.id), full_history());
  EXPECT_EQ(*tested_->spool().read(before.payload_path), full_stored().payload);
  EXPECT_EQ(*tested_->spool().read(before.message_path), *full_stored().message);
  expect_counts_right();

  const std::string accepted = accept_some(1)[0];
  stored.email.id = accepted;
  ASSERT_EQ(ledger().restore(stored), false);
  EXPECT_THAT(history(accepted), ElementsAre("ACCEPTED"));
  EXPECT_EQ(find(accepted).state, State::accepted);
}

TEST_P(LedgerConformance, WorkOnRestoredEmailsGoesOn) {
  ASSERT_EQ(ledger().restore(waiting(1, State::accepted, test_start)), true);
  ASSERT_EQ(ledger().restore(waiting(2, State::ready, test_start - hours(3))), true);
  ASSERT_EQ(ledger().restore(waiting(3, State::ready, test_start + minutes(5))), true);
  ASSERT_EQ(ledger().restore(full_stored()), true);  // leased for a minute

  EXPECT_EQ(*ledger().oldest_due(Pipeline::send), test_start - hours(3));
  const std::vector<Email> built = claim(Pipeline::intake).emails;
  ASSERT_THAT(built, SizeIs(1));
  EXPECT_EQ(built[0].id, email_id(1));
  const Claim sending = claim(Pipeline::send);
  ASSERT_THAT(sending.emails, SizeIs(1));
  EXPECT_EQ(sending.emails[0].id, email_id(2));
  EXPECT_EQ(sending.emails[0].version, 4);
  moved(decide_(sending.emails[0], event::SendingAttempted{{}, delivered(sending.emails[0])}, now()));
  EXPECT_THAT(history(email_id(2)), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"));

  EXPECT_THAT(*tested_->second().find_ended_leases(now(), 10), IsEmpty());
  clock().advance(seconds(61));
  std::vector<Email> expired = *tested_->second().stale(now(), 10);
  std::erase_if(expired, [](const Email& email) { return email.id != full_email().id; });
  ASSERT_THAT(expired, SizeIs(1));
  moved(decide_(expired[0], event::LeaseEnded{}, now()));
  take(expired[0].id);
  // The third visits have records of their own.
  EXPECT_THAT(history(expired[0].id), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "READY", "PROCESSING",
                                                  "BOUNCED", "BOUNCED", "READY", "PROCESSING"));
  clock().advance(minutes(5));
  EXPECT_THAT(*tested_->second().due(Pipeline::send, 10, {}), testing::Field(&Claim::emails, SizeIs(1)));
  expect_counts_right();
}

TEST_P(LedgerConformance, AbortedMovesOfARestoredEmailAreRefused) {
  ASSERT_EQ(ledger().restore(full_stored()), true);
  Email older = find(full_email().id);
  --older.version;
  EXPECT_EQ(move(decide_(older, event::SendingAttempted{{}, delivered(older)}, now())), MoveStatus::lock_not_acquired);
  EXPECT_EQ(amended(ledger(), older, event::MessageEnding{}).error().code, base::ErrorCode::conflict);
  ASSERT_TRUE(renewed(ledger(), {find(full_email().id)}, now(), hours(1)));
  EXPECT_EQ(find(full_email().id).due_at, now() + hours(1));
}

TEST_P(LedgerConformance, LongHistoriesAndLargeMessagesAreRestoredWhole) {
  StoredEmail stored = waiting(1, State::ready, test_start);
  std::map<std::string, int> times;
  while (stored.history.size() < 403) {
    const auto at = test_start + seconds(static_cast<int>(stored.history.size()));
    stored.history.push_back({"PROCESSING", at, "", ++stored.email.version});
    stored.history.push_back({"READY", at, std::string(900, 'r'), ++stored.email.version});
    ++stored.email.reached[static_cast<std::size_t>(State::processing)];
    ++stored.email.reached[static_cast<std::size_t>(State::ready)];
  }
  stored.payload = std::string(700'000, 'p');
  stored.message = std::string(3'000'000, 'm');
  const auto restored = ledger().restore(stored);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(*restored);
  EXPECT_EQ(*ledger().history(stored.email.id), stored.history);
  const Email found = find(stored.email.id);
  EXPECT_TRUE(*tested_->spool().read(found.payload_path) == stored.payload);
  EXPECT_TRUE(*tested_->spool().read(found.message_path) == *stored.message);
  EXPECT_EQ(ledger().restore(stored), false);
  take(stored.email.id);
  EXPECT_EQ(history(stored.email.id).size(), 404U);
  expect_counts_right();
}

TEST_P(LedgerConformance, AnEmailWithoutItsContentsIsStillWorthKeepingWhenItIsThrough) {
  const std::string id = accept_some(1)[0];
  to_sent(id);
  ASSERT_TRUE(tested_->spool().remove(find(id).payload_path));
  ASSERT_TRUE(tested_->spool().remove(find(id).message_path));
  const auto stored = read_stored(ledger(), find(id));
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(stored->payload, "");
  EXPECT_EQ(stored->message, std::nullopt);
  EXPECT_THAT(stored->history, SizeIs(5));
  const std::unique_ptr<LedgerUnderTest> other = GetParam().make();
  ASSERT_EQ(other->ledger().restore(*stored), true);
  EXPECT_EQ(**other->ledger().find(id), **other->second().find(id));
}

// Perhaps the copy was told of another spool than the servers were.
TEST_P(LedgerConformance, AnEmailThatIsToBeSentIsNotCopiedWithoutItsContents) {
  const std::vector<std::string> ids = accept_some(2);
  to_ready(ids[1]);
  ASSERT_TRUE(tested_->spool().remove(find(ids[0]).payload_path));
  ASSERT_TRUE(tested_->spool().remove(find(ids[1]).message_path));
  for (const std::string& id : ids) {
    const auto stored = read_stored(ledger(), find(id));
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code, base::ErrorCode::not_found);
  }
  const std::unique_ptr<LedgerUnderTest> other = GetParam().make();
  LedgerCopy copy({ledger(), tested_->suppressions()}, {other->ledger(), other->suppressions()}, {3, 5});
  const auto counts = copy.copy([](std::int64_t) {});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->copied, 0);
  EXPECT_THAT(counts->failures, testing::UnorderedElementsAre(testing::HasSubstr("it is ACCEPTED, but its contents"),
                                                              testing::HasSubstr("it is READY, but its contents")));
}

}  // namespace postino::outbox
