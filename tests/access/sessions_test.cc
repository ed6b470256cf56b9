#include "access/sessions.h"

#include <gmock/gmock.h>

#include "access/caller_scope.h"
#include "engine/embedded_store_testing.h"
#include "item/attribute_text.h"
#include "store/table_setup.h"

namespace postino::access {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr auto table = "prod-tickets-unified";

class SessionsTest : public testing::Test {
 protected:
  SessionsTest() {
    store::CreateTableRequest request =
        store::table_request(table, {{"PK", item::Type::string}, {"SK", item::Type::string}});
    request.attribute_definitions.push_back({"GSI1PK", item::Type::string});
    request.attribute_definitions.push_back({"GSI1SK", item::Type::string});
    request.global_indexes = {{.name = "GSI1-customer-index",
                               .key_schema = {{"GSI1PK", store::KeyRole::hash}, {"GSI1SK", store::KeyRole::range}},
                               .projection = {.type = store::ProjectionType::all, .non_key_attributes = {}}}};
    EXPECT_TRUE(store::prepare_table(store_.engine(), request, "ttl"));
  }

  Sessions::Created create(const std::string& user_id = "anna", const std::string& tenant = "",
                           const std::string& customer = "") {
    auto created = sessions_.create({.user_id = user_id, .tenant = tenant, .customer = customer, .from = "192.0.2.7"});
    EXPECT_TRUE(created);
    return *created;
  }
  bool is_open(const std::string& token) {
    const auto found = sessions_.find(token);
    EXPECT_TRUE(found);
    return found->has_value();
  }
  std::vector<std::string> ids_of(const std::string& user_id, const std::string& tenant = "") {
    std::vector<std::string> ids;
    const auto sessions = sessions_.list({.user_id = user_id, .tenant = tenant});
    EXPECT_TRUE(sessions);
    for (const Session& session : *sessions) ids.push_back(session.id);
    return ids;
  }

  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  engine::EmbeddedStore store_{clock_};
  Sessions sessions_{store_.engine(), {}, *clock_, store_.random(), store_.retry()};
};

TEST_F(SessionsTest, ATokenOpensItsSession) {
  const auto created = create("anna", "acme");
  const auto found = sessions_.find(created.token);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->user_id, "anna");
  EXPECT_EQ((*found)->tenant, "acme");
  EXPECT_EQ((*found)->from, "192.0.2.7");
  EXPECT_EQ((*found)->created_at, clock_->now());
  EXPECT_EQ((*found)->expires_at, clock_->now() + hours(24));
}

TEST_F(SessionsTest, EndsAfterADayWhetherOrNotItsItemIsGone) {
  const auto created = create();
  clock_->advance(hours(24) - milliseconds(1));
  EXPECT_TRUE(is_open(created.token));
  clock_->advance(milliseconds(1));
  EXPECT_FALSE(is_open(created.token));
  EXPECT_THAT(ids_of("anna"), IsEmpty());
  EXPECT_FALSE(*sessions_.revoke({.user_id = "anna"}, created.session.id)) << "it has ended";
}

TEST_F(SessionsTest, OpensNothingWithoutItsSecret) {
  const auto created = create();
  const auto other = create();
  const std::string secret = other.token.substr(other.session.id.size() + 1);
  EXPECT_FALSE(is_open(created.session.id));
  EXPECT_FALSE(is_open(created.session.id + "." + secret));
  EXPECT_FALSE(is_open(created.token.substr(0, created.token.size() - 1)));
  EXPECT_FALSE(is_open(created.token + "0"));
  EXPECT_FALSE(is_open(""));
  std::string wrong = created.token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_FALSE(is_open(wrong));
  EXPECT_TRUE(is_open(created.token));
}

TEST_F(SessionsTest, TheTableHasNoSecret) {
  const auto created = create();
  const std::string secret = created.token.substr(created.session.id.size() + 1);
  for (const item::Item& item : store_.scan(table))
    for (const auto& [name, value] : item)
      if (const auto* const text = value.get_if<std::string>()) EXPECT_THAT(*text, Not(testing::HasSubstr(secret)));
}

// datetime.fromisoformat(item['expires_at']) is compared with datetime.utcnow(), which has no zone.
TEST_F(SessionsTest, AreItemsAsTheSeedHasThem) {
  const auto created = create();
  const auto items = store_.scan(table);
  ASSERT_EQ(items.size(), 1U);
  const item::Item& item = items.front();
  EXPECT_EQ(item::attribute_text(item, "PK"), "SESSION#" + created.session.id);
  EXPECT_EQ(item::attribute_text(item, "SK"), "METADATA");
  EXPECT_EQ(item::attribute_text(item, "entity_type"), "session");
  EXPECT_THAT(item::attribute_text(item, "session_id"), StartsWith("sess_"));
  EXPECT_EQ(item::attribute_text(item, "created_at"), "2026-01-02T03:04:05.000");
  EXPECT_EQ(item::attribute_text(item, "expires_at"), "2026-01-03T03:04:05.000");
  EXPECT_EQ(*item.find("ttl"), item::AttributeValue(base::epoch_seconds(created.session.expires_at)));
  const item::Map& data = item.find("data")->as<item::Map>();
  EXPECT_EQ(item::attribute_text(data, "user_id"), "anna");
  EXPECT_EQ(item::attribute_text(data, "session_id"), created.session.id);
}

// The seed's program writes no secret.
TEST_F(SessionsTest, OfTheSeedsProgramOpenNothing) {
  const std::string id = "sess_01234567-89ab-4def-8123-456789abcdef";
  store::PutItemRequest put;
  put.table_name = table;
  put.item = {{"PK", "SESSION#" + id},
              {"SK", "METADATA"},
              {"session_id", id},
              {"user_id", "anna"},
              {"created_at", "2026-01-02T03:04:05.123456"},
              {"expires_at", "2026-01-03T03:04:05.123456"}};
  ASSERT_TRUE(store_.engine().put_item(put));
  EXPECT_FALSE(is_open(id + "." + std::string(64, '0')));
  EXPECT_FALSE(is_open(id + "."));
}

TEST_F(SessionsTest, AreListedForTheirUserTheNewestFirst) {
  const auto first = create();
  clock_->advance(milliseconds(5));
  const auto second = create();
  create("berta");
  create("anna", "acme");
  ASSERT_TRUE(sessions_.create({.user_id = "anna", .of_api_key = true}));
  EXPECT_THAT(ids_of("anna"), ElementsAre(second.session.id, first.session.id));
}

TEST_F(SessionsTest, AreRevokedByTheirUserAlone) {
  const auto created = create();
  EXPECT_FALSE(*sessions_.revoke({.user_id = "berta"}, created.session.id));
  EXPECT_FALSE(*sessions_.revoke({.user_id = "anna", .tenant = "acme"}, created.session.id));
  EXPECT_TRUE(is_open(created.token));
  EXPECT_TRUE(*sessions_.revoke({.user_id = "anna"}, created.session.id));
  EXPECT_FALSE(is_open(created.token));
  EXPECT_FALSE(*sessions_.revoke({.user_id = "anna"}, created.session.id));
}

// API keys of several customers may have one name.
TEST_F(SessionsTest, OfOneCustomerAreNotThoseOfAnother) {
  const auto first = create("portal", "acme", "C-1"), second = create("portal", "acme", "C-2"),
             whole = create("portal", "acme");
  const Session one{.user_id = "portal", .tenant = "acme", .customer = "C-1"};
  const auto listed = sessions_.list(one);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().id, first.session.id);
  EXPECT_EQ(listed->front().customer, "C-1");
  EXPECT_FALSE(*sessions_.revoke(one, second.session.id));
  EXPECT_EQ(*sessions_.revoke_all(one), 1);
  EXPECT_TRUE(is_open(second.token));
  EXPECT_THAT(ids_of("portal", "acme"), ElementsAre(whole.session.id));
}

TEST_F(SessionsTest, OfOtherTenantsAndCustomersAreNotReachedByACall) {
  const auto created = create("portal", "acme", "C-1");
  const Session own{.user_id = "portal", .tenant = "acme", .customer = "C-1"};
  for (const auto& [tenant, customer] :
       {std::pair("acme", "C-2"), std::pair("other", ""), std::pair("other", "C-1"), std::pair("", "C-2")}) {
    const CallerScope scope(tenant, customer);
    EXPECT_THROW(static_cast<void>(sessions_.list(own)), ScopeFault) << tenant << customer;
    EXPECT_THROW(static_cast<void>(sessions_.revoke(own, created.session.id)), ScopeFault);
    EXPECT_THROW(static_cast<void>(sessions_.revoke_all(own)), ScopeFault);
  }
  for (const auto& [tenant, customer] : {std::pair("acme", "C-1"), std::pair("acme", ""), std::pair("", "")}) {
    const CallerScope scope(tenant, customer);
    EXPECT_TRUE(sessions_.list(own)) << tenant << customer;
  }
  EXPECT_TRUE(is_open(created.token));
}

TEST_F(SessionsTest, AllOfAUserAreRevokedAtOnce) {
  const auto first = create();
  const auto second = create();
  const auto other = create("berta");
  EXPECT_EQ(*sessions_.revoke_all({.user_id = "anna"}), 2);
  EXPECT_FALSE(is_open(first.token));
  EXPECT_FALSE(is_open(second.token));
  EXPECT_TRUE(is_open(other.token));
}

TEST_F(SessionsTest, AllAreRevokedAlsoBehindItemsOfOtherPrograms) {
  const auto created = create();
  for (std::size_t i = 0; i <= Sessions::most_of_one_user; ++i) {
    store::PutItemRequest put;
    put.table_name = table;
    put.item = item::Item{
        {"PK", "OTHER#" + std::to_string(i)}, {"SK", "X"}, {"GSI1PK", "SESSIONS#USER##anna"}, {"GSI1SK", "z"}};
    ASSERT_TRUE(store_.engine().put_item(put));
  }
  EXPECT_EQ(*sessions_.revoke_all({.user_id = "anna"}), 1);
  EXPECT_FALSE(is_open(created.token));
}

TEST_F(SessionsTest, ANewOneEndsTheOldestOfTooMany) {
  const auto first = create();
  std::string second;
  for (std::size_t i = 1; i < Sessions::most_of_one_user; ++i) {
    clock_->advance(milliseconds(1));
    const auto created = create();
    if (i == 1) second = created.token;
  }
  EXPECT_TRUE(is_open(first.token));
  clock_->advance(milliseconds(1));
  const auto last = create();
  EXPECT_FALSE(is_open(first.token));
  EXPECT_TRUE(is_open(second));
  EXPECT_TRUE(is_open(last.token));
  EXPECT_EQ(ids_of("anna").size(), Sessions::most_of_one_user);
}

}  // namespace
}  // namespace postino::access
