#include "metrics/figures/figure_items.h"

#include <gmock/gmock.h>

#include "access/caller_scope.h"

namespace postino::metrics {
namespace {

TEST(FigureNames, AreThoseOfTheCallersTenant) {
  EXPECT_EQ(figure_name("north", "sent"), "TENANT#north#sent") << "counters work for all";
  const access::CallerScope scope("north", "");
  EXPECT_EQ(figure_name("north", "sent"), "TENANT#north#sent");
  for (const std::string_view tenant : {"", "south", "*"}) {
    EXPECT_THROW(figure_name(tenant, "sent"), access::ScopeFault);
    EXPECT_THROW(history_name(tenant, "emails", Unit::hours, base::TimePoint()), access::ScopeFault);
  }
}

}  // namespace
}  // namespace postino::metrics
