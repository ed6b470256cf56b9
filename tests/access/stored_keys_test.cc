// Keys that are in a store: what opens, what does not, and who learns of changes.
#include <gmock/gmock.h>

#include "access/key_ring.h"
#include "base/base64.h"
#include "engine/embedded_store_testing.h"
#include "item/attribute_text.h"
#include "sealing/key_file.h"

namespace postino::access {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr auto keys_table = "postino-keys";
const KeyChanger anna{"anna", AuditEvent::user};

class StoredKeysTest : public testing::Test {
 protected:
  StoredKeysTest() { EXPECT_TRUE(prepare_keys(store_.engine(), {})); }

  static KeyRights sender(const std::string& name = "shop", const std::string& tenant = "") {
    KeyRights rights;
    rights.name = name;
    rights.role = "sender";
    rights.tenant = tenant;
    return rights;
  }
  static KeyRights access_key(const std::string& name = "desk", const std::string& policy = "") {
    KeyRights rights;
    rights.kind = KeyKind::access;
    rights.name = name;
    rights.policy = policy;
    return rights;
  }
  std::unique_ptr<KeyRing> open() {
    auto ring = KeyRing::open(keys_, *clock_, nullptr);
    EXPECT_TRUE(ring) << ring.error().message;
    return *std::move(ring);
  }
  item::Item item_of_key(const std::string& id) {
    for (const item::Item& item : store_.scan(keys_table))
      if (item::attribute_text(item, "SK") == id) return item;
    ADD_FAILURE() << "there is no " << id;
    return {};
  }
  // As a program does that can write to the table.
  void put(const item::Item& item) {
    store::PutItemRequest put;
    put.table_name = keys_table;
    put.item = item;
    ASSERT_TRUE(store_.engine().put_item(put));
  }

  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  engine::EmbeddedStore store_{clock_};
  base::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "sealing.key";
  sealing::SealerSource sealing_{file_, true, store_.random()};
  KeyStore keys_{store_.engine(), {}, sealing_, *clock_, store_.random(), store_.retry()};
};

TEST_F(StoredKeysTest, ASecretIsToldOnceAndIsNowhereInTheStore) {
  const auto ring = open();
  const MadeKey api = ring->create(sender(), std::nullopt, anna).value();
  const MadeKey access = ring->create(access_key(), std::nullopt, anna).value();
  EXPECT_EQ(id_in_secret(api.secret), api.key.id);
  EXPECT_EQ(ring->known()->find(api.key.id)->key.proof, hash_of_secret(api.key.id, api.secret));
  EXPECT_EQ(ring->known()->find(access.key.id)->key.proof, access.secret);
  for (const item::Item& item : store_.scan(keys_table))
    for (const item::Attribute& attribute : item)
      if (const std::string* text = attribute.value.get_if<std::string>()) {
        EXPECT_THAT(*text, testing::Not(HasSubstr(api.secret.substr(20, 20)))) << attribute.name;
        EXPECT_THAT(*text, testing::Not(HasSubstr(access.secret.substr(0, 20)))) << attribute.name;
      }
  EXPECT_EQ(open()->known()->find(access.key.id)->key.proof, access.secret) << "after a restart";
}

TEST_F(StoredKeysTest, TheSealingKeyIsMadeWithTheFirstKey) {
  const auto ring = open();
  EXPECT_FALSE(std::filesystem::exists(file_));
  ASSERT_TRUE(ring->create(sender(), std::nullopt, anna));
  EXPECT_TRUE(std::filesystem::exists(file_));
  EXPECT_FALSE(sealing::is_open_to_others(file_));
}

TEST_F(StoredKeysTest, AServerDoesNotStartWithAnotherSealingKey) {
  ASSERT_TRUE(open()->create(sender(), std::nullopt, anna));
  const std::string wanted = sealing_.for_sealing().value()->key_name();
  for (const bool is_there : {false, true}) {
    const std::filesystem::path other = directory_.path() / "other.key";
    if (is_there) {
      ASSERT_TRUE(sealing::make_key_file(other, store_.random()));
    }
    sealing::SealerSource source(other, true, store_.random());
    KeyStore keys(store_.engine(), {}, source, *clock_, store_.random(), store_.retry());
    const auto refused = KeyRing::open(keys, *clock_, nullptr);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("--sealing-key"));
    EXPECT_EQ(refused.error().message.find(wanted) != std::string::npos, is_there);
  }
}

// Each of these makes more of a key than it was given.
TEST_F(StoredKeysTest, AChangedItemDoesNotCount) {
  const auto ring = open();
  StoredKey made = ring->create(sender("shop", "north"), clock_->now() + hours(1), anna)->key;
  ASSERT_TRUE(ring->set_disabled(made.id, true, anna));
  const item::Item good = item_of_key(made.id);
  for (const auto& [name, value] :
       {std::pair("role", "operator"), std::pair("tenant", "south"), std::pair("name", "boss"),
        std::pair("state", "active"), std::pair("expires_at", "2036-01-01T00:00:00.000Z"),
        std::pair("kind", "access_key"), std::pair("customer", "C-1"), std::pair("policy", "{}"),
        std::pair("sealed", "AAAA"), std::pair("sealed", "not base64")}) {
    item::Item changed = good;
    changed.set(name, std::string(value));
    put(changed);
    const auto again = open();
    EXPECT_EQ(again->known()->find(made.id), nullptr) << name;
    EXPECT_THAT(again->known()->unreadable, SizeIs(1)) << name;
    EXPECT_TRUE(again->problem());
  }
  item::Item without_tenant = good;
  without_tenant.erase("tenant");
  put(without_tenant);
  EXPECT_EQ(open()->known()->find(made.id), nullptr);
  put(good);
  EXPECT_NE(open()->known()->find(made.id), nullptr);
}

TEST_F(StoredKeysTest, ASecretDoesNotOpenInTheItemOfAnotherKey) {
  const auto ring = open();
  const std::string mine = ring->create(access_key("mine"), std::nullopt, anna)->key.id;
  const std::string other = ring->create(access_key("other"), std::nullopt, anna)->key.id;
  item::Item moved = item_of_key(other);
  moved.set("sealed", item::attribute_text(item_of_key(mine), "sealed"));
  put(moved);
  const auto again = open();
  EXPECT_NE(again->known()->find(mine), nullptr);
  EXPECT_EQ(again->known()->find(other), nullptr);
  EXPECT_TRUE(again->remove(other, anna)) << "it can be deleted all the same";
  EXPECT_FALSE(again->problem());
}

TEST_F(StoredKeysTest, AnotherProcessSeesWhatWasChanged) {
  const auto here = open();
  const auto there = open();
  const std::string id = here->create(sender(), std::nullopt, anna)->key.id;
  EXPECT_EQ(there->known()->find(id), nullptr);
  there->look();
  ASSERT_NE(there->known()->find(id), nullptr);
  ASSERT_TRUE(here->set_disabled(id, true, anna));
  EXPECT_TRUE(here->known()->find(id)->key.is_disabled);
  there->look();
  EXPECT_TRUE(there->known()->find(id)->key.is_disabled);
  ASSERT_TRUE(there->remove(id, anna));
  here->look();
  EXPECT_EQ(here->known()->find(id), nullptr);
}

TEST_F(StoredKeysTest, ListenersHaveHeardOfAChangeWhenItIsDone) {
  const auto ring = open();
  std::vector<std::size_t> heard;
  ring->listen([&](const KnownKeys& known) { heard.push_back(known.keys.size()); });
  EXPECT_THAT(heard, ElementsAre(0));
  const std::string id = ring->create(sender(), std::nullopt, anna)->key.id;
  EXPECT_EQ(heard.back(), 1U);
  ASSERT_TRUE(ring->remove(id, anna));
  EXPECT_EQ(heard.back(), 0U);
}

TEST_F(StoredKeysTest, AnApiThatWasClosedStaysClosed) {
  const auto ring = open();
  EXPECT_FALSE(ring->known()->closes_api);
  const std::string id = ring->create(sender(), std::nullopt, anna)->key.id;
  ASSERT_TRUE(ring->remove(id, anna));
  EXPECT_TRUE(ring->known()->closes_api);
  EXPECT_FALSE(ring->known()->closes_dynamodb);
  EXPECT_TRUE(open()->known()->closes_api) << "after a restart";
  store::DeleteItemRequest removal;
  removal.table_name = keys_table;
  removal.key = {{"PK", "STATE"}, {"SK", "STATE"}};
  ASSERT_TRUE(store_.engine().delete_item(removal));
  ring->look();
  EXPECT_TRUE(ring->known()->closes_api) << "whatever another program does to the table";
}

TEST_F(StoredKeysTest, ANameHasOneHolderAndTwoKeysWhileItIsRotated) {
  const auto ring = open();
  const std::string first = ring->create(sender(), std::nullopt, anna)->key.id;
  EXPECT_EQ(ring->create(sender(), std::nullopt, anna).error().code, base::ErrorCode::conflict);
  EXPECT_TRUE(ring->create(access_key("shop"), std::nullopt, anna)) << "of the other API";
  const MadeKey second = ring->replace(first, hours(1), anna).value();
  EXPECT_EQ(second.key.rights, sender());
  EXPECT_EQ(ring->known()->find(first)->key.replaced_by, second.key.id);
  EXPECT_EQ(ring->replace(second.key.id, hours(1), anna).error().code, base::ErrorCode::conflict) << "two count";
  clock_->advance(minutes(59));
  EXPECT_TRUE(ring->known()->find(first)->key.counts(clock_->now()));
  clock_->advance(minutes(1));
  EXPECT_FALSE(ring->known()->find(first)->key.counts(clock_->now()));
  EXPECT_TRUE(ring->replace(second.key.id, hours(0), anna));
  EXPECT_EQ(ring->replace(second.key.id, hours(0), anna).error().code, base::ErrorCode::conflict) << "it has ended";
  EXPECT_EQ(ring->replace("pk_none", hours(0), anna).error().code, base::ErrorCode::not_found);
}

TEST_F(StoredKeysTest, AKeyThatReplacesAnotherLivesAsLong) {
  const auto ring = open();
  const std::string first = ring->create(sender(), clock_->now() + hours(10), anna)->key.id;
  clock_->advance(hours(4));
  const MadeKey second = ring->replace(first, hours(24), anna).value();
  EXPECT_EQ(*second.key.expires_at, clock_->now() + hours(10));
  EXPECT_EQ(*ring->known()->find(first)->key.expires_at, clock_->now() + hours(6)) << "no longer than before";
}

TEST_F(StoredKeysTest, TheLastUseIsWrittenDownAndIsNoChange) {
  const auto ring = open();
  const auto there = open();
  const std::string id = ring->create(sender(), std::nullopt, anna)->key.id;
  there->look();
  const std::int64_t version = keys_.version().value();
  ring->known()->find(id)->use->note(clock_->now());
  EXPECT_EQ(ring->list().front().last_used_at, clock_->now()) << "this process knows";
  EXPECT_FALSE(item_of_key(id).contains("last_used_at"));
  ring->write_uses();
  EXPECT_EQ(item::attribute_text(item_of_key(id), "last_used_at"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(keys_.version().value(), version);
  clock_->advance(minutes(5));
  there->known()->find(id)->use->note(clock_->now());
  there->write_uses();
  ring->known()->find(id)->use->note(clock_->now() - minutes(1));
  ring->write_uses();
  EXPECT_EQ(item::attribute_text(item_of_key(id), "last_used_at"), "2026-01-02T03:09:05.000Z")
      << "never an earlier one";
  ASSERT_TRUE(there->remove(id, anna));
  ring->known()->find(id)->use->note(clock_->now() + minutes(1));
  ring->write_uses();
  EXPECT_THAT(open()->list(), IsEmpty()) << "it does not come back";
}

TEST_F(StoredKeysTest, EmailsOfADayAreAddedUpForAllServers) {
  const auto here = open();
  KeyRights rights = sender();
  rights.quota.emails_per_day = 10;
  const MadeKey first = here->create(rights, std::nullopt, anna).value();
  const MadeKey second = here->replace(first.key.id, hours(1), anna).value();
  const auto meter = here->known()->find(first.key.id)->meter;
  EXPECT_EQ(here->known()->find(second.key.id)->meter, meter) << "it is the holder's";
  const base::TimePoint now = clock_->now();
  EXPECT_FALSE(meter->take_emails(now, 6));
  EXPECT_TRUE(meter->take_emails(now, 5)) << "all or none";
  meter->give_back_emails(now, 2);
  here->write_quotas();
  const auto there = open();
  const auto other = there->known()->find(first.key.id)->meter;
  EXPECT_EQ(other->counts(now).emails_today, 4) << "also after a restart";
  EXPECT_FALSE(other->take_emails(now, 3));
  there->write_quotas();
  EXPECT_FALSE(meter->take_emails(now, 1));
  here->write_quotas();
  EXPECT_EQ(meter->counts(now).emails_today, 8);
  const auto used_up = meter->take_emails(now, 3);
  ASSERT_TRUE(used_up);
  EXPECT_EQ(used_up->left, 2);
  EXPECT_FALSE(meter->take_emails(now + hours(24), 10)) << "the next day";
}

TEST_F(StoredKeysTest, RulesAreToldBeforeAnythingIsWritten) {
  const auto ring = open();
  KeyRights wrong = sender("no spaces");
  EXPECT_THAT(ring->create(wrong, std::nullopt, anna).error().message, HasSubstr("name must have"));
  wrong = sender("shop", "a/b");
  EXPECT_THAT(ring->create(wrong, std::nullopt, anna).error().message, HasSubstr("tenant must have"));
  EXPECT_THAT(ring->create(access_key("desk", "{}"), std::nullopt, anna).error().message, HasSubstr("policy"));
  EXPECT_THAT(ring->create(sender(), clock_->now(), anna).error().message, HasSubstr("in the future"));
  EXPECT_EQ(ring->replace("pk_x", hours(-1), anna).error().code, base::ErrorCode::invalid);
  EXPECT_THAT(ring->list(), IsEmpty());
  EXPECT_FALSE(ring->known()->closes_api);
}

TEST(StoredKey, KnowsTheFormOfItsSecrets) {
  base::SeededRandom random(1);
  const std::string id = make_key_id(KeyKind::api, random);
  const std::string secret = make_key_secret(id, KeyKind::api, random);
  EXPECT_EQ(id_in_secret(secret), id);
  EXPECT_EQ(secret.size(), 3U + 16 + 1 + 64);
  EXPECT_FALSE(id_in_secret(secret + "0"));
  EXPECT_FALSE(id_in_secret(secret.substr(1)));
  EXPECT_FALSE(id_in_secret("pk_" + std::string(16, '#') + "_" + std::string(64, '0')));
  const std::string access = make_key_id(KeyKind::access, random);
  EXPECT_EQ(access.size(), 20U);
  EXPECT_TRUE(access.starts_with("PSTN"));
}

// It is what seals are about, in stores that are there: it stays.
TEST(StoredKey, IsSealedWithWhatItMayDo) {
  StoredKey key;
  key.id = "pk_1";
  key.rights.name = "shop";
  key.rights.role = "sender";
  key.rights.tenant = "north";
  key.created_at = base::from_epoch_milliseconds(7);
  EXPECT_EQ(sealed_rights(key),
            "postino key 1\n4:pk_1,7:api_key,4:shop,6:sender,5:north,0:,0:,1:0,1:0,1:7,0:,6:active,0:,1:1,");
}

}  // namespace
}  // namespace postino::access
