#include "outbox/store_ledger/email_item.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "item/json_codec.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/retry.h"

namespace postino::outbox {
namespace {

using item::Item;
using item::List;
using item::Map;

constexpr base::TimePoint created{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z
constexpr base::TimePoint expires{base::Milliseconds(1'797'327'000'250)};

Email full_email() {
  Email email;
  email.id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
  email.tenant = "acme";
  email.acceptance_token = "a1";
  email.state = State::processing;
  email.reason = "450 busy";
  email.internal_reason = true;
  email.version = 7;
  email.created_at = created;
  email.updated_at = created + std::chrono::seconds(10);
  email.payload_path = "2026/11/x.json";
  email.message_path = "2026/11/x.eml";
  email.send_at = created + std::chrono::seconds(5);
  email.due_at = created + std::chrono::seconds(40);
  email.owner = "host-1";
  email.outcome_unknown = true;
  email.attempts = 2;
  email.unknown_outcomes = 1;
  email.begun_again_at = created + std::chrono::seconds(7);
  email.callback_attempts = 3;
  email.callback_error = "HTTP 500";
  email.callback_url = "https://example.com/";
  email.held_from = State::ready;
  email.tags = {"b", "a"};
  email.sender = "ann@example.com";
  email.subject = "Grüße";
  email.recipients = {{"bob@example.com", RecipientState::delivered, "250 ok"},
                      {"cid@example.com", RecipientState::pending, ""},
                      {"dan@example.com", RecipientState::refused, "550 no"},
                      {"eve@example.com", RecipientState::suppressed, "bounced"}};
  email.settled_at = created + std::chrono::seconds(20);
  email.bounces = {{"bob@example.com", "5.1.1", "no such user", true, created + std::chrono::seconds(30)},
                   {"bob@example.com", "4.2.2", "full", false, created + std::chrono::seconds(31)}};
  email.reached[static_cast<std::size_t>(State::accepted)] = 1;
  email.reached[static_cast<std::size_t>(State::processing)] = 2;
  return email;
}

TEST(EmailItem, AFullEmailIsReadBack) {
  const Email email = full_email();
  const auto read = email_of(meta_item(email, expires, least_shards));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, email);
}

TEST(EmailItem, ABareEmailIsReadBack) {
  Email email;
  email.id = "x";
  email.version = 1;
  email.created_at = created;
  email.updated_at = created;
  const auto read = email_of(meta_item(email, expires, least_shards));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, email);
}

// Other programs read these tables: the names are a promise.
TEST(EmailItem, AttributesOfTheMetaRecordHaveTheirNames) {
  const std::string shard = std::to_string(shard_of("3f2504e0-4f89-41d3-9a0c-0305e82c3301", least_shards));
  const Item golden{
      {"Id", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
      {"Status", "_META"},
      {"TTL", 1'797'327'000},
      {"Attributes", Map{{"Latest", "PROCESSING"},
                         {"UpdatedAt", "2026-11-15T09:30:10.250Z"},
                         {"Reason", "450 busy"},
                         {"PayloadFilePath", "2026/11/x.json"},
                         {"EmlFilePath", "2026/11/x.eml"},
                         {"TTL", 1'797'327'000}}},
      {"Version", 7},
      {"CreatedAt", std::int64_t{1'794'735'000'250}},
      {"ListedAt", "2026-11-15T09:30:00.250Z#3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
      {"Listing", "READY#" + shard},  // with those that wait for the same work: a claim moves nothing in the listings
      {"TenantListing", "acme/READY#" + shard},
      {"Queue", "PROCESSING#" + shard},
      {"DueAt", std::int64_t{1'794'735'040'250}},
      {"SendAt", std::int64_t{1'794'735'005'250}},
      {"SettledAt", std::int64_t{1'794'735'020'250}},
      {"Tenant", "acme"},
      {"Acceptance", "a1"},
      {"CallbackUrl", "https://example.com/"},
      {"CallbackAttempts", 3},
      {"CallbackError", "HTTP 500"},
      {"Tags", List{"b", "a"}},
      {"Sender", "ann@example.com"},
      {"Subject", "Grüße"},
      {"LeaseOwner", "host-1"},
      {"OutcomeUnknown", true},
      {"InternalReason", true},
      {"Attempts", 2},
      {"BegunAgainAt", std::int64_t{1'794'735'007'250}},
      {"HeldFrom", "READY"},
      {"Reached", Map{{"ACCEPTED", 1}, {"PROCESSING", 2}, {"UNKNOWN", 1}}},
      {"Recipients", List{Map{{"Address", "bob@example.com"}, {"State", "sent"}, {"Reply", "250 ok"}},
                          Map{{"Address", "cid@example.com"}, {"State", "pending"}},
                          Map{{"Address", "dan@example.com"}, {"State", "refused"}, {"Reply", "550 no"}},
                          Map{{"Address", "eve@example.com"}, {"State", "suppressed"}, {"Reply", "bounced"}}}},
      {"Bounces", List{Map{{"At", "2026-11-15T09:30:30.250Z"},
                           {"Diagnostic", "no such user"},
                           {"Permanent", true},
                           {"Recipient", "bob@example.com"},
                           {"Status", "5.1.1"}},
                       Map{{"At", "2026-11-15T09:30:31.250Z"},
                           {"Diagnostic", "full"},
                           {"Permanent", false},
                           {"Recipient", "bob@example.com"},
                           {"Status", "4.2.2"}}}}};
  EXPECT_EQ(item::to_json(meta_item(full_email(), expires, least_shards)), item::to_json(golden));
}

// The line of the state that an e-mail has reached.
NewLine state_line(const Email& email, const std::string& reason) {
  return {{std::string(name_of(email.state)), email.updated_at, reason, email.version},
          email.reached[index_of(email.state)]};
}

TEST(EmailItem, StateRecordsHaveTheSeedsFormAndCountRepeats) {
  Email email = full_email();
  EXPECT_EQ(item::to_json(line_item(email.id, state_line(email, "why"), expires)),
            item::to_json(Item{{"Id", email.id},
                               {"Status", "PROCESSING#2"},
                               {"TTL", 1'797'327'000},
                               {"Attributes", Map{{"TTL", 1'797'327'000},
                                                  {"UpdatedAt", "2026-11-15T09:30:10.250Z"},
                                                  {"Reason", "why"},
                                                  {"Version", 7}}}}));
  const auto entry = history_entry_of(line_item(email.id, state_line(email, "why"), expires));
  ASSERT_TRUE(entry);
  EXPECT_EQ(*entry, (HistoryEntry{"PROCESSING", created + std::chrono::seconds(10), "why", 7}));
  email.reached[static_cast<std::size_t>(State::processing)] = 1;
  EXPECT_EQ(line_item(email.id, state_line(email, ""), expires).find("Status")->as<std::string>(), "PROCESSING");
  EXPECT_EQ(history_entry_of(meta_item(email, expires, least_shards)), std::nullopt);
}

TEST(EmailItem, BouncesAreLinesOfHistoryToo) {
  Email email = full_email();
  const Bounce last = email.bounces.back();
  email.bounces.pop_back();
  const auto change = decide(email, event::Bounced{last}, Policy(), created);
  ASSERT_TRUE(change && change->lines.size() == 1);
  const Item second = line_item(email.id, change->lines[0], expires);
  EXPECT_EQ(second.find("Status")->as<std::string>(), "BOUNCED#2");
  EXPECT_EQ(second.find("TTL")->as<item::Number>().to_int64(), 1'797'327'000);
  EXPECT_EQ(history_entry_of(second)->status, "BOUNCED");
  EXPECT_EQ(history_entry_of(second)->reason, "bob@example.com: full");
}

TEST(EmailItem, DamagedRecordsAreFound) {
  const Item whole = meta_item(full_email(), expires, least_shards);
  for (const char* name : {"Attributes", "Version", "CreatedAt"}) {
    Item damaged = whole;
    damaged.erase(name);
    EXPECT_EQ(email_of(damaged).error().code, base::ErrorCode::corrupt) << name;
    damaged.set(name, "text");
    EXPECT_EQ(email_of(damaged).error().code, base::ErrorCode::corrupt) << name;
  }
  Item unknown = whole;
  unknown.find("Attributes")->as<Map>().set("Latest", "LOST");
  EXPECT_EQ(email_of(unknown).error().code, base::ErrorCode::corrupt);
}

TEST(EmailItem, WaitsInTheQueueOfItsState) {
  Email email = full_email();
  const std::string shard = "#" + std::to_string(shard_of(email.id, least_shards));
  EXPECT_EQ(queue_of(email, least_shards), "PROCESSING" + shard);
  email.callback_dead = true;
  EXPECT_EQ(queue_of(email, least_shards), "DEAD-CALLBACK" + shard);
  email.due_at.reset();
  EXPECT_EQ(queue_of(email, least_shards), "");
  EXPECT_FALSE(meta_item(email, expires, least_shards).contains("Queue"));
  EXPECT_FALSE(meta_item(email, expires, least_shards).contains("DueAt"));
}

TEST(EmailItem, ShardsAreUsedEvenly) {
  std::array<int, least_shards> used{};
  for (int i = 0; i < 4'000; ++i) ++used[static_cast<std::size_t>(shard_of("id-" + std::to_string(i), least_shards))];
  for (const int count : used) EXPECT_NEAR(count, 1'000, 150);
}

TEST(EmailItem, AnUpdateChangesWhatDiffersUnderTheConditionThatNothingElseDid) {
  const Email before = full_email();
  Email after = before;
  after.state = State::sent;
  after.version = 8;
  after.owner.clear();
  after.due_at.reset();
  after.outcome_unknown = false;
  const store::TransactUpdate update = meta_update("t", {before, after, {}, {}, false}, least_shards);
  EXPECT_EQ(update.condition->text(), "Version = :seen AND Attributes.Latest = :from");
  EXPECT_EQ(update.placeholders.values->find(":seen")->as<item::Number>().to_int64(), 7);
  EXPECT_EQ(update.placeholders.values->find(":from")->as<std::string>(), "PROCESSING");
  const std::string text = update.update->text();
  EXPECT_THAT(text, testing::HasSubstr("Version = :Version"));
  EXPECT_THAT(text, testing::ContainsRegex("REMOVE .*Queue, DueAt, LeaseOwner, OutcomeUnknown"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("Recipients"))) << "which are the same";
}

// DynamoDB deletes by the TTL at the top alone.
TEST(EmailItem, BeforeTheirLifeHasBegunRecordsHaveNoTimeToLiveAtTheTop) {
  const Email email = full_email();
  const RecordLife later(expires, false);
  for (const Item& item :
       {meta_item(email, later, least_shards), line_item(email.id, state_line(email, "why"), later)}) {
    EXPECT_FALSE(item.contains("TTL"));
    EXPECT_EQ(*item.find("Attributes")->as<Map>().find("TTL"), item::AttributeValue(1'797'327'000));
  }
  const Change change{email, email, {}, {}, false};
  EXPECT_THAT(meta_update("t", change, least_shards, later).update->text(), testing::ContainsRegex("REMOVE #ttl"));
  EXPECT_THAT(meta_amendment("t", change, least_shards, later).update->text(), testing::ContainsRegex("REMOVE #ttl"));
  EXPECT_THAT(meta_update("t", change, least_shards, expires).update->text(), testing::HasSubstr(", #ttl = :ttl"));
}

TEST(EmailItem, WhatIsWrittenWithoutANewVersionIsAlwaysWrittenAgain) {
  // A worker's copy is older than its renewed lease and than the mark that its outcome is unknown.
  Email before = full_email();
  before.outcome_unknown = false;
  Email after = before;
  after.state = State::ready;
  const std::string text = meta_update("t", {before, after, {}, {}, false}, least_shards).update->text();
  EXPECT_THAT(text, testing::HasSubstr("DueAt = :DueAt"));
  EXPECT_THAT(text, testing::ContainsRegex("REMOVE .*OutcomeUnknown"));
}

store::Error cancelled_with(const std::vector<std::string>& codes) {
  std::vector<store::CancellationReason> reasons;
  for (const std::string& code : codes) reasons.push_back({code, "", std::nullopt});
  return store::transaction_cancelled(std::move(reasons));
}

TEST(PatientStore, RepeatsWhatMaySucceedLater) {
  using enum store::ErrorType;
  const std::set<store::ErrorType> busy = {
      transaction_conflict, transaction_in_progress, provisioned_throughput_exceeded, request_limit_exceeded,
      throttling,           service_unavailable,     internal_server_error,           resource_in_use};
  for (int type = 0; type <= static_cast<int>(internal_server_error); ++type) {
    const auto each = static_cast<store::ErrorType>(type);
    EXPECT_EQ(store::worth_repeating({each, ""}), busy.contains(each)) << store::error_name(each);
  }
  EXPECT_TRUE(store::worth_repeating(cancelled_with({"None", "TransactionConflict"})));
  EXPECT_TRUE(store::worth_repeating(cancelled_with({"ThrottlingError", "ProvisionedThroughputExceeded"})));
  EXPECT_FALSE(store::worth_repeating(cancelled_with({"ConditionalCheckFailed", "TransactionConflict"})));
  EXPECT_FALSE(store::worth_repeating(cancelled_with({"None", "ValidationError"})));
}

TEST(PatientStore, EndsAfterEightAttemptsWithDelaysBelowTheirCeilings) {
  base::SeededRandom random(3);
  std::vector<std::int64_t> delays;
  const store::Retry retry(random, [&](base::Milliseconds delay) { delays.push_back(delay.count()); });
  int calls = 0;
  const auto answer = retry([&]() -> store::Answer<int> {
    ++calls;
    return store::refuse(store::ErrorType::throttling, "slow down");
  });
  EXPECT_FALSE(answer);
  EXPECT_EQ(calls, 8);
  ASSERT_EQ(delays.size(), 7U);
  const std::int64_t ceilings[] = {30, 60, 120, 240, 480, 960, 1'000};
  for (std::size_t i = 0; i < delays.size(); ++i) EXPECT_LT(delays[i], ceilings[i]);

  calls = 0;
  EXPECT_TRUE(retry([&]() -> store::Answer<int> {
    if (++calls < 3) return store::refuse(store::ErrorType::internal_server_error, "");
    return 1;
  }));
  EXPECT_EQ(calls, 3);
  calls = 0;
  EXPECT_FALSE(retry([&]() -> store::Answer<int> {
    ++calls;
    return store::refuse(store::ErrorType::conditional_check_failed, "");
  }));
  EXPECT_EQ(calls, 1);
}

TEST(PatientStore, OfAWriteThatMayBeDoneNoLaterRefusalSaysThatItIsNot) {
  using enum store::ErrorType;
  base::SeededRandom random(3);
  const store::Retry retry(random, [](base::Milliseconds) {});
  const auto type_after = [&](store::ErrorType first, store::ErrorType others) {
    int calls = 0;
    return retry([&]() -> store::Answer<int> { return store::refuse(++calls == 1 ? first : others, ""); }).error().type;
  };
  EXPECT_EQ(type_after(internal_server_error, service_unavailable), internal_server_error);
  EXPECT_EQ(type_after(service_unavailable, service_unavailable), service_unavailable);
  EXPECT_EQ(type_after(internal_server_error, conditional_check_failed), conditional_check_failed)
      << "the caller finds out whether it was its own write";
}

TEST(PatientStore, TellsAFailedConditionFromABusyStore) {
  EXPECT_EQ(store::as_error({store::ErrorType::conditional_check_failed, "m"}),
            (base::Error{base::ErrorCode::conflict, "ConditionalCheckFailedException: m"}));
  EXPECT_EQ(store::as_error(cancelled_with({"None", "ConditionalCheckFailed"})).code, base::ErrorCode::conflict);
  EXPECT_EQ(store::as_error(cancelled_with({"None", "TransactionConflict"})).code, base::ErrorCode::exhausted);
  EXPECT_EQ(store::as_error({store::ErrorType::throttling, ""}).code, base::ErrorCode::exhausted);
  EXPECT_EQ(store::as_error({store::ErrorType::validation, ""}).code, base::ErrorCode::invalid);
  EXPECT_EQ(store::as_error({store::ErrorType::resource_not_found, ""}).code, base::ErrorCode::not_found);
  EXPECT_EQ(store::as_error({store::ErrorType::service_unavailable, ""}).code, base::ErrorCode::exhausted);
  EXPECT_EQ(store::as_error({store::ErrorType::internal_server_error, ""}).code, base::ErrorCode::io);
}

}  // namespace
}  // namespace postino::outbox
