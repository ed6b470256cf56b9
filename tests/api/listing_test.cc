// Lists of e-mails: what is in them, and how e-mails are found.
#include "rest_fixture.h"
#include "store/list_cursor.h"

namespace postino::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RestLists : public Rest {
 protected:
  // All pages.
  std::vector<std::string> listed(const std::string& target, const Headers& headers = {}) {
    std::vector<std::string> ids;
    std::string cursor;
    do {
      const Received page =
          get(target + (target.find('?') == std::string::npos ? "?" : "&") + "cursor=" + cursor, headers);
      EXPECT_EQ(page.status(), 200) << page.response.body;
      if (page.status() != 200) break;
      for (std::size_t i = 0; i < page.size("/data"); ++i)
        ids.push_back(page.text("/data/" + std::to_string(i) + "/id"));
      cursor = page.at("/cursor").is_null() ? "" : page.text("/cursor");
    } while (!cursor.empty());
    return ids;
  }

  void happen(const std::string& id, outbox::Event event) {
    auto change = decide(ledger_.find(id).value().value(), std::move(event), policy_, clock().now());
    ASSERT_TRUE(change) << change.error().message;
    std::vector<outbox::Change> changes;
    changes.push_back(*std::move(change));
    ASSERT_EQ(ledger_.move(std::move(changes)).front().status, outbox::MoveStatus::done);
  }

  std::string accept_another(const std::string& json, const Headers& headers = {}) {
    clock().advance(std::chrono::seconds(1));
    const Received answer = call("POST", "/emails", R"({"data":[{"body_text":"b",)" + json + "}]}", headers);
    EXPECT_EQ(answer.status(), 201) << answer.response.body;
    return answer.text("/results/0/id");
  }
};

TEST_F(RestLists, InvalidEmailsStayListedWhenTheirCallerKnows) {
  const std::string unheard = accept_one(R"(,"callback_url":"https://hooks.example/")");
  const std::string called = accept_one(R"(,"callback_url":"https://hooks.example/")");
  const std::string acknowledged = accept_one(R"(,"callback_url":"https://hooks.example/")");
  accept_one();
  for (const std::string& id : {unheard, called, acknowledged}) happen(id, outbox::event::PayloadRejected{"no"});
  for (const std::string& id : {called, acknowledged}) happen(id, outbox::event::Claimed{"worker"});
  happen(acknowledged, outbox::event::CallbackAcknowledged{});
  EXPECT_EQ(get("/emails/" + acknowledged).text("/status"), "INVALID-ACKNOWLEDGED");
  EXPECT_THAT(listed("/invalid-emails"), testing::UnorderedElementsAre(unheard, called, acknowledged));
  EXPECT_THAT(listed("/emails?status=INVALID"), ElementsAre(unheard));
}

TEST_F(RestLists, CursorsOfOneTenantAreRefusedForAnother) {
  start_with_keys(
      {"all:operator:secret-of-key-all", "a:operator@acme:secret-of-tenant-a", "b:operator@bolt:secret-of-tenant-b"});
  const Headers all{{"X-API-Key", "secret-of-key-all"}}, a{{"X-API-Key", "secret-of-tenant-a"}},
      b{{"X-API-Key", "secret-of-tenant-b"}};
  for (int i = 0; i < 3; ++i) {
    for (const Headers& headers : {a, b}) {
      const std::string id = accept_another(R"("from":"f@shop.example","to":"t@shop.example","subject":"s")", headers);
      outbox::MailboxEntry entry{.id = id, .accepted = clock().now(), .received = clock().now()};
      ASSERT_TRUE(mailbox_.put(entry, "", clock().now() + std::chrono::hours(1)));
      const std::string address = "a" + std::to_string(i) + "@example.com";
      ASSERT_EQ(call("PUT", "/suppressions/" + address, "", headers).status(), 204);
    }
  }
  for (const std::string list : {"/emails", "/suppressions", "/mailbox"}) {
    const Received page = get(list + "?limit=2", a);
    ASSERT_EQ(page.size("/data"), 2U) << list;
    const std::string cursor = page.text("/cursor");
    EXPECT_EQ(get(list + "?cursor=" + cursor, a).size("/data"), 1U) << list;
    for (const Headers& others : {b, all}) {
      const Received refused = get(list + "?cursor=" + cursor, others);
      EXPECT_EQ(refused.status(), 400) << list;
      EXPECT_THAT(refused.text("/errors/0/field"), "cursor") << list;
    }
  }
}

// A cursor is a place in the list of all.
TEST_F(RestLists, CursorsOfTheSandboxDoNotTellOfOthersMail) {
  start_with_keys({"a:operator@acme:secret-of-tenant-a", "b:operator@bolt:secret-of-tenant-b"});
  const Headers a{{"X-API-Key", "secret-of-tenant-a"}}, b{{"X-API-Key", "secret-of-tenant-b"}};
  std::vector<std::string> own;
  for (const Headers& headers : {a, b, b, a, b}) {
    const std::string id = accept_another(R"("from":"f@shop.example","to":"t@shop.example","subject":"s")", headers);
    outbox::MailboxEntry entry{.id = id, .accepted = clock().now(), .received = clock().now()};
    ASSERT_TRUE(mailbox_.put(entry, "", clock().now() + std::chrono::hours(1)));
    if (headers == a) own.insert(own.begin(), id);
  }
  EXPECT_THAT(listed("/mailbox?limit=1", a), testing::ElementsAreArray(own));
  const Received first = get("/mailbox?limit=1", a);
  ASSERT_EQ(first.text("/data/0/id"), own.front()) << "what others have got is passed over";
  const auto within = store::read_tenant_cursor("acme", first.text("/cursor"));
  ASSERT_TRUE(within);
  EXPECT_THAT(store::read_cursor("mailbox", *within).value(), testing::EndsWith(own.front()));
}

TEST_F(RestLists, StaleEmailsAreThoseWhoseLeaseHasEnded) {
  start_with_keys({"all:operator:secret-of-key-all", "acme:reader@acme:secret-of-key-acme",
                   "post:sender@acme:secret-of-key-post", "other:sender@other:secret-of-key-other"});
  const Headers all{{"X-API-Key", "secret-of-key-all"}};
  const Headers acme{{"X-API-Key", "secret-of-key-acme"}};
  const std::string first = accept_one("", {{"X-API-Key", "secret-of-key-post"}});
  const std::string second = accept_one("", {{"X-API-Key", "secret-of-key-other"}});
  const std::string working = accept_one("", {{"X-API-Key", "secret-of-key-post"}});
  accept_one("", {{"X-API-Key", "secret-of-key-post"}});
  happen(first, outbox::event::Claimed{"worker"});
  clock().advance(std::chrono::seconds(1));
  happen(second, outbox::event::Claimed{"worker"});
  EXPECT_EQ(get("/stale-emails", all).size("/data"), 0U) << "their workers may live";
  clock().advance(policy_.lease);
  happen(working, outbox::event::Claimed{"worker"});
  clock().advance(std::chrono::seconds(1));
  const Received stale = get("/stale-emails", all);
  ASSERT_EQ(stale.size("/data"), 2U);
  for (const char* each : {"/data/0", "/data/1"}) EXPECT_EQ(stale.text(std::string(each) + "/status"), "INTAKING");
  EXPECT_EQ(get("/stale-emails?limit=1", all).size("/data"), 1U);
  const Received own = get("/stale-emails", acme);
  ASSERT_EQ(own.size("/data"), 1U) << "a tenant sees its own";
  EXPECT_EQ(own.text("/data/0/id"), first);
  happen(first, outbox::event::LeaseEnded{});
  EXPECT_EQ(get("/stale-emails", acme).size("/data"), 0U) << "it was rescued";
}

TEST_F(RestLists, EmailsAreFoundByWhatTheyAre) {
  const std::string first = accept_another(
      R"("from":"Shop <shop@example.com>","to":"ann@example.com","subject":"Your order 17","tags":["a","b"])");
  const std::string second =
      accept_another(R"("from":"shop@example.com","to":"bob@example.net","cc":"ann@example.com","subject":"Hello")");
  const std::string third =
      accept_another(R"("from":"desk@example.org","to":"bob@example.net","subject":"Your ORDER 18","tags":["b"])");
  EXPECT_THAT(listed("/emails?tag=a"), ElementsAre(first));
  EXPECT_THAT(listed("/emails?tag=b"), ElementsAre(third, first));
  EXPECT_THAT(listed("/emails?to=ANN@example.com"), ElementsAre(second, first));
  EXPECT_THAT(listed("/emails?to=@example.net"), ElementsAre(third, second));
  EXPECT_THAT(listed("/emails?from=shop@example.com"), ElementsAre(second, first));
  EXPECT_THAT(listed("/emails?from=@example.org"), ElementsAre(third));
  EXPECT_THAT(listed("/emails?subject=order"), ElementsAre(third, first));
  EXPECT_THAT(listed("/emails?subject=order%201&tag=a"), ElementsAre(first));
  EXPECT_THAT(listed("/emails?subject=order&limit=1"), ElementsAre(third, first));
  EXPECT_THAT(listed("/emails?status=SENT&subject=order"), IsEmpty());
  EXPECT_THAT(listed("/emails?since=2026-01-02T03:04:07Z&until=2026-01-02T03:04:08Z"), ElementsAre(second));
  EXPECT_THAT(listed("/emails?since=2026-01-02&until=2026-01-02"), ElementsAre(third, second, first));
  EXPECT_THAT(listed("/emails?since=2026-01-03"), IsEmpty());
  EXPECT_THAT(listed("/emails?until=2026-01-01"), IsEmpty());
  EXPECT_THAT(listed("/emails?from=2026-01-02T03:04:07Z&to=bob@example.net"), ElementsAre(third, second))
      << "a time, as it meant once";
  EXPECT_EQ(get("/emails?tag=a").text("/data/0/subject"), "Your order 17");
  EXPECT_EQ(get("/emails/" + second).text("/subject"), "Hello");
}

TEST_F(RestLists, LongSubjectsAreCutBetweenLetters) {
  const std::string id =
      accept_another(R"("from":"a@example.com","to":"b@example.com","subject":"x)" + std::string(248, 'y') + "ü\"");
  EXPECT_EQ(get("/emails/" + id).text("/subject"), "x" + std::string(248, 'y'));
}

TEST_F(RestLists, FaultsOfFiltersNameTheParameter) {
  const auto field = [&](const std::string& target) {
    const Received answer = get(target);
    EXPECT_EQ(answer.status(), 400) << target;
    return answer.text("/errors/0/field");
  };
  EXPECT_EQ(field("/emails?tag="), "tag");
  EXPECT_EQ(field("/emails?tag=" + std::string(65, 'x')), "tag");
  EXPECT_EQ(field("/emails?from=ann"), "from");
  EXPECT_EQ(field("/emails?to=ann"), "to");
  EXPECT_EQ(field("/emails?subject=" + std::string(251, 'x')), "subject");
  EXPECT_EQ(field("/emails?since=yesterday"), "since");
  EXPECT_EQ(field("/emails?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z"), "until");
  EXPECT_EQ(field("/emails?since=2026-01-02T00:00:00Z&from=2026-01-02T00:00:00Z"), "from") << "the same twice";
}

}  // namespace
}  // namespace postino::api
