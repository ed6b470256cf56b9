// Idempotency keys of requests that hand in e-mails.
#include <set>

#include "rest_fixture.h"

namespace postino::api {
namespace {

using RestKeys = Rest;

const std::string some_id = "00000000-0000-4000-8000-000000000001";

TEST_F(RestKeys, RepeatedKeyGetsTheSameAnswer) {
  const Headers key{{"Idempotency-Key", "k-1"}};
  const Received first = call("POST", "/emails", batch(payload()), key);
  EXPECT_EQ(first.status(), 201);
  EXPECT_EQ(first.header("Idempotent-Replayed"), "");
  const Received second = call("POST", "/emails", "  " + batch(payload()) + "\n", {{"Idempotency-Key", "\"k-1\""}});
  EXPECT_EQ(second.status(), 201) << "the same request, written otherwise";
  EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(second.response.body, first.response.body);
  EXPECT_EQ(get("/emails/counts").number("/total"), 1);
}

TEST_F(RestKeys, ReplayKeepsTheStatusOfEveryAnswer) {
  accept_one(R"(,"id":")" + some_id + R"(")");
  const std::string taken = payload(R"(,"id":")" + some_id + R"(")");
  for (const auto& [body, status] : {std::pair(batch(taken + "," + payload()), 200), {batch(taken), 422}}) {
    const Headers key{{"Idempotency-Key", "k-" + std::to_string(status)}};
    EXPECT_EQ(call("POST", "/emails", body, key).status(), status);
    const Received again = call("POST", "/emails", body, key);
    EXPECT_EQ(again.status(), status);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  }
}

TEST_F(RestKeys, KeyOfAnotherRequestIsRefused) {
  accept_one("", {{"Idempotency-Key", "k-1"}});
  const Received answer = call("POST", "/emails", batch(payload(R"(,"tags":["x"])")), {{"Idempotency-Key", "k-1"}});
  EXPECT_EQ(answer.status(), 422);
  EXPECT_EQ(answer.code(), "IDEMPOTENCY_KEY_REUSED");
  EXPECT_EQ(answer.response.content_type, "application/problem+json");
}

TEST_F(RestKeys, KeyIsForgottenWhenItsLifeEnds) {
  std::set<std::string> ids;
  // As a job that runs each day and has the same text and the same key.
  for (const int life : {60, 60, 60, 86'400, 60}) {
    const Headers key{{"Idempotency-Key", "k-1"}, {"Idempotency-Expiry-Seconds", std::to_string(life)}};
    const Received first = call("POST", "/emails", batch(payload()), key);
    EXPECT_EQ(first.header("Idempotent-Replayed"), "");
    EXPECT_TRUE(ids.insert(first.text("/results/0/id")).second) << "an e-mail of its own";
    clock().advance(std::chrono::seconds(life) - base::Milliseconds(1));
    const Received again = call("POST", "/emails", batch(payload()), key);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(again.response.body, first.response.body);
    clock().advance(base::Milliseconds(1));
  }
  EXPECT_EQ(get("/emails").size("/data"), ids.size());
}

TEST_F(RestKeys, ThatAreForgottenMakeNewEmailsAlsoIfSomeOfThoseBeforeAreGone) {
  const Headers key{{"Idempotency-Key", "k-1"}, {"Idempotency-Expiry-Seconds", "60"}};
  const std::string two = batch(payload() + "," + payload());
  const Received first = call("POST", "/emails", two, key);
  outbox::Email gone = ledger_.find(first.text("/results/0/id")).value().value();
  store::DeleteItemRequest removal;
  removal.table_name = tables_.emails;
  removal.key = {{"Id", gone.id}, {"Status", "_META"}};
  ASSERT_TRUE(store().delete_item(removal));
  clock().advance(std::chrono::seconds(60));
  const Received second = call("POST", "/emails", two, key);
  EXPECT_EQ(second.status(), 201) << second.response.body;
  EXPECT_NE(second.text("/results/0/id"), gone.id);
}

// Such an e-mail does not say when its key expires.
TEST_F(RestKeys, OfEmailsOfAnEarlierVersionAreForgotten) {
  const Headers key{{"Idempotency-Key", "k-1"}, {"Idempotency-Expiry-Seconds", "60"}};
  const std::string first = accept_one("", key);
  store::UpdateItemRequest update;
  update.table_name = tables_.emails;
  update.key = {{"Id", first}, {"Status", "_META"}};
  update.update = "SET Acceptance = :token";
  const std::string token = ledger_.find(first).value().value().acceptance_token;
  update.placeholders.values = item::Map{{":token", token.substr(0, token.find('@'))}};
  ASSERT_TRUE(store().update_item(update));
  clock().advance(std::chrono::seconds(60));
  EXPECT_NE(accept_one("", key), first);
}

// It was accepted once, and the answer to the repeat must not say that it is accepted now.
TEST_F(RestKeys, EmailWithAnIdIsRefusedWhenTheKeyIsForgotten) {
  const Headers key{{"Idempotency-Key", "k-1"}, {"Idempotency-Expiry-Seconds", "60"}};
  accept_one(R"(,"id":")" + some_id + R"(")", key);
  clock().advance(std::chrono::seconds(60));
  const Received again = call("POST", "/emails", batch(payload(R"(,"id":")" + some_id + R"(")")), key);
  EXPECT_EQ(again.status(), 422);
  EXPECT_EQ(again.text("/results/0/error/code"), "DUPLICATED_ID") << again.response.body;
}

TEST_F(RestKeys, KeysOfDifferentCallersDoNotMeet) {
  start_with_keys({"a:sender:secret-of-key-a-", "b:sender:secret-of-key-b-", "t1:sender@t:secret-of-key-t1",
                   "t2:sender@t:secret-of-key-t2"});
  const auto replayed = [&](const std::string& secret) {
    const Received answer =
        call("POST", "/emails", batch(payload()), {{"Idempotency-Key", "k"}, {"X-API-Key", secret}});
    EXPECT_EQ(answer.status(), 201);
    return answer.header("Idempotent-Replayed") == "true";
  };
  EXPECT_FALSE(replayed("secret-of-key-a-"));
  EXPECT_FALSE(replayed("secret-of-key-b-"));
  EXPECT_TRUE(replayed("secret-of-key-a-"));
  EXPECT_FALSE(replayed("secret-of-key-t1"));
  EXPECT_TRUE(replayed("secret-of-key-t2")) << "a tenant's keys are one name space";
}

TEST_F(RestKeys, KeyMayBeRequired) {
  ApiOptions options;
  options.require_idempotency_key = true;
  start(std::move(options));
  EXPECT_EQ(call("POST", "/emails", batch(payload())).code(), "IDEMPOTENCY_KEY_REQUIRED");
  EXPECT_EQ(call("POST", "/emails", batch(payload()), {{"Idempotency-Key", ""}}).text("/errors/0/field"),
            "Idempotency-Key");
  accept_one("", {{"Idempotency-Key", "k"}});
}

}  // namespace
}  // namespace postino::api
