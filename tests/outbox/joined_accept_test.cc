// An e-mail that is accepted in one commit with items of others.
#include "outbox/outbox.h"
#include "outbox_store.h"
#include "store/table_setup.h"

namespace postino::outbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JoinedAcceptance : public ::testing::TestWithParam<SpoolChoice> {
 protected:
  JoinedAcceptance() {
    EXPECT_TRUE(
        store::prepare_table(store_.engine(), store::table_request("others", {{"Id", item::Type::string}}), ""));
  }

  Payload payload(int number) {
    Payload payload;
    payload.id = email_id(number);
    payload.from.address = "ann@example.com";
    payload.to.push_back({"", "bob@example.com"});
    payload.subject = "hello";
    payload.body_text = "text";
    return payload;
  }
  static store::TransactAction put(const std::string& id) {
    store::TransactPut put;
    put.table_name = "others";
    put.item = {{"Id", id}};
    put.condition = "attribute_not_exists(Id)";
    return put;
  }
  JoinedOutcome accept(int number, const std::vector<std::string>& others) {
    std::vector<store::TransactAction> actions;
    for (const std::string& id : others) actions.push_back(put(id));
    return outbox_.accept_with(payload(number), "acme", std::move(actions));
  }
  std::vector<std::string> others() {
    std::vector<std::string> ids;
    for (const item::Item& item : store_.scan("others")) ids.push_back(item.find("Id")->as<std::string>());
    std::ranges::sort(ids);
    return ids;
  }
  std::size_t emails() {
    const auto page = outbox_.list({});
    EXPECT_TRUE(page);
    return page ? page->emails.size() : 0;
  }
  std::size_t spooled() {
    if (GetParam() == SpoolChoice::store) return store_.scan(store_.tables().spool()).size();
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(store_.spool_directory()))
      files += entry.is_regular_file() && entry.path().string().find(".json") != std::string::npos ? 1 : 0;
    return files;
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{GetParam(), clock_};
  const std::unique_ptr<StoreLedger> ledger_ = store_.make_ledger();
  WorkSignal signal_;
  Outbox outbox_{*ledger_, store_.suppressions(), ledger_policy(), *clock_, store_.random(), signal_, {}};
};

INSTANTIATE_TEST_SUITE_P(Spools, JoinedAcceptance, ::testing::Values(SpoolChoice::store, SpoolChoice::directory));

TEST_P(JoinedAcceptance, IsOneCommit) {
  bool told = false;
  signal_.listen([&](Pipeline) { told = true; });
  const JoinedOutcome outcome = accept(1, {"a", "b"});
  ASSERT_TRUE(outcome.email);
  EXPECT_TRUE(told) << "the workers know";
  EXPECT_EQ(outcome.email->tenant, "acme");
  EXPECT_THAT(others(), ElementsAre("a", "b"));
  const auto shown = outbox_.show(email_id(1), "acme");
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->email, *outcome.email);
  EXPECT_THAT(shown->history, SizeIs(1));
  EXPECT_EQ((*outbox_.counts("acme"))[index_of(State::accepted)], 1);
  const auto kept = outbox_.payload(email_id(1), "acme", [](std::size_t) { return true; });
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, to_json(payload(1)));
}

TEST_P(JoinedAcceptance, IsNothingWhenAConditionOfTheOthersFails) {
  ASSERT_TRUE(accept(1, {"b"}).email);
  const JoinedOutcome outcome = accept(2, {"a", "b", "c"});
  EXPECT_FALSE(outcome.email);
  EXPECT_FALSE(outcome.known);
  ASSERT_TRUE(outcome.error);
  ASSERT_EQ(outcome.error->type, store::ErrorType::transaction_canceled);
  EXPECT_EQ(outcome.error->details->reasons.at(0).code, "None");
  EXPECT_EQ(outcome.error->details->reasons.at(1).code, "ConditionalCheckFailed") << "in the order of the actions";
  EXPECT_THAT(others(), ElementsAre("b"));
  EXPECT_EQ(emails(), 1U);
  EXPECT_EQ(spooled(), 1U) << "its payload is removed";
}

TEST_P(JoinedAcceptance, IsNothingWhenTheIdIsTaken) {
  ASSERT_TRUE(accept(1, {}).email);
  const JoinedOutcome outcome = accept(1, {"a"});
  EXPECT_FALSE(outcome.email);
  EXPECT_TRUE(outcome.known);
  EXPECT_THAT(others(), IsEmpty());
  EXPECT_EQ(emails(), 1U);
  EXPECT_EQ(spooled(), 1U);
  EXPECT_TRUE(outbox_.payload(email_id(1), "", [](std::size_t) { return true; })) << "that of the first one stays";
}

TEST_P(JoinedAcceptance, IsNotStoppedBySpoiltCounts) {
  ASSERT_TRUE(accept(1, {}).email);
  for (item::Item item : store_.scan(store_.tables().counts())) {
    for (item::Attribute& attribute : item)
      if (attribute.value.get_if<item::Number>() != nullptr && attribute.name == name_of(State::accepted))
        attribute.value = "many";
    store::PutItemRequest request;
    request.table_name = store_.tables().counts();
    request.item = std::move(item);
    ASSERT_TRUE(store_.engine().put_item(request));
  }
  for (int i = 2; i < 20; ++i) EXPECT_TRUE(accept(i, {}).email);
}

TEST_P(JoinedAcceptance, IsForTheStoreOfTheLedgerAlone) {
  engine::EmbeddedStore another(clock_);
  EXPECT_TRUE(outbox_.shares_commits(store_.engine()));
  EXPECT_FALSE(outbox_.shares_commits(another.engine()));
}

TEST_P(JoinedAcceptance, LosesItsContentsWhenTheyAreErased) {
  ASSERT_TRUE(accept(1, {}).email);
  EXPECT_EQ(outbox_.remove_contents(email_id(1), "acme").value_or(true), false) << "it is not finished";
  EXPECT_EQ(outbox_.remove_contents(email_id(1), "other").error().code, base::ErrorCode::not_found);
  ASSERT_TRUE(outbox_.cancel(email_id(1), "acme", "test"));
  EXPECT_TRUE(outbox_.remove_contents(email_id(1), "acme").value_or(false));
  EXPECT_TRUE(outbox_.remove_contents(email_id(1), "acme").value_or(false)) << "also again";
  EXPECT_EQ(spooled(), 0U);
  EXPECT_TRUE(outbox_.show(email_id(1), "acme")) << "its record stays";
}

TEST_P(JoinedAcceptance, AsksTheSuppressionList) {
  ASSERT_TRUE(outbox_.suppress("acme", "bob@example.com", "bounced"));
  EXPECT_TRUE(outbox_.is_suppressed("acme", "Bob@Example.com").value_or(false));
  EXPECT_FALSE(outbox_.is_suppressed("other", "bob@example.com").value_or(true));
}

}  // namespace
}  // namespace postino::outbox
