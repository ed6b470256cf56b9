#include "app/console/suggestion.h"

#include <gtest/gtest.h>

namespace postino::app {
namespace {

const std::vector<std::string> commands = {"serve", "send", "emails", "messages", "config"};

TEST(Suggestion, IsTheClosestName) {
  EXPECT_EQ(closest("sned", commands), "send");
  EXPECT_EQ(closest("email", commands), "emails");
  EXPECT_EQ(closest("severe", commands), "serve");
}

TEST(Suggestion, IsNoneWhenNothingIsClose) {
  EXPECT_EQ(closest("tables", commands), "");
  EXPECT_EQ(closest("", commands), "");
  EXPECT_EQ(closest("x", commands), "");
  EXPECT_EQ(closest(std::string(10'000, 's'), commands), "");
}

TEST(Suggestion, IsAQuestion) {
  EXPECT_EQ(did_you_mean("sned", commands), "; did you mean send?");
  EXPECT_EQ(did_you_mean("nothing", commands), "");
}

}  // namespace
}  // namespace postino::app
