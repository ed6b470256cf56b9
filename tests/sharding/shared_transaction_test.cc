// Transactions that are tried again, on a store that other processes use, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/embedded_store_testing.h"
#include "store/retry.h"
#include "store/shared_store_testing.h"
#include "store/table_setup.h"

namespace postino::store {
namespace {

using testing::Each;
using testing::SizeIs;

class SharedTransactionTest : public testing::Test {
 protected:
  SharedTransactionTest() {
    EXPECT_TRUE(embedded_.engine().create_table(table_request("counts", {{"PK", item::Type::string}})));
  }
  static TransactWriteItemsRequest addition() {
    TransactUpdate update;
    update.table_name = "counts";
    update.key = {{"PK", "a"}};
    update.update = "ADD made :one";
    update.placeholders.values = item::Map{{":one", 1}};
    TransactWriteItemsRequest request;
    request.actions.emplace_back(std::move(update));
    return request;
  }
  std::int64_t count() {
    const auto items = embedded_.scan("counts");
    return items.empty() ? 0 : items[0].find("made")->as<item::Number>().to_int64().value_or(-1);
  }

  engine::EmbeddedStore embedded_{std::make_shared<base::ManualClock>(engine::embedded_start)};
  SharedStore shared_{embedded_.engine()};
  const Retry retry_ = embedded_.retry();
};

TEST_F(SharedTransactionTest, IsDoneOnceHoweverManyAnswersAreLost) {
  shared_.lose_answers(store_attempts - 1);
  EXPECT_TRUE(retry_.transact(shared_, addition()));
  EXPECT_EQ(count(), 1);
  const auto tokens = shared_.tokens();
  EXPECT_THAT(tokens, SizeIs(store_attempts));
  EXPECT_THAT(tokens, Each(tokens.front())) << "of all attempts";
  EXPECT_TRUE(retry_.transact(shared_, addition()));
  EXPECT_EQ(count(), 2) << "another call is another transaction";
}

TEST_F(SharedTransactionTest, ThatWasNeverAnsweredMayHaveBeenDone) {
  shared_.lose_answers(store_attempts);
  const auto answer = retry_.transact(shared_, addition());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().type, ErrorType::internal_server_error);
  EXPECT_EQ(count(), 1);
}

TEST_F(SharedTransactionTest, KeepsTheTokenThatItHas) {
  TransactWriteItemsRequest request = addition();
  request.client_request_token = "mine";
  EXPECT_TRUE(retry_.transact(shared_, request));
  EXPECT_TRUE(retry_.transact(shared_, request));
  EXPECT_EQ(count(), 1);
  EXPECT_THAT(shared_.tokens(), Each("mine"));
}

// The embedded store has to keep each token, and loses no answer.
TEST_F(SharedTransactionTest, NeedsNoTokenOfAStoreThatIsNotShared) {
  class NotingStore final : public ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    using ForwardingStore::transact_write_items;
    Answer<TransactWriteItemsResponse> transact_write_items(const TransactWriteItemsRequest& request) override {
      has_token = request.client_request_token.has_value();
      return inner().transact_write_items(request);
    }
    bool has_token = true;
  } alone(embedded_.engine());
  EXPECT_TRUE(retry_.transact(alone, addition()));
  EXPECT_FALSE(alone.has_token);
}

}  // namespace
}  // namespace postino::store
