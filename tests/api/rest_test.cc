// The REST API of the outbox.
#include <algorithm>
#include <latch>
#include <set>

#include "api/protocol/schemas.h"
#include "idempotency/key.h"
#include "json/string.h"
#include "rest_fixture.h"

namespace postino::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string uuid_1 = "00000000-0000-4000-8000-000000000001";
const std::string uuid_2 = "00000000-0000-4000-8000-000000000002";

TEST_F(Rest, AcceptedEmailCanBeSeen) {
  const std::string id = accept_one(R"(,"id":")" + uuid_1 + R"(","tags":["a"],"send_at":"2026-02-01T00:00:00+01:00")");
  EXPECT_EQ(id, uuid_1);
  const Received email = get("/emails/" + uuid_1);
  EXPECT_EQ(email.status(), 200);
  EXPECT_EQ(email.text("/status"), "ACCEPTED");
  EXPECT_EQ(email.text("/reason"), "");
  EXPECT_EQ(email.number("/version"), 1);
  EXPECT_EQ(email.text("/created_at"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(email.text("/send_at"), "2026-01-31T23:00:00.000Z");
  EXPECT_EQ(email.text("/from"), "shop@example.com");
  EXPECT_EQ(email.text("/recipients/0/address"), "ann@example.com");
  EXPECT_EQ(email.text("/recipients/0/status"), "pending");
  EXPECT_EQ(email.text("/tags/0"), "a");
  EXPECT_EQ(email.text("/history/0/status"), "ACCEPTED");
  for (const char* absent :
       {"/tenant", "/outcome_unknown", "/held_from", "/callback", "/bounces", "/message_path", "/recipients/0/reply"})
    EXPECT_FALSE(email.has(absent)) << absent;
  const Received stored = get("/emails/" + uuid_1 + "/payload");
  EXPECT_EQ(stored.response.content_type, "application/json");
  EXPECT_EQ(stored.text("/subject"), "Hello");
  EXPECT_EQ(get("/emails/" + uuid_1 + "/message").code(), "MESSAGE_NOT_FOUND") << "not built yet";
}

TEST_F(Rest, AnEmailWhoseRecordCannotBeReadIsRefusedWithTheReason) {
  const std::string id = accept_one();
  store::UpdateItemRequest damage;
  damage.table_name = tables_.emails;
  damage.key = {{"Id", id}, {"Status", "_META"}};
  damage.update = "SET Version = ListedAt";
  ASSERT_TRUE(store().update_item(damage));
  for (const char* path : {"", "/payload", "/message"}) {
    const Received shown = get("/emails/" + id + path);
    EXPECT_EQ(shown.status(), 409) << path;
    EXPECT_EQ(shown.code(), "UNREADABLE_EMAIL") << path;
    EXPECT_THAT(shown.text("/detail"), HasSubstr("Version must be")) << path;
  }
  for (const char* change : {"cancel", "hold", "release", "requeue", "retry"})
    EXPECT_EQ(call("POST", "/emails/" + id + "/" + change).code(), "UNREADABLE_EMAIL") << change;
  EXPECT_EQ(call("POST", "/dead-callbacks/" + id + "/replay").code(), "UNREADABLE_EMAIL");
  EXPECT_EQ(get("/stale-emails").text("/data/0/id"), id);
  EXPECT_EQ(get("/emails/" + uuid_2).status(), 404);
}

TEST_F(Rest, EachElementIsAcceptedOrRefusedForItself) {
  accept_one(R"(,"id":")" + uuid_1 + R"(")");
  const Received some = call("POST", "/emails", batch(payload(R"(,"id":")" + uuid_1 + R"(")") + "," + payload()));
  EXPECT_EQ(some.status(), 200);
  EXPECT_EQ(some.number("/summary/total"), 2);
  EXPECT_EQ(some.number("/summary/successful"), 1);
  EXPECT_EQ(some.number("/summary/failed"), 1);
  EXPECT_EQ(some.text("/results/0/status"), "REJECTED");
  EXPECT_EQ(some.text("/results/0/error/code"), "DUPLICATED_ID");
  EXPECT_EQ(some.text("/results/1/status"), "ACCEPTED");
  EXPECT_FALSE(some.has("/results/1/error"));
  const Received none = call("POST", "/emails", batch(payload(R"(,"id":")" + uuid_1 + R"(")")));
  EXPECT_EQ(none.status(), 422);
  EXPECT_EQ(none.response.content_type, "application/json");
}

TEST_F(Rest, MalformedElementRefusesAllAndNamesEveryField) {
  const Received answer =
      call("POST", "/emails", batch(payload() + "," + R"({"from":"x","to":["ann@example.com",1],"subjekt":""})"));
  EXPECT_EQ(answer.status(), 400);
  EXPECT_EQ(answer.code(), "INVALID_REQUEST");
  std::set<std::string> fields;
  for (const Element error : answer.at("/errors").elements()) fields.emplace(error.member("field")->text().value());
  EXPECT_EQ(fields, (std::set<std::string>{"data[1].from", "data[1].to[1]", "data[1].subject", "data[1].subjekt",
                                           "data[1].body_text"}));
  EXPECT_EQ(get("/emails/counts").number("/total"), 0);
}

TEST_F(Rest, BodyMustBeWhatItIsSaidToBe) {
  EXPECT_EQ(call("POST", "/emails", "{").code(), "MALFORMED_JSON");
  EXPECT_EQ(call("POST", "/emails", "[]").status(), 400);
  EXPECT_EQ(call("POST", "/emails", "{}").text("/errors/0/field"), "data");
  EXPECT_EQ(call("POST", "/emails", R"({"data":[]})").text("/errors/0/field"), "data");
  EXPECT_EQ(call("POST", "/emails", R"({"data":[],"extra":1})").text("/errors/1/field"), "extra");
  EXPECT_EQ(call("POST", "/emails").status(), 400);
  const std::string good = batch(payload());
  EXPECT_EQ(begin("POST", "/emails", good).get().status, 415);
  EXPECT_EQ(begin("POST", "/emails", good, {{"Content-Type", "text/plain"}}).get().status, 415);
  EXPECT_EQ(begin("POST", "/emails", good, {{"Content-Type", "message/rfc822"}}).get().status, 415);
  EXPECT_EQ(call("POST", "/emails", good, {{"Content-Encoding", "gzip"}}).status(), 415);
  EXPECT_EQ(begin("POST", "/emails", good, {{"Content-Type", "Application/JSON ; charset=utf-8"}}).get().status, 201);
}

// What the OpenAPI document says about it.
std::size_t stated_limit(std::string_view schema, std::string_view property) {
  return static_cast<std::size_t>(find_property(schema_named(schema), property)->most.value());
}

TEST_F(Rest, BatchHasTheStatedLimit) {
  std::string payloads = payload();
  for (std::size_t i = 1; i < stated_limit("EmailBatch", "data"); ++i) payloads += "," + payload();
  EXPECT_EQ(call("POST", "/emails", batch(payloads)).status(), 201);
  const Received answer = call("POST", "/emails", batch(payloads + "," + payload()));
  EXPECT_EQ(answer.status(), 400);
  EXPECT_EQ(answer.text("/errors/0/field"), "data");
}

TEST_F(Rest, TextsHaveTheStatedLimits) {
  const std::string id = accept_one();
  const auto held = [&](std::size_t size) {
    return call("POST", "/emails/" + id + "/hold", R"({"reason":")" + std::string(size, 'x') + "\"}").status();
  };
  EXPECT_EQ(held(stated_limit("Reason", "reason") + 1), 400);
  EXPECT_EQ(held(stated_limit("Reason", "reason")), 204);
  const auto with_key = [&](std::size_t size) {
    return call("POST", "/emails", batch(payload()), {{"Idempotency-Key", std::string(size, 'k')}}).status();
  };
  EXPECT_EQ(with_key(idempotency::longest_key + 1), 400);
  EXPECT_EQ(with_key(idempotency::longest_key), 201);
}

TEST_F(Rest, ListIsPagedNewestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(accept_one());
    clock().advance(std::chrono::seconds(1));
  }
  std::vector<std::string> seen;
  std::string cursor;
  do {
    const Received page = get("/emails?limit=2&cursor=" + cursor);
    ASSERT_EQ(page.status(), 200) << page.response.body;
    for (std::size_t i = 0; i < page.size("/data"); ++i)
      seen.push_back(page.text("/data/" + std::to_string(i) + "/id"));
    cursor = page.at("/cursor").is_null() ? "" : page.text("/cursor");
  } while (!cursor.empty());
  std::reverse(ids.begin(), ids.end());
  EXPECT_EQ(seen, ids);
  EXPECT_EQ(get("/emails?from=2026-01-02T03:04:06Z&to=2026-01-02T03:04:08Z").size("/data"), 2U);
  EXPECT_EQ(get("/emails?from=2026-01-02T04:04:09%2B01:00").size("/data"), 1U);
  EXPECT_EQ(get("/emails?status=ACCEPTED").size("/data"), 5U);
  EXPECT_EQ(get("/emails?status=SENT").size("/data"), 0U);
  EXPECT_EQ(get("/invalid-emails").size("/data"), 0U);
  EXPECT_EQ(get("/stale-emails").size("/data"), 0U);
  EXPECT_EQ(get("/dead-callbacks").size("/data"), 0U);
}

TEST_F(Rest, FaultsInTheQueryNameTheParameter) {
  const auto field = [&](const std::string& target) {
    const Received answer = get(target);
    EXPECT_EQ(answer.status(), 400) << target;
    return answer.text("/errors/0/field");
  };
  EXPECT_EQ(field("/emails?limit=0"), "limit");
  EXPECT_EQ(field("/emails?limit=101"), "limit");
  EXPECT_EQ(field("/emails?limit=ten"), "limit");
  EXPECT_EQ(field("/emails?cursor=nonsense"), "cursor");
  EXPECT_EQ(field("/emails?status=sent"), "status");
  EXPECT_EQ(field("/emails?status="), "status");
  EXPECT_EQ(field("/emails?from=yesterday"), "from");
  EXPECT_EQ(field("/emails?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"), "to");
  EXPECT_EQ(field("/emails?stauts=SENT"), "stauts");
  EXPECT_EQ(field("/emails/counts?limit=1"), "limit");
  EXPECT_EQ(field("/suppressions?cursor=nonsense"), "cursor");
  EXPECT_EQ(field("/dead-callbacks?cursor=nonsense"), "cursor");
  EXPECT_EQ(field("/mailbox?cursor=nonsense"), "cursor");
  EXPECT_EQ(field("/health-check?x=1"), "x");
}

TEST_F(Rest, CourseOfAnEmailCanBeChanged) {
  const std::string id = accept_one();
  EXPECT_EQ(call("POST", "/emails/" + id + "/hold", R"({"reason":"wait"})").status(), 204);
  Received email = get("/emails/" + id);
  EXPECT_EQ(email.text("/status"), "HELD");
  EXPECT_EQ(email.text("/held_from"), "ACCEPTED");
  EXPECT_EQ(email.text("/reason"), "wait");
  EXPECT_EQ(call("POST", "/emails/" + id + "/release").status(), 204);
  EXPECT_EQ(get("/emails/" + id).text("/status"), "ACCEPTED");
  EXPECT_EQ(call("POST", "/emails/" + id + "/cancel", "{}").status(), 204);
  EXPECT_EQ(get("/emails/" + id).text("/history/3/status"), "CANCELLED");
  const Received again = call("POST", "/emails/" + id + "/cancel");
  EXPECT_EQ(again.status(), 409);
  EXPECT_EQ(again.code(), "WRONG_STATE");
  EXPECT_THAT(again.text("/detail"), HasSubstr("CANCELLED"));
  EXPECT_EQ(call("POST", "/dead-callbacks/" + id + "/replay").status(), 409);
  const Received counts = get("/emails/counts");
  EXPECT_EQ(counts.number("/counts/CANCELLED"), 1);
  EXPECT_EQ(counts.number("/counts/ACCEPTED"), 0);
  EXPECT_EQ(counts.number("/total"), 1);
  EXPECT_EQ(counts.at("/counts").members().size(), 15U);
}

TEST_F(Rest, UnknownEmailsAreNotFound) {
  for (const char* action : {"/cancel", "/hold", "/release", "/requeue", "/retry"})
    EXPECT_EQ(call("POST", "/emails/" + uuid_2 + action).code(), "EMAIL_NOT_FOUND") << action;
  EXPECT_EQ(get("/emails/" + uuid_2).code(), "EMAIL_NOT_FOUND");
  EXPECT_EQ(get("/emails/" + uuid_2 + "/message").status(), 404);
  EXPECT_EQ(get("/emails/" + uuid_2 + "/payload").status(), 404);
  EXPECT_EQ(get("/emails/" + std::string(3000, 'x')).status(), 404);
  EXPECT_EQ(get("/mailbox/" + uuid_2).code(), "MESSAGE_NOT_FOUND");
  EXPECT_EQ(call("POST", "/dead-callbacks/" + uuid_2 + "/replay").status(), 404);
}

TEST_F(Rest, IdsAreFoundInAnyCase) {
  const std::string id = "abcdef00-0000-4000-8000-000000000001";
  accept_one(R"(,"id":")" + id + R"(")");
  EXPECT_EQ(get("/emails/ABCDEF00-0000-4000-8000-000000000001").text("/id"), id);
}

TEST_F(Rest, ReasonsAreChecked) {
  const std::string cancel = "/emails/" + accept_one() + "/cancel";
  EXPECT_EQ(call("POST", cancel, R"({"reason":1})").text("/errors/0/field"), "reason");
  EXPECT_EQ(call("POST", cancel, R"({"reason":"a\u001bb"})").text("/errors/0/field"), "reason");
  EXPECT_EQ(call("POST", cancel, R"({"raeson":"x"})").text("/errors/0/field"), "raeson");
  EXPECT_EQ(call("POST", cancel, R"({"reason":")" + std::string(1001, 'x') + R"("})").status(), 400);
  EXPECT_EQ(begin("POST", cancel, "reason=x", {{"Content-Type", "application/x-www-form-urlencoded"}}).get().status,
            415);
}

TEST_F(Rest, SuppressionsComeAndGo) {
  EXPECT_EQ(call("PUT", "/suppressions/ann%40example.com", R"({"reason":"asked to"})").status(), 204);
  EXPECT_EQ(call("PUT", "/suppressions/bob@example.com").status(), 204);
  const Received page = get("/suppressions");
  EXPECT_EQ(page.size("/data"), 2U);
  EXPECT_THAT(page.response.body, HasSubstr(R"("address":"ann@example.com","reason":"asked to","since":"2026-01-02T)"));
  EXPECT_EQ(call("DELETE", "/suppressions/ann@example.com").status(), 204);
  EXPECT_EQ(call("DELETE", "/suppressions/ann@example.com").code(), "NOT_SUPPRESSED");
  EXPECT_EQ(call("PUT", "/suppressions/nobody").text("/errors/0/field"), "address");
  EXPECT_EQ(call("PUT", "/suppressions/Ann%20%3Cann@example.com%3E").text("/errors/0/field"), "address");
  EXPECT_EQ(call("DELETE", "/suppressions/" + std::string(3000, 'x')).status(), 404);
}

TEST_F(Rest, SandboxShowsItsMail) {
  const std::string path = ledger_.spool()
                               .write({outbox::SpoolKind::message, uuid_1, clock().now(), "Subject: x\r\n\r\nHello\r\n",
                                       clock().now() + std::chrono::hours(1)})
                               .value();
  outbox::MailboxEntry entry;
  entry.id = uuid_1;
  entry.accepted = clock().now();
  entry.received = clock().now();
  entry.sender = "shop@example.com";
  entry.recipients = {"ann@example.com"};
  entry.subject = "x";
  entry.size = 21;
  ASSERT_TRUE(mailbox_.put(entry, path, clock().now() + std::chrono::hours(1)));
  const Received page = get("/mailbox");
  EXPECT_EQ(page.size("/data"), 1U);
  EXPECT_EQ(page.text("/data/0/to/0"), "ann@example.com");
  EXPECT_EQ(page.text("/data/0/received_at"), "2026-01-02T03:04:05.000Z");
  const Received mail = get("/mailbox/" + uuid_1);
  EXPECT_EQ(mail.response.content_type, "message/rfc822");
  EXPECT_EQ(mail.header("Content-Disposition"), "attachment; filename=\"" + uuid_1 + ".eml\"");
  EXPECT_EQ(mail.response.body, "Subject: x\r\n\r\nHello\r\n");
  EXPECT_EQ(call("DELETE", "/mailbox").number("/removed"), 1);
  EXPECT_EQ(get("/mailbox").size("/data"), 0U);
}

TEST_F(Rest, WithoutSandboxItsPathsAreNotFound) {
  start({}, false);
  EXPECT_EQ(get("/mailbox").code(), "NO_SANDBOX");
  EXPECT_EQ(get("/mailbox/" + uuid_1).code(), "NO_SANDBOX");
  EXPECT_EQ(call("DELETE", "/mailbox").code(), "NO_SANDBOX");
}

std::string delivery_report(const std::string& message_id) {
  return "From: MAILER-DAEMON@mx.example.net\r\nTo: shop@example.com\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\n"
         "Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\r\n"
         "--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n"
         "--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.net\r\n\r\n"
         "Final-Recipient: rfc822; ann@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\n"
         "Diagnostic-Code: smtp; 550 5.1.1 no such user\r\n\r\n"
         "--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <" +
         message_id + ">\r\nSubject: Hello\r\n\r\n--b--\r\n";
}

std::string in_json(const std::string& report) {
  std::string text = R"({"message":)";
  json::append_string(text, report);
  return text + "}";
}

TEST_F(Rest, BouncesAreRecorded) {
  const std::string id = accept_one();
  const std::string report = delivery_report(id + "@postino.localhost");
  const Received taken(begin("POST", "/bounces", report, {{"Content-Type", "message/rfc822"}}).get());
  ASSERT_EQ(taken.status(), 200) << taken.response.body;
  EXPECT_EQ(taken.text("/email_id"), id);
  EXPECT_EQ(taken.text("/bounces/0/recipient"), "ann@example.com");
  EXPECT_EQ(taken.text("/bounces/0/status"), "5.1.1");
  EXPECT_TRUE(taken.at("/bounces/0/permanent").boolean().value());
  EXPECT_EQ(taken.text("/suppressed/0"), "ann@example.com");
  const Received email = get("/emails/" + id);
  EXPECT_EQ(email.text("/bounces/0/status"), "5.1.1");
  EXPECT_EQ(email.text("/history/1/status"), "BOUNCED");
}

TEST_F(Rest, ReportsAboutOthersAndOtherMessagesAreRefused) {
  EXPECT_EQ(call("POST", "/bounces", in_json(delivery_report("somebody@elsewhere.example"))).code(), "UNKNOWN_EMAIL");
  const Headers type{{"Content-Type", "message/rfc822"}};
  EXPECT_EQ(Received(begin("POST", "/bounces", "Subject: hi\r\n\r\nhi\r\n", type).get()).code(),
            "NOT_A_DELIVERY_REPORT");
  EXPECT_EQ(call("POST", "/bounces", "{}").text("/errors/0/field"), "message");
  EXPECT_EQ(begin("POST", "/bounces", "x", {{"Content-Type", "text/plain"}}).get().status, 415);
}

TEST_F(Rest, TenantsDoNotSeeEachOther) {
  start_with_keys(
      {"a:operator@acme:secret-of-tenant-a", "b:operator@bolt:secret-of-tenant-b", "all:operator:secret-of-everyone"});
  const Headers a{{"X-API-Key", "secret-of-tenant-a"}};
  const Headers b{{"X-API-Key", "secret-of-tenant-b"}};
  const Headers all{{"X-API-Key", "secret-of-everyone"}};
  const std::string id = accept_one("", a);
  EXPECT_EQ(get("/emails/" + id, a).text("/tenant"), "acme");
  EXPECT_EQ(get("/emails/" + id, all).status(), 200);
  for (const char* path : {"", "/message", "/payload"}) EXPECT_EQ(get("/emails/" + id + path, b).status(), 404) << path;
  for (const char* action : {"/cancel", "/hold", "/release", "/requeue", "/retry"})
    EXPECT_EQ(call("POST", "/emails/" + id + action, "", b).status(), 404) << action;
  EXPECT_EQ(get("/emails", b).size("/data"), 0U);
  EXPECT_EQ(get("/emails", a).size("/data"), 1U);
  EXPECT_EQ(get("/emails/counts", b).number("/total"), 0);
  EXPECT_EQ(get("/emails/counts", a).number("/total"), 1);
  EXPECT_EQ(call("DELETE", "/mailbox", "", b).status(), 403);
  const Received bounce = call("POST", "/bounces", in_json(delivery_report(id + "@postino.localhost")), b);
  EXPECT_EQ(bounce.code(), "UNKNOWN_EMAIL");
}

TEST_F(Rest, RolesAreEnforced) {
  start_with_keys({"r:reader:secret-of-reader", "s:sender:secret-of-sender"});
  const Headers reader{{"Authorization", "Bearer secret-of-reader"}};
  const Headers sender{{"Authorization", "Bearer secret-of-sender"}};
  EXPECT_EQ(call("POST", "/emails", batch(payload()), reader).status(), 403);
  const std::string id = accept_one("", sender);
  EXPECT_EQ(get("/emails/" + id, reader).status(), 200);
  EXPECT_EQ(call("POST", "/emails/" + id + "/hold", "", sender).status(), 403);
  EXPECT_EQ(call("POST", "/emails/" + id + "/cancel", "", reader).status(), 403);
  EXPECT_EQ(call("POST", "/emails/" + id + "/cancel", "", sender).status(), 204);
  const Received nobody = get("/emails");
  EXPECT_EQ(nobody.status(), 401);
  EXPECT_THAT(nobody.header("WWW-Authenticate"), HasSubstr("Bearer"));
  EXPECT_EQ(get("/health-check").text("/status"), "ok");
  EXPECT_EQ(get("/openapi.json").text("/openapi"), "3.1.0");
}

// --- Keys of requests that change something: what holds for one route holds for all

TEST_F(Rest, ChangeIsMadeOncePerKey) {
  const std::string hold = "/emails/" + accept_one() + "/hold";
  const Headers key{{"Idempotency-Key", "k-1"}};
  const Received first = call("POST", hold, R"({"reason":"wait"})", key);
  EXPECT_EQ(first.status(), 204);
  EXPECT_EQ(first.header("Idempotent-Replayed"), "");
  const Received second = call("POST", hold, R"({"reason":"wait"})", key);
  EXPECT_EQ(second.status(), 204);
  EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(second.response.body, "");
  EXPECT_EQ(second.response.content_type, "");
  EXPECT_EQ(call("POST", hold).status(), 409) << "without the key it is another request";
}

TEST_F(Rest, RepeatedKeyGetsTheBodyAndTheTypeOfTheFirstAnswer) {
  const std::string report = in_json(delivery_report(accept_one() + "@postino.localhost"));
  const Headers key{{"Idempotency-Key", "k-1"}};
  const Received first = call("POST", "/bounces", report, key);
  ASSERT_EQ(first.status(), 200) << first.response.body;
  const Received second = call("POST", "/bounces", report, key);
  EXPECT_EQ(second.status(), 200);
  EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(second.response.content_type, "application/json");
  EXPECT_EQ(second.response.body, first.response.body);
}

TEST_F(Rest, KeyOfAnotherChangeIsRefused) {
  const std::string id = accept_one();
  const Headers key{{"Idempotency-Key", "k-1"}};
  ASSERT_EQ(call("POST", "/emails/" + id + "/hold", R"({"reason":"a"})", key).status(), 204);
  const Received body = call("POST", "/emails/" + id + "/hold", R"({"reason":"b"})", key);
  EXPECT_EQ(body.status(), 422);
  EXPECT_EQ(body.code(), "IDEMPOTENCY_KEY_REUSED");
  EXPECT_EQ(call("POST", "/emails/" + accept_one() + "/hold", R"({"reason":"a"})", key).status(), 422);
  EXPECT_EQ(call("POST", "/emails/" + id + "/release", "", key).status(), 204) << "each route has keys of its own";
}

TEST_F(Rest, KeyOfAChangeThatMayHaveBeenMadeIsNotForOthers) {
  const std::string release = "/emails/" + accept_one() + "/release";
  const Headers key{{"Idempotency-Key", "k-1"}};
  // What is left of a server that ended in the middle.
  ASSERT_TRUE(guard_.begin("POST /emails/{id}/release", "/k-1", "another hash"));
  EXPECT_EQ(call("POST", release, "", key).status(), 422) << "whatever becomes of it, it was another request";
  clock().advance(std::chrono::seconds(31));
  EXPECT_EQ(call("POST", release, "", key).status(), 422) << "it is unknown what it did";
  clock().advance(std::chrono::hours(24));
  EXPECT_EQ(call("POST", release, "", key).code(), "WRONG_STATE") << "it is carried out, and was not held";
}

TEST_F(Rest, SecondOfTwoEqualChangesAtATimeIsTold) {
  const std::string id = accept_one();
  ASSERT_EQ(call("POST", "/emails/" + id + "/hold").status(), 204);
  std::latch working(1);
  std::latch go_on(1);
  wake_ = [&](outbox::Pipeline) {
    working.count_down();
    go_on.wait();
  };
  const Headers key{{"Idempotency-Key", "k-1"}};
  auto first = begin("POST", "/emails/" + id + "/release", "", key);
  working.wait();
  const Received second = call("POST", "/emails/" + id + "/release", "", key);
  EXPECT_EQ(second.status(), 409);
  EXPECT_EQ(second.code(), "IDEMPOTENCY_KEY_IN_PROGRESS");
  EXPECT_EQ(second.header("Retry-After"), "1");
  go_on.count_down();
  EXPECT_EQ(first.get().status, 204);
  EXPECT_EQ(call("POST", "/emails/" + id + "/release", "", key).header("Idempotent-Replayed"), "true");
}

TEST_F(Rest, RefusedChangeLeavesItsKeyFree) {
  const std::string id = accept_one();
  const Headers key{{"Idempotency-Key", "k-1"}};
  EXPECT_EQ(call("POST", "/emails/" + id + "/release", "", key).code(), "WRONG_STATE");
  EXPECT_EQ(call("POST", "/emails/" + uuid_2 + "/release", "", key).code(), "EMAIL_NOT_FOUND");
  EXPECT_EQ(call("POST", "/emails/" + id + "/release", R"({"raeson":""})", key).status(), 400);
  ASSERT_EQ(call("POST", "/emails/" + id + "/hold").status(), 204);
  const Received done = call("POST", "/emails/" + id + "/release", "", key);
  EXPECT_EQ(done.status(), 204);
  EXPECT_EQ(done.header("Idempotent-Replayed"), "");
}

// --- Changes that were made, and whose caller was not told: with the key they can be asked for again

struct LostChange {
  std::string first;  // what has to be done before, if anything
  std::string action;
  std::string status;  // that it leads to
};

TEST_F(Rest, ChangeWhoseAnswerWasLostIsNotMadeAgain) {
  for (const LostChange& change : {LostChange{"", "/hold", "HELD"}, LostChange{"", "/cancel", "CANCELLED"},
                                   LostChange{"/hold", "/release", "ACCEPTED"}}) {
    const std::string id = accept_one();
    const std::string target = "/emails/" + id + change.action;
    const Headers key{{"Idempotency-Key", "k" + change.action}};
    if (!change.first.empty()) {
      ASSERT_EQ(call("POST", "/emails/" + id + change.first).status(), 204);
    }
    ledger_.forgets = true;
    const Received lost = call("POST", target, "", key);
    EXPECT_EQ(lost.status(), 503) << change.action;
    EXPECT_EQ(lost.code(), "OUTCOME_UNKNOWN") << change.action;
    EXPECT_EQ(lost.header("Retry-After"), "1");
    ledger_.forgets = false;
    const Received made = get("/emails/" + id);
    EXPECT_EQ(made.text("/status"), change.status);

    const Received again = call("POST", target, "", key);
    EXPECT_EQ(again.status(), 204) << change.action << " " << again.response.body;
    EXPECT_EQ(get("/emails/" + id).size("/history"), made.size("/history")) << "it was made once";
    EXPECT_EQ(call("POST", target, "", key).header("Idempotent-Replayed"), "true");
  }
}

TEST_F(Rest, ChangeWhoseAnswerWasLostIsNotMadeAgainWhateverHappenedSince) {
  const std::string id = accept_one();
  const Headers key{{"Idempotency-Key", "k"}};
  ledger_.forgets = true;
  EXPECT_EQ(call("POST", "/emails/" + id + "/hold", "", key).status(), 503);
  ledger_.forgets = false;
  ASSERT_EQ(call("POST", "/emails/" + id + "/release").status(), 204);
  EXPECT_EQ(call("POST", "/emails/" + id + "/hold", "", key).status(), 204);
  EXPECT_EQ(get("/emails/" + id).text("/status"), "ACCEPTED") << "it was held, and another client has released it";
}

TEST_F(Rest, AChangeThatTakesLongerThanItsLeaseIsNotMadeAgainMeanwhile) {
  const std::string id = accept_one();
  const Headers key{{"Idempotency-Key", "k"}};
  std::string meanwhile;
  ledger_.before_move = [&] {
    clock().advance(std::chrono::hours(48));
    meanwhile = call("POST", "/emails/" + id + "/hold", "", key).code();
  };
  EXPECT_EQ(call("POST", "/emails/" + id + "/hold", "", key).status(), 204);
  EXPECT_EQ(meanwhile, "IDEMPOTENCY_KEY_IN_PROGRESS");
}

TEST_F(Rest, ChangeThatWasOnlyNotedIsMade) {
  const std::string id = accept_one();
  const Headers key{{"Idempotency-Key", "k"}};
  ASSERT_EQ(call("POST", "/emails/" + id + "/hold").status(), 204);
  ledger_.fails = true;
  EXPECT_EQ(call("POST", "/emails/" + id + "/release", "", key).code(), "STORE_UNAVAILABLE") << "it was not made";
  ledger_.fails = false;
  EXPECT_EQ(get("/emails/" + id).text("/status"), "HELD");
  EXPECT_EQ(call("POST", "/emails/" + id + "/release", "", key).status(), 204);
  EXPECT_EQ(get("/emails/" + id).text("/status"), "ACCEPTED");
}

TEST_F(Rest, BounceWhoseAnswerWasLostIsRecordedOnce) {
  const std::string id = accept_one();
  const std::string report = in_json(delivery_report(id + "@postino.localhost"));
  const Headers key{{"Idempotency-Key", "k"}};
  ledger_.forgets = true;
  EXPECT_EQ(call("POST", "/bounces", report, key).code(), "OUTCOME_UNKNOWN");
  ledger_.forgets = false;
  clock().advance(std::chrono::seconds(1));
  const Received again = call("POST", "/bounces", report, key);
  EXPECT_EQ(again.status(), 200) << again.response.body;
  EXPECT_EQ(again.size("/bounces"), 1U);
  EXPECT_EQ(again.size("/suppressed"), 1U);
  EXPECT_EQ(get("/emails/" + id).size("/bounces"), 1U);
  EXPECT_EQ(call("POST", "/bounces", report).status(), 200);
  EXPECT_EQ(get("/emails/" + id).size("/bounces"), 2U) << "without the key it is another one";
}

TEST_F(Rest, ReplayOfACallbackWhoseAnswerWasLostIsSettledByALook) {
  const std::string id = accept_one();
  give_up_callback(id);
  const std::string replay = "/dead-callbacks/" + id + "/replay";
  const Headers key{{"Idempotency-Key", "k"}};
  ledger_.forgets = true;
  EXPECT_EQ(call("POST", replay, "", key).status(), 204);
  ledger_.forgets = false;
  EXPECT_EQ(get("/dead-callbacks").size("/data"), 0U);
  EXPECT_EQ(call("POST", replay).status(), 409);
  EXPECT_EQ(call("POST", replay, "", key).status(), 204);
}

TEST_F(Rest, KeyOfAChangeIsForgottenWhenItsLifeEnds) {
  const std::string hold = "/emails/" + accept_one() + "/hold";
  ASSERT_EQ(call("POST", hold, "", {{"Idempotency-Key", "k-1"}, {"Idempotency-Expiry-Seconds", "60"}}).status(), 204);
  clock().advance(std::chrono::seconds(59));
  EXPECT_EQ(call("POST", hold, "", {{"Idempotency-Key", "k-1"}}).status(), 204);
  clock().advance(std::chrono::seconds(2));
  EXPECT_EQ(call("POST", hold, "", {{"Idempotency-Key", "k-1"}}).code(), "WRONG_STATE");
}

TEST_F(Rest, KeysOfChangesBelongToTheTenantOrTheApiKey) {
  start_with_keys({"a:operator:secret-of-key-a-", "b:operator:secret-of-key-b-", "t1:operator@t:secret-of-key-t1",
                   "t2:operator@t:secret-of-key-t2", "t:operator:secret-of-key-t-"});
  const std::string hold = "/emails/" + accept_one("", {{"X-API-Key", "secret-of-key-t1"}}) + "/hold";
  const auto holds = [&](const std::string& secret) {
    const Received answer = call("POST", hold, "", {{"Idempotency-Key", "k"}, {"X-API-Key", secret}});
    return answer.header("Idempotent-Replayed") == "true" ? "replayed" : std::to_string(answer.status());
  };
  EXPECT_EQ(holds("secret-of-key-t1"), "204");
  EXPECT_EQ(holds("secret-of-key-t2"), "replayed") << "a tenant's keys are one name space";
  EXPECT_EQ(holds("secret-of-key-a-"), "409");
  EXPECT_EQ(holds("secret-of-key-b-"), "409");
  EXPECT_EQ(holds("secret-of-key-t-"), "409") << "an API key that is called like the tenant";
}

TEST_F(Rest, KeysOfChangesAreChecked) {
  const std::string hold = "/emails/" + accept_one() + "/hold";
  EXPECT_EQ(call("POST", hold, "", {{"Idempotency-Key", ""}}).text("/errors/0/field"), "Idempotency-Key");
  EXPECT_EQ(call("POST", hold, "", {{"Idempotency-Expiry-Seconds", "60"}}).text("/errors/0/field"), "Idempotency-Key");
  EXPECT_EQ(
      call("POST", hold, "", {{"Idempotency-Key", "k"}, {"Idempotency-Expiry-Seconds", "0"}}).text("/errors/0/field"),
      "Idempotency-Expiry-Seconds");
  EXPECT_EQ(call("POST", hold).status(), 204) << "nothing was done";
}

TEST_F(Rest, EveryAnswerHasARequestIdAndIsNotKept) {
  for (const char* target : {"/emails", "/nowhere", "/emails?x=1", "/health-check"}) {
    const Received answer = get(target);
    EXPECT_EQ(answer.header("X-Request-Id").size(), 36U) << target;
    EXPECT_EQ(answer.header("Cache-Control"), "no-store");
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
  }
  const Received own = get("/nowhere", {{"X-Request-Id", "my.id-1_a"}});
  EXPECT_EQ(own.header("X-Request-Id"), "my.id-1_a");
  EXPECT_EQ(own.text("/request_id"), "my.id-1_a");
  for (const std::string& bad : {std::string("a b"), std::string(65, 'x'), std::string("<script>")})
    EXPECT_EQ(get("/nowhere", {{"X-Request-Id", bad}}).header("X-Request-Id").size(), 36U) << bad;
}

TEST_F(Rest, OverloadIsAnsweredAtOnce) {
  std::latch working(1);
  std::latch go_on(1);
  wake_ = [&](outbox::Pipeline) {
    working.count_down();
    go_on.wait();
  };
  ApiOptions options;
  options.threads = 1;
  options.max_waiting = 1;
  start(std::move(options));
  // With a key, because a request without one is accepted on a thread of its own.
  const Headers keyed{{"Content-Type", "application/json"}, {"Idempotency-Key", "k"}};
  auto first = begin("POST", "/emails", batch(payload()), keyed);
  working.wait();
  auto second = begin("GET", "/emails/counts");
  const Received third = get("/emails/counts");
  EXPECT_EQ(third.status(), 503);
  EXPECT_EQ(third.code(), "OVERLOADED");
  EXPECT_EQ(third.header("Retry-After"), "1");
  EXPECT_EQ(get("/health-check").status(), 200) << "what does not wait is answered";
  go_on.count_down();
  EXPECT_EQ(first.get().status, 201);
  EXPECT_EQ(second.get().status, 200);
}

TEST_F(Rest, StopFinishesWhatWasTaken) {
  auto taken = begin("POST", "/emails", batch(payload()), {{"Content-Type", "application/json"}});
  api_->stop();
  EXPECT_EQ(taken.get().status, 201);
  EXPECT_EQ(get("/emails").status(), 503);
}

TEST_F(Rest, CallsAreCounted) {
  get("/emails");
  get("/emails?x=1");
  get("/nowhere");
  std::string text;
  api_->append_metrics(text);
  EXPECT_THAT(text, AllOf(HasSubstr("{method=\"GET\",route=\"/emails\",status=\"2xx\"} 1\n"),
                          HasSubstr("{method=\"GET\",route=\"/emails\",status=\"4xx\"} 1\n"),
                          HasSubstr("{method=\"\",route=\"\",status=\"4xx\"} 1\n"),
                          HasSubstr("postino_api_requests_waiting 0\n")));
}

}  // namespace
}  // namespace postino::api
