// Processes that share a store and were told different numbers of shards. Nothing that one of them writes is lost to
// the others, whenever the number is raised.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "ledger_conformance.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox_store.h"
#include "shared_store.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

constexpr int many_shards = 8;
constexpr int some_emails = 64;

class SharedShardsTest : public testing::Test {
 protected:
  std::unique_ptr<OutboxProcess> process(std::uint64_t seed, int shards) {
    return std::make_unique<OutboxProcess>(store_.engine(), store_.tables(), policy_, test_start, seed, store_.retry(),
                                           StoreLedgerOptions{.shards = shards});
  }
  std::unique_ptr<OutboxProcess> started(std::uint64_t seed, int shards) {
    auto made = process(seed, shards);
    EXPECT_TRUE(made->ledger().look_at_shards());
    return made;
  }
  // A few seconds later.
  static void pass(OutboxProcess& process) {
    process.clock().advance(seconds(5));
    process.ledger().look_again_at_shards();
  }

  std::vector<std::string> accept(OutboxProcess& process, int count = some_emails) {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) {
      ids.push_back(email_id(++last_number_));
      const auto answer = process.ledger().accept({accepted(new_email(ids.back(), "acme"), process.clock().now())},
                                                  std::nullopt, [](const auto&) { return ""; });
      EXPECT_TRUE(answer) << answer.error().message;
    }
    return ids;
  }
  static std::vector<std::string> listed_by(OutboxProcess& process, const std::string& tenant = "") {
    const auto page = process.ledger().list({.tenant = tenant, .limit = 1'000});
    EXPECT_TRUE(page) << page.error().message;
    return page ? ids_of(page->emails) : std::vector<std::string>();
  }
  std::optional<item::Item> read(const item::Key& key) {
    store::GetItemRequest get;
    get.table_name = store_.tables().emails;
    get.key = key;
    get.consistent_read = true;
    const auto found = store_.engine().get_item(get);
    EXPECT_TRUE(found);
    return found ? found->item : std::nullopt;
  }
  std::optional<item::AttributeValue> noted() {
    const auto item = read(shards_key());
    const item::AttributeValue* const most = item ? item->find("most") : nullptr;
    return most != nullptr ? std::optional(*most) : std::nullopt;
  }
  std::string text_in(const std::string& id, std::string_view name) {
    const auto meta = read(meta_key(id));
    const item::AttributeValue* const value = meta ? meta->find(name) : nullptr;
    return value != nullptr ? value->as<std::string>() : "";
  }
  std::map<std::string, int> sizes_of(const std::vector<std::string>& ids, std::string_view name) {
    std::map<std::string, int> sizes;
    for (const std::string& id : ids) ++sizes[text_in(id, name)];
    return sizes;
  }

  const Policy policy_ = ledger_policy();
  const std::shared_ptr<base::ManualClock> engine_clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, engine_clock_};
  const Decider decide_{ledger_policy()};
  int last_number_ = 0;
};

TEST_F(SharedShardsTest, TheUsualNumberIsNotNoted) {
  const auto process = started(1, least_shards);
  EXPECT_EQ(noted(), std::nullopt);
  EXPECT_THAT(sizes_of(accept(*process), "Queue"), SizeIs(least_shards));
}

TEST_F(SharedShardsTest, ALargerOneIsNotedBeforeAnythingIsWritten) {
  const auto process = started(1, many_shards);
  EXPECT_EQ(noted(), item::AttributeValue(many_shards));
}

TEST_F(SharedShardsTest, AProcessThatCouldNotNoteItWritesWhereAllLook) {
  const auto unaware = process(1, many_shards);
  const std::vector<std::string> ids = accept(*unaware);
  EXPECT_THAT(claimed(started(2, least_shards)->ledger(), Pipeline::intake), SizeIs(ids.size()));
}

TEST_F(SharedShardsTest, ARunningProcessClaimsAndListsWhatIsInNewShardsAsSoonAsItLooksAgain) {
  const auto old = started(1, least_shards);
  const auto raised = started(2, many_shards);
  const std::vector<std::string> ids = accept(*raised);
  const std::vector<Email> early = claimed(old->ledger(), Pipeline::intake, 1'000, "old");
  EXPECT_LT(early.size(), ids.size()) << "it does not know of all shards yet";
  pass(*old);
  std::vector<Email> all = claimed(old->ledger(), Pipeline::intake, 1'000, "old");
  std::ranges::copy(early, std::back_inserter(all));
  EXPECT_THAT(ids_of(all), UnorderedElementsAreArray(ids)) << "each once";
  EXPECT_THAT(listed_by(*old), UnorderedElementsAreArray(ids));
  EXPECT_THAT(listed_by(*old, "acme"), UnorderedElementsAreArray(ids));
}

TEST_F(SharedShardsTest, WhatARunningProcessWroteToTheFirstShardsIsFoundByTheOther) {
  const auto old = started(1, least_shards);
  const std::vector<std::string> ids = accept(*old);
  const auto raised = started(2, many_shards);
  EXPECT_EQ(*raised->ledger().oldest_due(Pipeline::intake), test_start);
  EXPECT_THAT(listed_by(*raised), UnorderedElementsAreArray(ids));
  EXPECT_THAT(ids_of(claimed(raised->ledger(), Pipeline::intake)), UnorderedElementsAreArray(ids));
}

TEST_F(SharedShardsTest, ARunningProcessWritesToNewShardsToo) {
  const auto old = started(1, least_shards);
  const auto raised = started(2, many_shards);
  pass(*old);
  EXPECT_THAT(sizes_of(accept(*old), "Queue"), SizeIs(many_shards));
}

TEST_F(SharedShardsTest, LostLeasesOfTheOtherAreRescuedInAllShards) {
  const auto old = started(1, least_shards);
  const auto raised = started(2, many_shards);
  std::vector<std::string> ids = accept(*old);
  std::ranges::copy(accept(*raised), std::back_inserter(ids));
  ASSERT_THAT(claimed(raised->ledger(), Pipeline::intake), SizeIs(ids.size()));
  pass(*old);
  const base::TimePoint later = test_start + hours(1);
  const auto ended = old->ledger().find_ended_leases(later, 1'000);
  const auto stale = old->ledger().stale(later, 1'000);
  ASSERT_TRUE(ended && stale);
  EXPECT_THAT(ids_of(*ended), UnorderedElementsAreArray(ids));
  EXPECT_THAT(ids_of(*stale), UnorderedElementsAreArray(ids));
}

TEST_F(SharedShardsTest, AnEmailMovesToTheNewShardAtItsNextTransition) {
  const auto old = started(1, least_shards);
  const std::vector<std::string> ids = accept(*old);
  const auto raised = started(2, many_shards);
  for (const std::string& id : ids) {
    const Email email = **raised->ledger().find(id);
    EXPECT_EQ(text_in(id, "Queue"), queue_of(email, least_shards));
    std::vector<Change> changes{decide_(email, event::MessageBuilt{"message"}, test_start)};
    const MoveOutcome moved = raised->ledger().move(std::move(changes)).front();
    ASSERT_EQ(moved.status, MoveStatus::done) << moved.error;
    EXPECT_EQ(text_in(id, "Queue"), queue_of(moved.email, many_shards));
  }
}

TEST_F(SharedShardsTest, CallbacksThatWereGivenUpAreListedFromAllShards) {
  const auto raised = started(1, many_shards);
  std::vector<std::string> ids;
  for (int number = 1; number <= 40; ++number) {
    StoredEmail stored;
    stored.email.id = email_id(number);
    stored.email.state = State::calling_sent;
    stored.email.version = 1;
    stored.email.created_at = stored.email.updated_at = test_start;
    stored.email.due_at = test_start;
    stored.email.callback_dead = true;
    stored.email.sender = "ann@example.com";
    stored.email.recipients = {{"bob@example.com", RecipientState::pending, ""}};
    stored.history = {{std::string(name_of(stored.email.state)), test_start, "", 1}};
    stored.payload = "{}";
    ASSERT_TRUE(raised->ledger().restore(stored));
    ids.push_back(stored.email.id);
  }
  const auto other = started(2, least_shards);
  const auto page = other->ledger().dead_callbacks("", "", 100);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(ids_of(page->emails), UnorderedElementsAreArray(ids));
}

// An entry of a shard that it does not know of is no trace of a foreign program: it would take the e-mail from whoever
// works on it.
TEST_F(SharedShardsTest, AProcessThatDoesNotKnowOfAShardLeavesWhatIsInItAlone) {
  const auto old = started(1, least_shards);
  const auto raised = started(2, many_shards);
  accept(*raised);
  const std::vector<Email> taken = claimed(raised->ledger(), Pipeline::intake);
  ASSERT_THAT(taken, SizeIs(some_emails));
  for (const Email& email : taken) EXPECT_EQ(**old->ledger().find(email.id), email);
  for (const Email& email : taken) EXPECT_FALSE(needs_adoption(*read(meta_key(email.id))));
}

TEST_F(SharedShardsTest, WhatIsNoShardAtAllIsAdopted) {
  const auto process = started(1, least_shards);
  const std::string id = accept(*process, 1).front();
  for (const char* const queue : {"ACCEPTED", "ACCEPTED#", "ACCEPTED#64", "ACCEPTED#01", "ACCEPTED#-1", "ACCEPTED#1x",
                                  "READY#1", "DEAD-CALLBACK#1"}) {
    item::Item meta = *read(meta_key(id));
    EXPECT_FALSE(needs_adoption(meta));
    meta.set("Queue", queue);
    EXPECT_TRUE(needs_adoption(meta)) << queue;
  }
  item::Item meta = *read(meta_key(id));
  for (const char* const shard : {"#0", "#7", "#63"}) {
    for (const char* const name : {"Queue", "Listing"}) meta.set(name, std::string("ACCEPTED") + shard);
    meta.set("TenantListing", std::string("acme/ACCEPTED") + shard);
    EXPECT_FALSE(needs_adoption(meta)) << shard;
  }
  meta.set("TenantListing", "acm/ACCEPTED#1");
  EXPECT_TRUE(needs_adoption(meta)) << "of another tenant";
}

TEST_F(SharedShardsTest, AdoptedEmailsAreInTheShardsInForce) {
  const auto process = started(1, many_shards);
  for (int number = 1; number <= some_emails; ++number) {
    store::PutItemRequest put;
    put.table_name = store_.tables().emails;
    put.item = {{"Id", email_id(number)},
                {"Status", meta_status},
                {"Attributes", item::Map{{"Latest", "SENT"}, {"UpdatedAt", "2026-01-02T03:04:05Z"}}}};
    ASSERT_TRUE(store_.engine().put_item(put));
    const auto found = process->ledger().find(email_id(number));
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(text_in(email_id(number), "Listing"),
              queue_name(listed_state((*found)->state), shard_of(email_id(number), many_shards)));
  }
}

TEST_F(SharedShardsTest, AProcessThatEndsBetweenTheNoteAndTheFirstWriteHasLostNothing) {
  const auto old = started(1, least_shards);
  const std::vector<std::string> ids = accept(*old);
  started(2, many_shards).reset();
  pass(*old);
  EXPECT_THAT(listed_by(*old), UnorderedElementsAreArray(ids));
  EXPECT_THAT(ids_of(claimed(old->ledger(), Pipeline::intake)), UnorderedElementsAreArray(ids));
}

TEST_F(SharedShardsTest, ALowerNumberChangesNothing) {
  const std::vector<std::string> ids = accept(*started(1, many_shards));
  const auto lower = started(2, least_shards);
  EXPECT_EQ(noted(), item::AttributeValue(many_shards));
  EXPECT_THAT(ids_of(claimed(lower->ledger(), Pipeline::intake)), UnorderedElementsAreArray(ids));
}

TEST_F(SharedShardsTest, EmailsAreSpreadEvenly) {
  constexpr int count = 800;
  const std::vector<std::string> ids = accept(*started(1, many_shards), count);
  for (const char* const name : {"Queue", "Listing", "TenantListing"}) {
    const std::map<std::string, int> sizes = sizes_of(ids, name);
    ASSERT_THAT(sizes, SizeIs(many_shards)) << name;
    for (const auto& [partition, size] : sizes) {
      EXPECT_GT(size, count / many_shards / 2) << partition;
      EXPECT_LT(size, count / many_shards * 3 / 2) << partition;
    }
  }
}

TEST_F(SharedShardsTest, ANoteThatIsLostIsMadeAgain) {
  const auto process = started(1, many_shards);
  store::DeleteItemRequest removal;
  removal.table_name = store_.tables().emails;
  removal.key = shards_key();
  ASSERT_TRUE(store_.engine().delete_item(removal));
  pass(*process);
  EXPECT_EQ(noted(), item::AttributeValue(many_shards));
}

TEST_F(SharedShardsTest, WhereTheNoteCannotBeReadAllShardsAreLookedInto) {
  const std::vector<std::string> ids = accept(*started(1, many_shards));
  store::PutItemRequest put;
  put.table_name = store_.tables().emails;
  put.item = shards_key();
  put.item.set("most", "some");
  ASSERT_TRUE(store_.engine().put_item(put));
  EXPECT_THAT(ids_of(claimed(started(2, least_shards)->ledger(), Pipeline::intake)), UnorderedElementsAreArray(ids));
}

TEST_F(SharedShardsTest, WithoutStatusIndexEmailsOfOthersAreFoundAmongAllRecords) {
  const StoreTables tables{"plain", false};
  ASSERT_TRUE(prepare_tables(store_.engine(), tables));
  EXPECT_THAT(missing_indexes(store_.engine(), tables), IsEmpty());
  const auto described = store_.engine().describe_table("plain");
  ASSERT_TRUE(described);
  std::set<std::string> indexes;
  for (const store::IndexDescription& index : described->global_indexes) indexes.insert(index.name);
  EXPECT_EQ(indexes, (std::set<std::string>{"ListIndex", "TenantIndex", "WorkIndex"}));
  for (int number = 1; number <= 3; ++number)
    for (const char* const status : {"_META", "ACCEPTED"}) {
      store::PutItemRequest put;
      put.table_name = "plain";
      put.item = {{"Id", email_id(number)},
                  {"Status", status},
                  {"Attributes", item::Map{{"Latest", "SENT"}, {"UpdatedAt", "2026-01-02T03:04:05Z"}}}};
      ASSERT_TRUE(store_.engine().put_item(put));
    }
  OutboxProcess process(store_.engine(), tables, policy_, test_start, 1, store_.retry());
  while (*process.ledger().look_for_foreign(2)) continue;
  EXPECT_THAT(listed_by(process), SizeIs(3));
}

}  // namespace
}  // namespace postino::outbox
