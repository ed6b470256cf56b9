// A store that fails in the middle: what was done is known as one's own, and is not done twice.
#include <atomic>

#include "item/attribute_text.h"
#include "store/forwarding_store.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using ::testing::SizeIs;
using enum TicketStatus;

// The next transaction is done, and the answer is that it is not known whether it was.
class ForgetfulStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::transact_write_items;

  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override {
    auto answer = ForwardingStore::transact_write_items(request);
    if (!forgets.exchange(false)) return answer;
    EXPECT_TRUE(answer) << answer.error().message;
    return store::refuse(store::ErrorType::internal_server_error, "Internal server error");
  }

  std::atomic<bool> forgets = false;
};

class FailureTest : public ::testing::Test {
 protected:
  SupportStore store_;
  ForgetfulStore forgetful_{store_.engine()};
  MemoryMailer mail_;
  SupportOffice office_{store_, forgetful_, &mail_};
};

TEST_F(FailureTest, ATicketIsMadeOnce) {
  for (const std::string key : {"", "key"}) {
    forgetful_.forgets = true;
    const auto created = office_.tickets.create(new_ticket("cust_" + key), key, operator_of());
    ASSERT_TRUE(succeeded(created));
    EXPECT_FALSE(created->is_repeated);
    EXPECT_THAT(office_.lists.find({.customer_id = "cust_" + key}, {}, operator_of())->entries, SizeIs(1));
  }
}

TEST_F(FailureTest, AMoveIsMadeOnce) {
  const std::string id = office_.make();
  forgetful_.forgets = true;
  const auto moved = office_.tickets.move(id, {.to = processing}, {.version = 1}, operator_of());
  ASSERT_TRUE(succeeded(moved));
  EXPECT_EQ(moved->version, 2);
  EXPECT_EQ(office_.tickets.get(id, operator_of())->version, 2);
  EXPECT_THAT(office_.events.list(id, {}, operator_of())->entries, SizeIs(2));
}

TEST_F(FailureTest, FeedbackAndEventsAreAddedOnce) {
  const std::string id = office_.make();
  forgetful_.forgets = true;
  ASSERT_TRUE(succeeded(office_.feedback.add(id, {.operator_id = "op_1", .rating = 5}, operator_of())));
  forgetful_.forgets = true;
  ASSERT_TRUE(succeeded(office_.events.add(id, "note", {}, operator_of())));
  EXPECT_THAT(office_.feedback.of_ticket(id, {}, operator_of())->feedback.entries, SizeIs(1));
  EXPECT_THAT(office_.events.list(id, {}, operator_of())->entries, SizeIs(3));
}

TEST_F(FailureTest, AnEmailGoesOutOnce) {
  const std::string id = office_.make();
  forgetful_.forgets = true;
  const auto sent = office_.correspondence.send(id, test_letter(), operator_of());
  ASSERT_TRUE(succeeded(sent));
  EXPECT_FALSE(sent->is_repeated);
  ASSERT_TRUE(succeeded(office_.desk.handovers().run_once()));
  EXPECT_THAT(mail_.payloads(), SizeIs(1));
  EXPECT_THAT(office_.correspondence.list(id, {}, operator_of())->entries, SizeIs(1));
}

}  // namespace
}  // namespace postino::support
