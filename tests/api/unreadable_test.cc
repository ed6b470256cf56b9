// Records that other programs have damaged: each call about one says so, and is not repeated in vain.
#include "item/attribute_text.h"
#include "rest_fixture.h"

namespace postino::api {
namespace {

using testing::HasSubstr;

class RestUnreadable : public Rest {
 protected:
  void change(const std::string& table, item::Key key, const char* update) {
    store::UpdateItemRequest request;
    request.table_name = table;
    request.key = std::move(key);
    request.update = update;
    ASSERT_TRUE(store().update_item(request));
  }
  // The one record of this operation.
  void spoil_key(const std::string& table, const std::string& operation, const char* update) {
    store::ScanRequest scan;
    scan.table_name = table;
    const auto page = store().scan(scan);
    ASSERT_TRUE(page);
    for (const item::Item& record : page->items)
      if (item::attribute_text(record, "operationType") == operation)
        return change(table, {{"pk", *record.find("pk")}}, update);
    FAIL() << "there is no record of " << operation;
  }
  void spoil_email(const std::string& id) {
    change(tables_.emails, {{"Id", id}, {"Status", "_META"}}, "SET Version = ListedAt");
  }
  void put_into_mailbox(const std::string& id) {
    const base::TimePoint later = clock().now() + std::chrono::hours(1);
    const auto path =
        ledger_.spool().write({outbox::SpoolKind::message, id, clock().now(), "Subject: x\r\n\r\n", later});
    outbox::MailboxEntry entry;
    entry.id = id;
    entry.accepted = entry.received = clock().now();
    entry.recipients = {"ann@example.com"};
    ASSERT_TRUE(mailbox_.put(entry, path.value(), later));
  }
  static std::string report_about(const std::string& id) {
    return "From: MAILER-DAEMON@mx.example.net\r\nTo: shop@example.com\r\nMIME-Version: 1.0\r\n"
           "Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\r\n"
           "--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.net\r\n\r\n"
           "Final-Recipient: rfc822; ann@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n"
           "--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <" +
           id + "@postino.localhost>\r\n\r\n--b--\r\n";
  }
};

TEST_F(RestUnreadable, ABounceOfAnEmailThatCannotBeRead) {
  const std::string id = accept_one();
  spoil_email(id);
  const Headers type{{"Content-Type", "message/rfc822"}};
  const Received refused(begin("POST", "/bounces", report_about(id), type).get());
  EXPECT_EQ(refused.status(), 409);
  EXPECT_EQ(refused.code(), "UNREADABLE_EMAIL");
  EXPECT_THAT(refused.text("/detail"), HasSubstr("Version must be"));
}

TEST_F(RestUnreadable, IdsOfOtherProgramsAreFoundAsTheyAre) {
  for (const std::string& id : {std::string("ABCDEF00-0000-4000-8000-000000000001"), std::string(200, 'X')}) {
    store::PutItemRequest put;
    put.table_name = tables_.emails;
    put.item = {{"Id", id}, {"Status", "_META"}, {"Attributes", item::Map{{"Latest", "FAILED"}}}};
    ASSERT_TRUE(store().put_item(put));
    EXPECT_EQ(get("/emails/" + id).text("/id"), id);
    EXPECT_EQ(call("POST", "/emails/" + id + "/requeue").status(), 204);
    EXPECT_EQ(get("/emails/" + id).text("/status"), "READY");
  }
}

// Callers may not give such a URL. Another program can write one.
TEST_F(RestUnreadable, ACallbackUrlIsShownWithoutUserAndPassword) {
  const std::string id = accept_one();
  store::UpdateItemRequest request;
  request.table_name = tables_.emails;
  request.key = {{"Id", id}, {"Status", "_META"}};
  request.update = "SET CallbackUrl = :url";
  request.placeholders.values = item::Map{{":url", "https://user:hidden-word@hooks.example/x"}};
  ASSERT_TRUE(store().update_item(request));
  const Received shown = get("/emails/" + id);
  EXPECT_EQ(shown.text("/callback/url"), "https://hooks.example/x");
  EXPECT_THAT(shown.response.body, testing::Not(HasSubstr("hidden-word")));
  EXPECT_THAT(get("/emails").response.body, testing::Not(HasSubstr("hidden-word")));
}

// Its record names what cannot be its contents. They are not shown.
TEST_F(RestUnreadable, ContentsThatAreThoseOfAnotherEmail) {
  const std::string id = accept_one();
  const std::string other = accept_one();
  put_into_mailbox(id);
  put_into_mailbox(other);
  store::UpdateItemRequest request;
  request.table_name = tables_.emails;
  request.key = {{"Id", id}, {"Status", "_META"}};
  request.update = "SET Attributes.PayloadFilePath = :path, Attributes.EmlFilePath = :path";
  request.placeholders.values = item::Map{{":path", get("/emails/" + other).text("/payload_path")}};
  ASSERT_TRUE(store().update_item(request));
  request.table_name = tables_.mailbox();
  request.key = {{"Mailbox", "message/" + id}, {"Received", "-"}};
  request.update = "SET EmlFilePath = :path";
  ASSERT_TRUE(store().update_item(request));
  for (const std::string& path : {"/emails/" + id + "/payload", "/emails/" + id + "/message", "/mailbox/" + id}) {
    const Received refused = get(path);
    EXPECT_EQ(refused.status(), 409) << path;
    EXPECT_EQ(refused.code(), "UNREADABLE_EMAIL") << path;
    EXPECT_THAT(refused.text("/detail"), HasSubstr("contents of another e-mail")) << path;
  }
  EXPECT_EQ(get("/emails/" + id).status(), 200) << "all else can be seen";
  EXPECT_EQ(get("/emails/" + other + "/payload").status(), 200);
}

TEST_F(RestUnreadable, MailOfATenantInTheSandbox) {
  start_with_keys({"a:operator@acme:secret-of-tenant-a"});
  const Headers a{{"X-API-Key", "secret-of-tenant-a"}};
  const std::string damaged = accept_one("", a);
  const std::string good = accept_one("", a);
  put_into_mailbox(damaged);
  put_into_mailbox(good);
  spoil_email(damaged);
  EXPECT_EQ(get("/mailbox/" + damaged, a).status(), 404);
  const Received page = get("/mailbox", a);
  ASSERT_EQ(page.status(), 200) << page.response.body;
  ASSERT_EQ(page.size("/data"), 1U) << "whose the other one is cannot be told";
  EXPECT_EQ(page.text("/data/0/id"), good);
}

// Whose it is cannot be told, so no tenant learns that it is there.
TEST_F(RestUnreadable, AnEmailThatMayBeAnotherTenants) {
  start_with_keys({"a:operator@acme:secret-of-tenant-a", "b:operator@other:secret-of-tenant-b"});
  const std::string damaged = accept_one("", {{"X-API-Key", "secret-of-tenant-a"}});
  spoil_email(damaged);
  const Headers b{{"X-API-Key", "secret-of-tenant-b"}};
  const std::string absent = "/emails/00000000-0000-4000-8000-000000000000";
  for (const std::string part : {"", "/payload", "/message"}) {
    EXPECT_EQ(get("/emails/" + damaged + part, b).status(), 404) << part;
    EXPECT_EQ(get("/emails/" + damaged + part, b).code(), get(absent + part, b).code()) << part;
  }
  for (const std::string change : {"cancel", "hold", "release", "requeue", "retry"})
    EXPECT_EQ(call("POST", "/emails/" + damaged + "/" + change, "", b).code(), "EMAIL_NOT_FOUND") << change;
}

TEST_F(RestUnreadable, TheRecordOfAnIdempotencyKey) {
  const Headers key{{"Idempotency-Key", "k"}};
  const auto refused = [](const Received& answer) {
    EXPECT_EQ(answer.status(), 409) << answer.response.body;
    EXPECT_EQ(answer.code(), "UNREADABLE_IDEMPOTENCY_RECORD");
    EXPECT_EQ(answer.header("Retry-After"), "") << "to try again does not help";
  };
  ASSERT_EQ(call("POST", "/emails", batch(payload()), key).status(), 201);
  spoil_key(tables_.accept_keys(), "EMAILS", "REMOVE requestHash");
  refused(call("POST", "/emails", batch(payload()), key));

  const std::string produce = R"({"target":{"queueName":"q"},"messages":[{"body":"x"}]})";
  ASSERT_EQ(call("POST", "/messages/produce", produce, key).status(), 200);
  spoil_key("mq-probe-idempotency", "PRODUCE", "SET expiresAt = pk");
  refused(call("POST", "/messages/produce", produce, key));
  EXPECT_EQ(get("/messages/queues/q/depth").number("/depth"), 1);

  const std::string id = accept_one();
  ASSERT_EQ(call("POST", "/emails/" + id + "/hold", "", key).status(), 204);
  spoil_key("mq-probe-idempotency", "POST /emails/{id}/hold", "REMOVE responsePayload");
  refused(call("POST", "/emails/" + id + "/hold", "", key));
}

}  // namespace
}  // namespace postino::api
