#include "app/console/suggestion.h"

#include <gtest/gtest.h>

namespace postino::app {
namespace {

const std::vector<std::string> known_commands = {"serve", "send", "emails", "messages", "config"};

TEST(Suggestion, IsTheClosestName) {
  EXPECT_EQ(closest("sned", known_commands), "send");
  EXPECT_EQ(closest("email", known_commands), "emails");
  EXPECT_EQ(closest("sevre", known_commands), "serve");
}

TEST(Suggestion, IsNoneWhenNothingIsClose) {
  EXPECT_EQ(closest("tables", known_commands), "");
  EXPECT_EQ(closest("", known_commands), "");
  EXPECT_EQ(closest("x", known_commands), "");
  EXPECT_EQ(closest(std::string(10'000, 's'), known_commands), "");
}

TEST(Suggestion, IsAQuestion) {
  EXPECT_EQ(did_you_mean("sned", known_commands), "; did you mean send?");
  EXPECT_EQ(did_you_mean("nothing", known_commands), "");
}

}  // namespace
}  // namespace postino::app
