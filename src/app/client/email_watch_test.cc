#include "app/client/email_watch.h"

#include <gmock/gmock.h>

#include "outbox/outbox.h"

namespace postino::app {
namespace {

using ::testing::ElementsAre;

TEST(EmailWatch, EveryStateIsPendingOrSentOrNotSent) {
  std::vector<std::string> pending;
  std::vector<std::string> sent;
  for (const outbox::State state : outbox::all_states()) {
    const std::string name(name_of(state));
    if (delivery_of(name, false) == Delivery::pending) pending.push_back(name);
    if (delivery_of(name, false) == Delivery::sent) sent.push_back(name);
    EXPECT_EQ(delivery_of(name, true) == Delivery::partly_sent, delivery_of(name, false) == Delivery::sent) << name;
  }
  EXPECT_THAT(pending, ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING"));
  EXPECT_THAT(sent, ElementsAre("SENT", "CALLING-SENT-CALLBACK", "SENT-ACKNOWLEDGED"));
  EXPECT_EQ(delivery_of("HELD", false), Delivery::not_sent) << "somebody has to release it first";
  EXPECT_EQ(delivery_of("OF-ANOTHER-VERSION", false), Delivery::pending);
}

}  // namespace
}  // namespace postino::app
