// What the audit has of calls of the REST API, and how it is read.
#include "access/audit_log.h"
#include "api/route_list.h"
#include "base/hash.h"
#include "rest_fixture.h"

namespace postino::api {
namespace {

using access::AuditEvent;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Keeps what it is told, and cannot write when it is told so.
class ListedAudit final : public access::Audit {
 public:
  void note(AuditEvent event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  using Audit::record;
  void record(AuditEvent event, Done done) override {
    if (is_full) return done(base::fail(base::ErrorCode::exhausted, "the disk is full"));
    note(std::move(event));
    done({});
  }
  // "ACTOR ACTION SUBJECT RESULT DETAIL"
  std::vector<std::string> told() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> texts;
    for (const AuditEvent& each : std::exchange(events_, {}))
      texts.push_back(each.actor + " " + each.action + " " + each.subject + " " + std::string(each.result) +
                      (each.detail.empty() ? "" : " " + each.detail));
    return texts;
  }
  std::atomic<bool> is_full = false;

 private:
  std::mutex mutex_;
  std::vector<AuditEvent> events_;
};

class AuditOfCalls : public Rest {
 protected:
  AuditOfCalls() {
    ApiOptions options;
    for (const char* const key :
         {"boss:operator:secret-of-the-boss", "shop:sender@north:secret-of-the-shop", "eve:reader:secret-of-eve-here"})
      options.keys.push_back(parse_api_key(key).value());
    options.audit = &audit_;
    start(std::move(options));
  }
  ~AuditOfCalls() override { start({}); }  // the API goes before its audit

  static Headers by(const std::string& who) { return {{"X-API-Key", "secret-of-" + who}}; }

  ListedAudit audit_;
};

TEST_F(AuditOfCalls, ADecisionIsTold) {
  const std::string id = accept_one("", by("the-boss"));
  EXPECT_THAT(audit_.told(), IsEmpty()) << "it is no decision of a person";
  ASSERT_EQ(call("POST", "/emails/" + id + "/hold", "", by("the-boss")).status(), 204);
  ASSERT_EQ(call("POST", "/emails/" + id + "/release", "", by("the-boss")).status(), 204);
  ASSERT_EQ(call("POST", "/emails/" + id + "/cancel", "", by("the-boss")).status(), 204);
  EXPECT_EQ(get("/emails/" + id, by("the-boss")).status(), 200);
  EXPECT_THAT(audit_.told(), ElementsAre("boss holdEmail " + id + " allowed", "boss releaseEmail " + id + " allowed",
                                         "boss cancelEmail " + id + " allowed"));
}

TEST_F(AuditOfCalls, ARefusalIsTold) {
  EXPECT_EQ(call("POST", "/emails/7/hold", "", by("the-shop")).status(), 403);
  EXPECT_EQ(call("POST", "/emails/7/hold", "", by("nobody-at-all")).status(), 401);
  EXPECT_EQ(call("POST", "/emails", batch(payload()), by("eve-here")).status(), 403);
  EXPECT_THAT(audit_.told(), ElementsAre("shop holdEmail 7 refused FORBIDDEN", " holdEmail 7 refused UNAUTHENTICATED"));
}

TEST_F(AuditOfCalls, WhatCameToNothingIsTold) {
  EXPECT_EQ(call("POST", "/emails/7/hold", "", by("the-boss")).status(), 404);
  EXPECT_THAT(audit_.told(), ElementsAre("boss holdEmail 7 allowed", "boss holdEmail 7 failed EMAIL_NOT_FOUND"));
}

TEST_F(AuditOfCalls, NothingIsDoneWithoutIt) {
  const std::string id = accept_one("", by("the-boss"));
  audit_.is_full = true;
  const Received refused = call("POST", "/emails/" + id + "/cancel", "", by("the-boss"));
  EXPECT_EQ(refused.status(), 503);
  EXPECT_THAT(refused.text("/detail"), HasSubstr("audit"));
  EXPECT_EQ(get("/emails/" + id, by("the-boss")).text("/status"), "ACCEPTED");
}

TEST_F(AuditOfCalls, AddressesArePeoples) {
  ASSERT_EQ(call("PUT", "/suppressions/ann@example.com", R"({"reason":"x"})", by("the-boss")).status(), 204);
  // SHA-256 of the address.
  EXPECT_THAT(audit_.told(), ElementsAre("boss suppressAddress sha256:" +
                                         base::to_hex(base::sha256("ann@example.com")).substr(0, 16) + " allowed"));
}

TEST(AuditedRoutes, AreAllThatChangeSomethingByTheRightToOperateOrToApprove) {
  std::set<std::string_view> left_out;
  for (const Route& route : all_routes()) {
    const bool by_right = route.operation.right == Right::operate || route.operation.right == Right::approve_reminders;
    if (by_right && route.operation.method != "GET" && !is_audited(route)) left_out.insert(route.operation.id);
  }
  EXPECT_THAT(left_out, ElementsAre("takeBounce", "testConnection"));
  for (const std::string_view id : {"approveDraft", "approveAndSend", "rejectDraft", "eraseCustomer", "exportCustomer",
                                    "cancelEmail", "requeueEmail", "endOwnSession", "endSessions"})
    EXPECT_TRUE(std::ranges::any_of(all_routes(), [&](const Route& route) {
      return route.operation.id == id && is_audited(route);
    })) << id;
}

class AuditRoutes : public Rest {
 protected:
  AuditRoutes() {
    EXPECT_TRUE(access::prepare_audit(store(), {}));
    log_ = std::make_unique<access::AuditLog>(store(), access::AuditOptions(), clock(), random_);
    ApiOptions options;
    for (const char* const key : {"boss:operator:secret-of-the-boss", "nora:operator@north:secret-of-nora-north",
                                  "ada:auditor:secret-of-ada-here"})
      options.keys.push_back(parse_api_key(key).value());
    options.audit = log_.get();
    options.audit_reader = &reader_;
    start(std::move(options));
  }
  ~AuditRoutes() override { start({}); }

  static Headers by(const std::string& who) { return {{"X-API-Key", "secret-of-" + who}}; }

  std::unique_ptr<access::AuditLog> log_;
  access::AuditReader reader_{store(), "postino-audit", clock(), retry_};
};

TEST_F(AuditRoutes, EntriesAreListedForThoseWhoMaySeeThem) {
  for (const char* const who : {"the-boss", "nora-north"})
    EXPECT_EQ(call("POST", "/emails/7/hold", "", by(who)).status(), 404);
  log_->stop();
  const Received all = get("/audit?action=hold&result=allowed", by("ada-here"));
  ASSERT_EQ(all.status(), 200) << all.response.body;
  ASSERT_EQ(all.size("/data"), 2U);
  EXPECT_EQ(all.text("/data/0/actor"), "nora");
  EXPECT_EQ(all.text("/data/0/tenant"), "north");
  EXPECT_EQ(all.text("/data/1/actor"), "boss");
  EXPECT_EQ(all.text("/data/1/subject"), "7");
  const Received of_tenant = get("/audit", by("nora-north"));
  EXPECT_EQ(of_tenant.size("/data"), 2U) << of_tenant.response.body;
  EXPECT_EQ(get("/audit?result=perhaps", by("the-boss")).status(), 400);
  EXPECT_EQ(get("/audit?cursor=nonsense", by("the-boss")).status(), 400);
}

TEST_F(AuditRoutes, AVerificationTellsHeadsAndFaults) {
  EXPECT_EQ(call("POST", "/emails/7/hold", "", by("the-boss")).status(), 404);
  log_->stop();
  const Received intact = get("/audit/verification", by("ada-here"));
  ASSERT_EQ(intact.status(), 200) << intact.response.body;
  EXPECT_TRUE(intact.at("/intact").boolean().value());
  EXPECT_EQ(intact.number("/entries"), 3);
  const std::string head = intact.text("/heads/0");
  EXPECT_EQ(get("/audit/verification?known=" + head, by("ada-here")).size("/faults"), 0U);
  std::string other = head;
  other.back() = other.back() == '0' ? '1' : '0';
  const Received changed = get("/audit/verification?known=" + other, by("ada-here"));
  EXPECT_FALSE(changed.at("/intact").boolean().value());
  EXPECT_EQ(changed.number("/faults/0/number"), 3);
  EXPECT_EQ(get("/audit/verification?known=nonsense", by("ada-here")).status(), 400);
  EXPECT_EQ(get("/audit/verification", by("nora-north")).status(), 403);
}

TEST_F(AuditOfCalls, AServerWithoutAnAuditSaysSo) {
  const Received none = get("/audit", by("the-boss"));
  EXPECT_EQ(none.status(), 404);
  EXPECT_EQ(none.code(), "NO_AUDIT");
  EXPECT_EQ(get("/audit/verification", by("the-boss")).status(), 404);
}

}  // namespace
}  // namespace postino::api
