// Sessions on a store that several processes share.
#include <gmock/gmock.h>

#include "access/sessions.h"
#include "engine/embedded_store_testing.h"
#include "item/attribute_text.h"
#include "store/shared_store_testing.h"
#include "store/table_setup.h"

namespace postino::access {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto shared_table = "prod-tickets-unified";

class SharedSessionsTest : public testing::Test {
 protected:
  SharedSessionsTest() {
    store::CreateTableRequest request =
        store::table_request(shared_table, {{"PK", item::Type::string}, {"SK", item::Type::string}});
    request.attribute_definitions.push_back({"GSI1PK", item::Type::string});
    request.attribute_definitions.push_back({"GSI1SK", item::Type::string});
    request.global_indexes = {{.name = "GSI1-customer-index",
                               .key_schema = {{"GSI1PK", store::KeyRole::hash}, {"GSI1SK", store::KeyRole::range}},
                               .projection = {.type = store::ProjectionType::all, .non_key_attributes = {}}}};
    EXPECT_TRUE(store::prepare_table(embedded_.engine(), request, "ttl"));
  }

  Sessions::Created create(Sessions& sessions, const std::string& user_id = "anna") {
    auto created = sessions.create({.user_id = user_id, .from = "192.0.2.7"});
    EXPECT_TRUE(created);
    clock_->advance(std::chrono::seconds(1));
    return created ? *created : Sessions::Created();
  }
  bool is_open(const Sessions::Created& created) {
    const auto found = sessions_.find(created.token);
    EXPECT_TRUE(found);
    return found && found->has_value();
  }
  std::vector<std::string> ids() {
    std::vector<std::string> ids;
    const auto sessions = sessions_.list({.user_id = "anna"});
    EXPECT_TRUE(sessions);
    for (const Session& session : *sessions) ids.push_back(session.id);
    return ids;
  }

  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  engine::EmbeddedStore embedded_{clock_};
  store::SharedStore store_{embedded_.engine()};
  Sessions sessions_{store_, {}, *clock_, embedded_.random(), embedded_.retry()};
  Sessions of_other_process_{store_, {}, *clock_, embedded_.random(), embedded_.retry()};
};

TEST_F(SharedSessionsTest, AllAreRevokedAlsoThoseThatTheIndexDoesNotHaveYet) {
  const auto first = create(sessions_);
  EXPECT_THAT(ids(), ElementsAre(first.session.id));
  store_.let_indexes_lag();
  const auto second = create(of_other_process_);
  const auto other = create(of_other_process_, "bert");
  EXPECT_THAT(ids(), ElementsAre(second.session.id, first.session.id));
  EXPECT_EQ(sessions_.revoke_all({.user_id = "anna"}).value_or(-1), 2);
  EXPECT_FALSE(is_open(first));
  EXPECT_FALSE(is_open(second));
  EXPECT_TRUE(is_open(other));
  // The index has the first one still.
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_EQ(sessions_.revoke_all({.user_id = "anna"}).value_or(-1), 0);
}

TEST_F(SharedSessionsTest, WithAChangedPasswordNoSessionOfTheOldOneIsLeft) {
  store_.let_indexes_lag();
  Session holder{.user_id = "anna", .credential = "old"};
  const auto of_old = of_other_process_.create(holder);
  holder.credential = "new";
  const auto of_new = of_other_process_.create(holder);
  ASSERT_TRUE(of_old && of_new);
  holder.credential = "old";
  EXPECT_EQ(sessions_.revoke_credential(holder).value_or(-1), 1);
  EXPECT_FALSE(is_open(*of_old));
  EXPECT_TRUE(is_open(*of_new));
}

TEST_F(SharedSessionsTest, SessionsFromBeforeTheStoreWasSharedAreFoundByTheIndex) {
  Sessions alone(embedded_.engine(), {}, *clock_, embedded_.random(), embedded_.retry());
  const auto before = create(alone);
  const auto now = create(sessions_);
  EXPECT_THAT(ids(), ElementsAre(now.session.id, before.session.id));
  EXPECT_EQ(sessions_.revoke_all({.user_id = "anna"}).value_or(-1), 2);
  EXPECT_FALSE(is_open(before));
  EXPECT_THAT(embedded_.scan(shared_table), IsEmpty()) << "entries go with their sessions";
}

TEST_F(SharedSessionsTest, ANewOneEndsTheOldestOfTooMany) {
  const auto oldest = create(sessions_);
  store_.let_indexes_lag();
  for (std::size_t i = 1; i < Sessions::most_of_one_user; ++i) create(i % 2 == 0 ? sessions_ : of_other_process_);
  EXPECT_TRUE(is_open(oldest));
  create(sessions_);
  EXPECT_FALSE(is_open(oldest));
  EXPECT_EQ(ids().size(), Sessions::most_of_one_user);
}

TEST_F(SharedSessionsTest, ASessionWhoseAnswerWasLostIsMadeOnce) {
  store_.lose_answers(1);
  const auto created = create(sessions_);
  EXPECT_TRUE(is_open(created));
  EXPECT_THAT(ids(), ElementsAre(created.session.id));
}

}  // namespace
}  // namespace postino::access
