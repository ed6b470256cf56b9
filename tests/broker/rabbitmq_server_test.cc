// Which ends of connections the broker itself is to blame for.
#include "rabbitmq_server.h"

#include <gtest/gtest.h>

namespace postino::broker {
namespace {

constexpr const char* beginning =
    "2026-11-16 21:55:25.940+00:00 [warning] <0.3830.0> Connection (<0.3830.0>) closing: internal error in channel "
    "(<0.3836.0>): ";

TEST(OwnBreaks, AreThoseOfAChannelThatIsGone) {
  const std::string own = std::string(beginning) + "noproc";
  EXPECT_EQ(count_own_breaks(own), 1U);
  EXPECT_EQ(count_own_breaks("one line\n" + own + "\nanother line\n" + own + "\n"), 2U);
}

TEST(OwnBreaks, AreNotThoseThatAClientMayHaveProvoked) {
  for (const char* const reason :
       {"{badmatch,{empty,{[],[]}}}", "{{case_clause,drained},[{rabbit_channel,handle_queue_actions,2,[]}]}",
        "{noproc,{gen_server,call,[<0.1.0>,stop]}}", "noprocess", "killed", ""})
    EXPECT_EQ(count_own_breaks(beginning + std::string(reason) + "\n"), 0U) << reason;
  EXPECT_EQ(count_own_breaks(""), 0U);
}

}  // namespace
}  // namespace postino::broker
