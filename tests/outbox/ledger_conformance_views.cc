// The contract of the ledger, continued: what can be seen of the e-mails, and what is known besides them.
#include <gmock/gmock.h>

#include <set>

#include "ledger_conformance.h"
#include "outbox/email/state_machine_testing.h"
#include "outbox_store.h"

namespace postino::outbox {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

namespace {

std::vector<std::string> reversed(std::vector<std::string> ids) {
  std::ranges::reverse(ids);
  return ids;
}

// All pages, one after the other; `between` is called after each.
template <class Between>
std::vector<std::string> listed(Ledger& ledger, ListRequest request, const Between& between) {
  std::vector<std::string> ids;
  for (int pages = 0; pages < 1'000; ++pages) {
    const auto page = ledger.list(request);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) break;
    EXPECT_LE(page->emails.size(), static_cast<std::size_t>(request.limit));
    for (const Email& email : page->emails) ids.push_back(email.id);
    if (page->cursor.empty()) break;
    request.cursor = page->cursor;
    between();
  }
  return ids;
}
std::vector<std::string> listed(Ledger& ledger, const ListRequest& request) {
  return listed(ledger, request, [] {});
}

}  // namespace

TEST_P(LedgerConformance, AStatePassedOnTheWayHasALineOfItsOwn) {
  accept_some(1);
  const Email processing = to_processing(email_id(1));
  Change change = decide_(processing, event::SendingAttempted{{}, delivered(processing)}, now());
  ASSERT_EQ(change.after.state, State::sent);
  change = *then(std::move(change), event::Claimed{"worker"}, decide_.policy(), now());
  ASSERT_THAT(change.lines, SizeIs(2));
  change.lines[0].entry.reason = "250 taken";
  change.lines[1].entry.reason = "called at once";
  const Email calling = moved(change);
  EXPECT_EQ(calling.version, processing.version + 2);
  EXPECT_EQ(calling, find(email_id(1)));
  const auto lines = ledger().history(email_id(1));
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 6U);
  EXPECT_EQ((*lines)[4], (HistoryEntry{"SENT", now(), "250 taken", processing.version + 1}));
  EXPECT_EQ((*lines)[5], (HistoryEntry{"CALLING-SENT-CALLBACK", now(), "called at once", processing.version + 2}));
  expect_counts_right();
}

// The worker that moves it next may have looked at the clock before.
TEST_P(LedgerConformance, HistoryDoesNotGoBackInTime) {
  const std::string id = accept_some(1)[0];
  const Email intaking = take(id);
  clock().advance(seconds(5));
  moved(decide_(intaking, event::LeaseEnded{}, now()));
  clock().advance(seconds(-2));
  take(id);
  const auto lines = *ledger().history(id);
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines[3].at, lines[2].at);
  EXPECT_EQ(find(id).updated_at, lines[2].at);
}

TEST_P(LedgerConformance, ListsAreNewestFirstWhateverTheirPages) {
  std::vector<std::string> ids;
  for (int i = 0; i < 23; ++i) {
    ids.push_back(accept_some(1)[0]);
    clock().advance(milliseconds(1));
    if (i % 3 == 0) to_sent(ids.back());
    if (i % 5 == 0 && i % 3 != 0) take(ids.back());
  }
  for (const int limit : {1, 2, 7, 22, 23, 24, 100})
    EXPECT_THAT(listed(ledger(), {.limit = limit}), ElementsAreArray(reversed(ids))) << limit;
  const auto all = ledger().list({.limit = 23});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->cursor, "") << "there is nothing after the last one";
  for (const Email& email : all->emails) EXPECT_EQ(email, find(email.id));
}

TEST_P(LedgerConformance, EmailsOfOneMomentAreListedEachOnce) {
  const std::vector<std::string> ids = accept_some(30);
  for (const int limit : {1, 4, 29})
    EXPECT_THAT(listed(ledger(), {.limit = limit}), UnorderedElementsAreArray(ids)) << limit;
}

TEST_P(LedgerConformance, AListMayBeLong) {
  const std::vector<std::string> ids = accept_some(150);
  EXPECT_THAT(listed(ledger(), {.limit = 140}), UnorderedElementsAreArray(ids));
}

TEST_P(LedgerConformance, ListsAreByStateTenantAndTime) {
  std::vector<std::string> acme;
  std::vector<std::string> globex;
  const base::TimePoint begin = now();
  for (int i = 0; i < 6; ++i) {
    acme.push_back(accept_some(1, "acme")[0]);
    globex.push_back(accept_some(1, "globex")[0]);
    clock().advance(seconds(10));
  }
  const std::string nobodys = accept_some(1)[0];
  to_sent(acme[1]);
  to_sent(acme[4]);
  to_sent(globex[4]);
  EXPECT_THAT(listed(ledger(), {.tenant = "acme"}), ElementsAreArray(reversed(acme)));
  EXPECT_THAT(listed(ledger(), {.states = {State::sent}}), testing::UnorderedElementsAre(acme[1], acme[4], globex[4]));
  EXPECT_THAT(listed(ledger(), {.tenant = "acme", .states = {State::sent}}), ElementsAre(acme[4], acme[1]));
  EXPECT_THAT(listed(ledger(), {.tenant = "acme", .states = {State::failed}}), IsEmpty());
  EXPECT_THAT(listed(ledger(), {.tenant = "nobody"}), IsEmpty());
  EXPECT_THAT(listed(ledger(), {.tenant = "acme", .since = begin + seconds(20), .until = begin + seconds(40)}),
              ElementsAre(acme[3], acme[2]))
      << "since is in, until is not";
  EXPECT_THAT(
      listed(ledger(), {.tenant = "acme", .since = begin + seconds(20), .until = begin + seconds(40), .limit = 1}),
      ElementsAre(acme[3], acme[2]));
  EXPECT_THAT(listed(ledger(), {.since = begin + seconds(60)}), ElementsAre(nobodys));
  EXPECT_THAT(listed(ledger(), {.since = begin + seconds(40), .until = begin + seconds(20)}), IsEmpty());
}

TEST_P(LedgerConformance, ListsAreOfSeveralStates) {
  const std::vector<std::string> ids = accept_some(4);
  const Email waits = moved(decide_(take(ids[0]), event::PayloadRejected{"no"}, now()));
  take(moved(decide_(take(ids[1]), event::PayloadRejected{"no"}, now())).id);
  const Email called = moved(decide_(take(ids[2]), event::PayloadRejected{"no"}, now()));
  moved(decide_(take(called.id), event::CallbackAcknowledged{}, now()));
  ASSERT_EQ(waits.state, State::invalid);
  EXPECT_THAT(listed(ledger(), {.states = {State::invalid}}), ElementsAre(ids[0]));
  EXPECT_THAT(listed(ledger(), {.states = {State::calling_invalid}}), ElementsAre(ids[1]));
  EXPECT_THAT(listed(ledger(), {.states = {State::invalid, State::invalid_acknowledged}}),
              testing::UnorderedElementsAre(ids[0], ids[2]));
  for (const int limit : {1, 2, 50})
    EXPECT_THAT(listed(ledger(), {.states = {State::invalid, State::calling_invalid, State::invalid_acknowledged},
                                  .limit = limit}),
                testing::UnorderedElementsAre(ids[0], ids[1], ids[2]))
        << limit;
}

TEST_P(LedgerConformance, ListsAreFilteredWhateverTheirPages) {
  std::vector<std::string> ids;
  for (int i = 0; i < 12; ++i) {
    Draft draft = new_email(email_id(500 + i), i % 2 == 0 ? "acme" : "");
    draft.email.subject = i % 3 == 0 ? "Your Order" : "Hello";
    draft.email.tags = {i % 4 == 0 ? "blue" : "red", "all"};
    if (i == 5) draft.email.recipients.push_back({"ada@example.org", RecipientState::pending, ""});
    if (i == 6) draft.email.sender = "other@example.net";
    accept({draft});
    ids.push_back(draft.email.id);
    clock().advance(milliseconds(1));
  }
  to_sent(ids[3]);
  for (const int limit : {1, 2, 3, 50}) {
    const auto found = [&](const EmailFilter& filter, const std::string& tenant = "") {
      return listed(ledger(), {.tenant = tenant, .filter = filter, .limit = limit});
    };
    EXPECT_THAT(found({.subject = "order"}), ElementsAre(ids[9], ids[6], ids[3], ids[0])) << limit;
    EXPECT_THAT(found({.subject = "order"}, "acme"), ElementsAre(ids[6], ids[0])) << limit;
    EXPECT_THAT(found({.tag = "blue"}), ElementsAre(ids[8], ids[4], ids[0])) << limit;
    EXPECT_THAT(found({.tag = "all"}), ElementsAreArray(reversed(ids))) << limit;
    EXPECT_THAT(found({.recipient = "@example.org"}), ElementsAre(ids[5])) << limit;
    EXPECT_THAT(found({.sender = "other@example.net", .subject = "order"}), ElementsAre(ids[6])) << limit;
    EXPECT_THAT(found({.tag = "green"}), IsEmpty()) << limit;
    EXPECT_THAT(listed(ledger(), {.states = {State::sent}, .filter = {.subject = "order"}, .limit = limit}),
                ElementsAre(ids[3]));
  }
}

TEST_P(LedgerConformance, OnePageLooksAtNoMoreThanSoManyEmails) {
  Draft oldest = new_email(email_id(1));
  oldest.email.tags = {"rare"};
  accept({oldest});
  next_id_ = 2;
  clock().advance(milliseconds(1));
  for (int i = 0; i < most_examined + 2 * examined_at_once; i += 100) accept_some(100);
  const auto first = ledger().list({.filter = {.tag = "rare"}, .limit = 10});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(first->emails, IsEmpty());
  ASSERT_NE(first->cursor, "") << "there is more to look at";
  const auto second = ledger().list({.filter = {.tag = "rare"}, .cursor = first->cursor, .limit = 10});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_THAT(ids_of(second->emails), ElementsAre(email_id(1)));
  EXPECT_EQ(second->cursor, "");
}

TEST_P(LedgerConformance, PagesStayStableWhileEmailsMove) {
  std::vector<std::string> ids;
  for (int i = 0; i < 30; ++i) {
    ids.push_back(accept_some(1)[0]);
    clock().advance(milliseconds(1));
  }
  std::size_t next = 0;
  const auto seen = listed(ledger(), {.limit = 4}, [&] {
    // Old and new ones move on, and others come in.
    to_sent(ids[next]);
    take(ids[ids.size() - 1 - next]);
    ++next;
    accept_some(2);
    clock().advance(milliseconds(1));
  });
  EXPECT_THAT(seen, ElementsAreArray(reversed(ids)));
}

TEST_P(LedgerConformance, CursorsOfOthersAreRefused) {
  for (const char* cursor : {"x", "00", "deadbeef00", "' OR 1=1 --"}) {
    EXPECT_EQ(ledger().list({.cursor = cursor}).error().code, base::ErrorCode::invalid) << cursor;
    EXPECT_EQ(ledger().dead_callbacks("", cursor, 5).error().code, base::ErrorCode::invalid) << cursor;
    EXPECT_EQ(tested_->suppressions().list("", cursor, 5).error().code, base::ErrorCode::invalid) << cursor;
  }
  accept_some(3);
  const std::string cursor = ledger().list({.limit = 1})->cursor;
  EXPECT_EQ(ledger().dead_callbacks("", cursor, 5).error().code, base::ErrorCode::invalid) << "of another list";
}

// Any way that e-mails can go, in any order, by two who do not know of each other.
TEST_P(LedgerConformance, CountsAreRightAfterAnyWay) {
  const std::string tenants[] = {"", "acme", "globex"};
  std::vector<Email> copies;  // as they were once: many of them late
  for (int step = 0; step < 400; ++step) {
    clock().advance(milliseconds(random_.next() % 3'600'000));
    if (random_.next() % 4 == 0) accept_some(1 + static_cast<int>(random_.next() % 3), tenants[random_.next() % 3]);
    const std::string id = email_id(1 + static_cast<int>(random_.next() % static_cast<unsigned>(next_id_)));
    if (const auto email = ledger().find(id); email && *email) copies.push_back(**email);
    if (copies.empty()) continue;
    const Email before = copies[random_.next() % copies.size()];
    std::vector<State> ways;
    for (const State state : all_states())
      if (may_follow(before.state, state)) ways.push_back(state);
    if (ways.empty()) continue;
    Change change = moved_to(before, ways[random_.next() % ways.size()], now());
    change.after.due_at = kind_of(change.after.state) == StateKind::resting ? std::nullopt : std::optional(now());
    std::vector<Change> moves{change};
    Ledger& who = random_.next() % 2 == 0 ? tested_->ledger() : tested_->second();
    const bool current = find(before.id).version == before.version;
    const MoveOutcome outcome = who.move(std::move(moves)).front();
    ASSERT_EQ(outcome.status, current ? MoveStatus::done : MoveStatus::lock_not_acquired);
    if (step % 50 == 49) expect_counts_right();
  }
  expect_counts_right();
}

TEST_P(LedgerConformance, TheLongestWaitingIsTold) {
  EXPECT_EQ(*ledger().oldest_due(Pipeline::intake), std::nullopt);
  const base::TimePoint first = now();
  const std::string id = accept_some(1)[0];
  clock().advance(seconds(20));
  accept_some(5);
  EXPECT_EQ(*ledger().oldest_due(Pipeline::intake), first);
  EXPECT_EQ(*ledger().oldest_due(Pipeline::send), std::nullopt);
  to_ready(id);
  EXPECT_EQ(*ledger().oldest_due(Pipeline::intake), first + seconds(20));
  EXPECT_EQ(*ledger().oldest_due(Pipeline::send), now());
}

TEST_P(LedgerConformance, ABounceIsNotedWithoutAChangeOfState) {
  const std::string id = accept_some(1)[0];
  const Email sent = to_sent(id);
  const Bounce first{"bob@example.com", "5.1.1", "no such user", true, now() + seconds(5)};
  const Bounce second{"bob@example.com", "4.2.2", "full", false, now() + seconds(6)};
  ASSERT_TRUE(ledger().record_bounce(id, first));
  ASSERT_TRUE(ledger().record_bounce(id, second));
  const Email email = find(id);
  EXPECT_THAT(email.bounces, ElementsAre(first, second));
  EXPECT_EQ(email.state, State::sent);
  EXPECT_EQ(email.version, sent.version);
  EXPECT_THAT(history(id), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT", "BOUNCED", "BOUNCED"));
  // A worker that knows nothing of them does not lose them.
  EXPECT_THAT(moved(moved_to(sent, State::calling_sent, now())).state, State::calling_sent);
  EXPECT_THAT(find(id).bounces, SizeIs(2));
  EXPECT_EQ(ledger().record_bounce("nobody", first).error().code, base::ErrorCode::not_found);
  expect_counts_right();
}

TEST_P(LedgerConformance, BouncesDoNotPileUpWithoutEnd) {
  const std::string id = accept_some(1)[0];
  for (std::size_t i = 0; i < max_bounces + 5; ++i)
    ASSERT_TRUE(ledger().record_bounce(id, {"bob@example.com", "5.1.1", std::string(500, 'd'), true, now()}));
  EXPECT_THAT(find(id).bounces, SizeIs(max_bounces));
  EXPECT_THAT(history(id), SizeIs(1 + max_bounces));
  EXPECT_EQ(take(id).state, State::intaking) << "and it can go on";
}

TEST_P(LedgerConformance, SuppressionsAreATenantsOwnOrEverybodys) {
  const auto found = [&](const std::string& tenant, const std::vector<std::string>& addresses) {
    const auto suppressed = tested_->suppressions().find(tenant, addresses);
    EXPECT_TRUE(suppressed);
    std::vector<std::string> reasons;
    for (const Suppression& each : *suppressed) reasons.push_back(each.address + " " + each.reason);
    return reasons;
  };
  ASSERT_TRUE(tested_->suppressions().add("acme", {"Ann@Example.com", "bounced", now()}));
  ASSERT_TRUE(tested_->suppressions().add("", {"bob@example.com", "complained", now()}));
  EXPECT_THAT(found("acme", {"ann@example.COM", "cid@example.com", "bob@example.com"}),
              ElementsAre("ann@example.com bounced", "bob@example.com complained"));
  EXPECT_THAT(found("globex", {"ann@example.com", "bob@example.com"}), ElementsAre("bob@example.com complained"));
  EXPECT_THAT(found("", {"ann@example.com", "bob@example.com"}), ElementsAre("bob@example.com complained"));
  EXPECT_THAT(found("acme", {}), IsEmpty());
  ASSERT_TRUE(tested_->suppressions().add("acme", {"ann@example.com", "bounced again", now() + seconds(1)}));
  EXPECT_THAT(found("acme", {"ann@example.com"}), ElementsAre("ann@example.com bounced again"));
  EXPECT_EQ(tested_->suppressions().find("acme", {"ann@example.com"})->front().since, now() + seconds(1));

  EXPECT_FALSE(*tested_->suppressions().remove("globex", "ann@example.com"));
  EXPECT_TRUE(*tested_->suppressions().remove("acme", "ANN@example.com"));
  EXPECT_FALSE(*tested_->suppressions().remove("acme", "ann@example.com"));
  EXPECT_THAT(found("acme", {"ann@example.com"}), IsEmpty());
}

TEST_P(LedgerConformance, SuppressionsAreListedInPages) {
  std::vector<std::string> addresses;
  for (int i = 0; i < 25; ++i) {
    addresses.push_back("a" + std::to_string(100 + i) + "@example.com");
    ASSERT_TRUE(tested_->suppressions().add("acme", {addresses.back(), "r", now()}));
  }
  ASSERT_TRUE(tested_->suppressions().add("acm", {"other@example.com", "r", now()}));
  for (const int limit : {1, 7, 25, 100}) {
    std::vector<std::string> seen;
    std::string cursor;
    do {
      const auto page = tested_->suppressions().list("acme", cursor, limit);
      ASSERT_TRUE(page);
      ASSERT_LE(page->suppressions.size(), static_cast<std::size_t>(limit));
      for (const Suppression& each : page->suppressions) seen.push_back(each.address);
      cursor = page->cursor;
    } while (!cursor.empty());
    EXPECT_EQ(seen, addresses) << limit;
  }
}

TEST_P(LedgerConformance, CallbacksThatWereGivenUpWaitForAnOperator) {
  const std::vector<std::string> ids = accept_some(21);
  for (const std::string& id : ids) {
    to_sent(id);
    moved(decide_(take(id), event::CallbackFailed{"HTTP 410", std::nullopt, true}, now()));
    EXPECT_TRUE(find(id).callback_dead);
  }
  clock().advance(hours(1'000));
  EXPECT_THAT(claim(Pipeline::callback).emails, IsEmpty());
  EXPECT_EQ(*ledger().oldest_due(Pipeline::callback), std::nullopt);
  for (const int limit : {1, 4, 21, 50}) {
    std::vector<std::string> seen;
    std::string cursor;
    do {
      const auto page = ledger().dead_callbacks("", cursor, limit);
      ASSERT_TRUE(page) << page.error().message;
      ASSERT_LE(page->emails.size(), static_cast<std::size_t>(limit));
      for (const Email& email : page->emails) seen.push_back(email.id);
      cursor = page->cursor;
    } while (!cursor.empty());
    EXPECT_THAT(seen, UnorderedElementsAreArray(ids)) << limit;
  }

  const Email dead = find(ids[3]);
  ASSERT_TRUE(amended(ledger(), dead, event::CallbackReplayed{}, now()));
  const Email revived = find(ids[3]);
  EXPECT_FALSE(revived.callback_dead);
  EXPECT_EQ(revived.callback_attempts, 0);
  EXPECT_EQ(revived.version, dead.version);
  EXPECT_THAT(ids_of(ledger().dead_callbacks("", "", 50)->emails), testing::Not(testing::Contains(ids[3])));
  const Claim again = claim(Pipeline::callback);
  ASSERT_THAT(ids_of(again.emails), ElementsAre(ids[3]));
  EXPECT_EQ(again.emails[0].callback_attempts, 1);
  EXPECT_EQ(amended(ledger(), dead, event::CallbackReplayed{}, now()).error().code, base::ErrorCode::conflict)
      << "it has moved on";
  moved(decide_(again.emails[0], event::CallbackAcknowledged{}, now()));
  expect_counts_right();
}

TEST_P(LedgerConformance, CallbacksOfATenantThatWereGivenUpComeInFullPages) {
  std::vector<std::string> acme;
  for (int i = 0; i < 24; ++i) {
    const std::string id = accept_some(1, i % 6 == 0 ? "acme" : "globex")[0];
    if (i % 6 == 0) acme.push_back(id);
    to_sent(id);
    moved(decide_(take(id), event::CallbackFailed{"HTTP 410", std::nullopt, true}, now()));
  }
  for (const int limit : {1, 2, 3, 50}) {
    std::vector<std::string> seen;
    std::string cursor;
    do {
      const auto page = ledger().dead_callbacks("acme", cursor, limit);
      ASSERT_TRUE(page) << page.error().message;
      for (const Email& email : page->emails) seen.push_back(email.id);
      cursor = page->cursor;
      const bool is_full = page->emails.size() == static_cast<std::size_t>(limit);
      ASSERT_TRUE(is_full || cursor.empty()) << "a page that is not the last is full";
    } while (!cursor.empty());
    EXPECT_THAT(seen, UnorderedElementsAreArray(acme)) << limit;
  }
  EXPECT_THAT(ledger().dead_callbacks("nobody", "", 5)->emails, IsEmpty());
}

TEST_P(LedgerConformance, WhoIsDeadIsRequeuedWithoutTrace) {
  const std::string id = accept_some(1)[0];
  const Email processing = to_processing(id);
  moved(decide_(processing, event::SendingAttempted{{}, refused(processing, "550")}, now()));
  const Email dead = moved(decide_(take(id), event::CallbackFailed{"HTTP 410", std::nullopt, true}, now()));
  moved(decide_(dead, event::Requeued{}, now()));
  EXPECT_THAT(ledger().dead_callbacks("", "", 10)->emails, IsEmpty());
  EXPECT_THAT(claim(Pipeline::callback).emails, IsEmpty());
  EXPECT_THAT(claim(Pipeline::send).emails, SizeIs(1));
}

TEST_P(LedgerConformance, AllProcessesUseTheSpoolThatWasNotedFirst) {
  const SpoolNote first{"11111111-2222-3333-4444-555555555555", "/srv/mail spool"};
  const SpoolNote other{"66666666-7777-8888-9999-000000000000", "s3://mail/spool/"};
  EXPECT_EQ(*ledger().noted_spool(), SpoolNote());
  ASSERT_TRUE(ledger().note_spool(first, ""));
  ASSERT_TRUE(tested_->second().note_spool(other, ""));
  ASSERT_TRUE(tested_->second().note_spool(other, "some other id"));
  EXPECT_EQ(*tested_->second().noted_spool(), first);
  ASSERT_TRUE(tested_->second().note_spool(other, first.id)) << "it was replaced on purpose";
  EXPECT_EQ(*ledger().noted_spool(), other);
  ASSERT_TRUE(ledger().note_spool(SpoolNote(), other.id)) << "contents are with the e-mails again";
  EXPECT_EQ(*ledger().noted_spool(), SpoolNote());
  ASSERT_TRUE(ledger().note_spool(first, ""));
  EXPECT_EQ(*ledger().noted_spool(), first);
}

}  // namespace postino::outbox
