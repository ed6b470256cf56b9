#include "access/caller_scope.h"

#include <gmock/gmock.h>

#include <thread>

namespace postino::access {
namespace {

bool may_touch(std::string_view tenant, const std::optional<std::string>& customer = std::nullopt) {
  try {
    CallerScope::check(tenant, customer);
    return true;
  } catch (const ScopeFault&) {
    return false;
  }
}

TEST(CallerScope, WithoutOneEverythingMayBeTouched) {
  EXPECT_TRUE(may_touch(""));
  EXPECT_TRUE(may_touch("north", "C-1"));
}

TEST(CallerScope, OfATenantIsThatTenant) {
  const CallerScope scope("north", "");
  EXPECT_TRUE(may_touch("north"));
  EXPECT_TRUE(may_touch("north", "C-1"));
  EXPECT_FALSE(may_touch("south"));
  EXPECT_FALSE(may_touch("")) << "a tenant that was forgotten";
}

TEST(CallerScope, WithoutATenantIsAll) {
  const CallerScope scope("", "");
  EXPECT_TRUE(may_touch(""));
  EXPECT_TRUE(may_touch("north"));
}

TEST(CallerScope, OfACustomerIsThatCustomer) {
  const CallerScope scope("north", "C-1");
  EXPECT_TRUE(may_touch("north", "C-1"));
  EXPECT_FALSE(may_touch("north", "C-2"));
  EXPECT_FALSE(may_touch("north")) << "a customer that was forgotten";
  EXPECT_FALSE(may_touch("", "C-1"));
}

// Such as e-mails, queues and figures: they are about several customers.
TEST(CallerScope, OfACustomerMayNotTouchWhatBelongsToTheTenantAsAWhole) {
  const CallerScope scope("north", "C-1");
  EXPECT_THROW(CallerScope::check("north"), ScopeFault);
  EXPECT_THROW(CallerScope::check("south"), ScopeFault);
}

TEST(CallerScope, EndsAndBelongsToItsThread) {
  {
    const CallerScope outer("north", "");
    {
      const CallerScope inner("south", "");
      EXPECT_FALSE(may_touch("north"));
    }
    EXPECT_TRUE(may_touch("north"));
    std::thread([] { EXPECT_TRUE(may_touch("south")); }).join();
  }
  EXPECT_TRUE(may_touch("south"));
}

}  // namespace
}  // namespace postino::access
