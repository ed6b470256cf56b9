#include "outbox/transport/trouble_log.h"

#include <gmock/gmock.h>

namespace postino::outbox {
namespace {

TEST(TroubleLog, HasNoAddresses) {
  EXPECT_EQ(without_addresses("550 5.1.1 <ada@example.org>: user unknown (ada@example.org)"),
            "550 5.1.1 <(address)>: user unknown ((address))");
  EXPECT_EQ(without_addresses("550 <\"a b\"@example.org> is gone"), "550 <(address)> is gone");
  EXPECT_EQ(without_addresses("\"@example.org"), "(address)");
  EXPECT_EQ(without_addresses("to jürgen\uFF20müller.example"), "to (address)");
  EXPECT_EQ(without_addresses("to ada=40private.example"), "to (address)");
  EXPECT_EQ(without_addresses("421 4.3.2 not now"), "421 4.3.2 not now");
}

}  // namespace
}  // namespace postino::outbox
