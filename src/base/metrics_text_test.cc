#include "base/metrics_text.h"

#include <gtest/gtest.h>

namespace postino::base {
namespace {

TEST(MetricsText, AMetricHasItsHelpItsTypeAndItsValue) {
  std::string text = "before\n";
  append_metric(text, "postino_things", "gauge", "Things there are.", "3");
  EXPECT_EQ(text, "before\n# HELP postino_things Things there are.\n# TYPE postino_things gauge\npostino_things 3\n");
}

}  // namespace
}  // namespace postino::base
