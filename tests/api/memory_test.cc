// What large requests and answers may take.
#include "rest_fixture.h"

namespace postino::api {
namespace {

using testing::HasSubstr;

class RestMemory : public Rest {
 protected:
  // An e-mail whose text has this many bytes.
  static std::string large_batch(std::size_t size) {
    return batch(R"({"from":"shop@example.com","to":"ann@example.com","subject":"Hello","body_text":")" +
                 std::string(size, 'x') + R"("})");
  }
};

TEST_F(RestMemory, LargeBodiesThatFindNoRoomAreRefusedAndMayTryAgain) {
  ApiOptions options;
  options.reading = std::make_shared<base::MemoryBudget>(10 << 20);
  start(options);
  EXPECT_EQ(call("POST", "/emails", large_batch(1 << 20)).status(), 201);
  EXPECT_EQ(options.reading->taken(), 0U);

  base::MemoryBudget::Share others = options.reading->take(6 << 20);
  const Received refused = call("POST", "/emails", large_batch(1 << 20));
  EXPECT_EQ(refused.status(), 503);
  EXPECT_EQ(refused.code(), "OVERLOADED");
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_EQ(options.reading->refused(), 1U);
  accept_one();
  others = {};
  EXPECT_EQ(call("POST", "/emails", large_batch(1 << 20)).status(), 201);
}

TEST_F(RestMemory, BodiesOfVeryManyValuesAreRefusedBeforeTheyAreParsed) {
  std::string values = "1";
  for (int i = 0; i < 250'000; ++i) values += ",1";
  for (const char* path : {"/emails", "/messages/produce"}) {
    const Received refused = call("POST", path, R"({"data":[)" + values + "]}");
    EXPECT_EQ(refused.status(), 400);
    EXPECT_THAT(refused.response.body, HasSubstr("must not have more than 250000 values"));
  }
}

TEST_F(RestMemory, LargeEmailsThatFindNoRoomBesideOthersAreRefusedAndNothingIsChanged) {
  base::MemoryBudget::Share small = message_budget_->take(100 << 20);
  outbox::MessageRoom sending(&message_memory_);
  sending.take_anyway(1 << 20);
  for (const Headers& headers : {Headers{}, Headers{{"Idempotency-Key", "k"}}}) {
    const Received refused = call("POST", "/emails", large_batch(1 << 20), headers);
    EXPECT_EQ(refused.status(), 503);
    EXPECT_EQ(refused.code(), "OVERLOADED");
    EXPECT_EQ(refused.header("Retry-After"), "1");
  }
  EXPECT_EQ(message_budget_->refused(), 2U);
  EXPECT_EQ(get("/emails").size("/data"), 0U);
  accept_one();  // small ones go on
  small = {};
  sending = {};
  EXPECT_EQ(call("POST", "/emails", large_batch(1 << 20), {{"Idempotency-Key", "k"}}).status(), 201);
  EXPECT_EQ(message_budget_->taken(), 0U);
}

TEST_F(RestMemory, MemoryForAWholeEmailIsTakenBeforeItIsRead) {
  ApiOptions options;
  options.answers = std::make_shared<base::MemoryBudget>(2 << 20);
  start(options);
  const std::string id = call("POST", "/emails", large_batch(1 << 20)).text("/results/0/id");
  const outbox::Email email = ledger_.find(id).value().value();
  outbox::Change change =
      decide(email, outbox::event::MessageBuilt{std::string(1 << 20, 'x')}, policy_, clock().now()).value();
  ASSERT_EQ(ledger_.move({change}).front().status, outbox::MoveStatus::done);
  ASSERT_TRUE(mailbox_.put({.id = id, .accepted = clock().now(), .received = clock().now()},
                           ledger_.find(id).value()->message_path, clock().now() + std::chrono::hours(1)));
  // Who reads on sees that there is no second part.
  for (const std::string& path : {email.payload_path, ledger_.find(id).value()->message_path}) {
    store::DeleteItemRequest request;
    request.table_name = tables_.spool();
    request.key = {{"SpoolPath", path}, {"Part", 1}};
    ASSERT_TRUE(store().delete_item(request));
  }
  for (const std::string& target : {"/emails/" + id + "/payload", "/emails/" + id + "/message", "/mailbox/" + id}) {
    base::MemoryBudget::Share unread = options.answers->take(3 << 19);
    const Received refused = get(target);
    EXPECT_EQ(refused.status(), 503) << target;
    EXPECT_EQ(refused.code(), "OVERLOADED");
    EXPECT_EQ(refused.header("Retry-After"), "1");
    unread = {};
    EXPECT_EQ(get(target).status(), 409) << target;
    EXPECT_EQ(options.answers->taken(), 0U);
  }
}

TEST_F(RestMemory, AnEmailThatIsLargerThanAllMemoryForAnswersIsShownAlone) {
  ApiOptions options;
  options.answers = std::make_shared<base::MemoryBudget>(1 << 20);
  start(options);
  const std::string id = call("POST", "/emails", large_batch(2 << 20)).text("/results/0/id");
  {
    const Received shown = get("/emails/" + id + "/payload");
    EXPECT_EQ(shown.status(), 200);
    EXPECT_EQ(options.answers->taken(), shown.response.body.size());
  }
  const base::MemoryBudget::Share unread = options.answers->take(1);
  EXPECT_EQ(get("/emails/" + id + "/payload").status(), 503);
}

TEST_F(RestMemory, WholeEmailsAreNotShownWhileAnswersAreNotTaken) {
  ApiOptions options;
  options.answers = std::make_shared<base::MemoryBudget>(1'000);
  start(options);
  const std::string id = accept_one();
  base::MemoryBudget::Share unread = options.answers->take_anyway(1'000);
  EXPECT_EQ(get("/emails/" + id + "/payload").status(), 503);
  EXPECT_EQ(options.answers->refused(), 1U);
  EXPECT_EQ(get("/emails/" + id).status(), 200) << "small answers go on";
  accept_one();
  unread = {};
  EXPECT_EQ(get("/emails/" + id + "/payload").status(), 200);
}

}  // namespace
}  // namespace postino::api
