#include "outbox/email/message_id.h"

#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

TEST(MessageId, HasTheConfiguredDomainOrTheSenders) {
  EXPECT_EQ(message_id_of("17", "ann@shop.example", "mail.example").value_or("-"), "17@mail.example");
  EXPECT_EQ(message_id_of("17", "ann@shop.example", "").value_or("-"), "17@shop.example");
}

TEST(MessageId, IsAsciiWhateverTheSenderIs) {
  EXPECT_EQ(message_id_of("17", "zoë@müller.example", "").value_or("-"), "17@xn--mller-kva.example");
  EXPECT_FALSE(message_id_of("17", "ann@\xFF.example", ""));
}

}  // namespace
}  // namespace postino::outbox
