// What handlers would get that forgot whose call it is, or took another tenant for the caller's: nothing.
#include "access/caller_scope.h"

#include "rest_fixture.h"

namespace postino::api {
namespace {

using access::CallerScope;
using access::ScopeFault;

class ScopeOfCalls : public Rest {
 protected:
  ScopeOfCalls() {
    start_with_keys({"n:operator@north:secret-of-north-000", "s:operator@south:secret-of-south-000",
                     "c:operator@north/C-1:secret-of-customer-1"});
  }
  const Headers north_{{"X-API-Key", "secret-of-north-000"}};
};

TEST_F(ScopeOfCalls, TheOutboxBelievesNoOtherTenant) {
  const std::string id = accept_one("", north_);
  const CallerScope scope("north", "");
  EXPECT_TRUE(outbox_->show(id, "north"));
  for (const std::string tenant : {"", "south"}) {
    outbox::ListRequest list;
    list.tenant = tenant;
    EXPECT_THROW(static_cast<void>(outbox_->list(list)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->show(id, tenant)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->payload(id, tenant, nullptr)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->message(id, tenant, nullptr)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->cancel(id, tenant, "")), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->retry(id, tenant)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->remove_contents(id, tenant)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->counts(tenant)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->stale(tenant, 1)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->dead_callbacks(tenant, "", 1)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->take_bounce("", tenant)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->suppress(tenant, "a@example.com", "")), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->unsuppress(tenant, "a@example.com")), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->is_suppressed(tenant, "a@example.com")), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->suppressions(tenant, "", 1)), ScopeFault);
    EXPECT_THROW(static_cast<void>(outbox_->accept({}, tenant, std::nullopt, nullptr)), ScopeFault);
  }
}

TEST_F(ScopeOfCalls, QueuesOfOtherTenantsAreNotReached) {
  const CallerScope scope("north", "");
  const messages::Place place;
  EXPECT_TRUE(messages_->depth(place, "orders", "north"));
  EXPECT_THROW(static_cast<void>(messages_->depth(place, "orders")), ScopeFault) << "its tenant has a default";
  EXPECT_THROW(static_cast<void>(messages_->depth(place, "orders", "south")), ScopeFault);
  EXPECT_THROW(static_cast<void>(messages_->test(place)), ScopeFault);
}

// A handler for tickets that looked for e-mails or messages would find none for callers who are bound to a customer.
TEST_F(ScopeOfCalls, OfOneCustomerReachNothingOfTheWholeTenant) {
  const std::string id = accept_one("", north_);
  const CallerScope scope("north", "C-1");
  EXPECT_THROW(static_cast<void>(outbox_->show(id, "north")), ScopeFault);
  EXPECT_THROW(static_cast<void>(outbox_->counts("north")), ScopeFault);
  EXPECT_THROW(static_cast<void>(outbox_->accept({}, "north", std::nullopt, nullptr)), ScopeFault);
  EXPECT_THROW(static_cast<void>(outbox_->suppressions("north", "", 1)), ScopeFault);
  EXPECT_THROW(static_cast<void>(messages_->depth({}, "orders", "north")), ScopeFault);
}

TEST_F(ScopeOfCalls, IsOpenWhileAHandlerRuns) {
  const std::string id = accept_one("", north_);
  bool is_asked = false;
  ledger_.before_move = [&] {
    is_asked = true;
    EXPECT_NO_THROW(CallerScope::check("north"));
    EXPECT_THROW(CallerScope::check("south"), ScopeFault);
    EXPECT_THROW(CallerScope::check(""), ScopeFault);
  };
  EXPECT_EQ(call("POST", "/emails/" + id + "/cancel", "", north_).status(), 204);
  EXPECT_TRUE(is_asked);
}

// As of every other exception.
TEST_F(ScopeOfCalls, AFaultIsAnswered500AndTellsNothing) {
  const std::string id = accept_one("", north_);
  ledger_.before_move = [] { CallerScope::check("south"); };
  const Received answer = call("POST", "/emails/" + id + "/cancel", "", north_);
  ASSERT_EQ(answer.status(), 500);
  EXPECT_EQ(answer.code(), "INTERNAL_ERROR");
  EXPECT_THAT(answer.response.body, testing::Not(testing::HasSubstr("tenant")));
}

}  // namespace
}  // namespace postino::api
