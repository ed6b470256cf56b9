#include "broker/queue_address.h"

#include <gtest/gtest.h>

namespace postino::broker {
namespace {

std::string address(std::string_view queue, AddressStyle style, std::string_view prefix = "") {
  const auto made = queue_address(queue, style, prefix);
  return made ? *made : "refused";
}

Peer peer(const std::string& product, const std::string& version) {
  Peer made;
  made.product = product;
  made.version = version;
  return made;
}

TEST(QueueAddress, IsWrittenAsTheBrokerWantsIt) {
  EXPECT_EQ(address("orders", AddressStyle::rabbitmq), "/amq/queue/orders");
  EXPECT_EQ(address("orders", AddressStyle::rabbitmq_declare), "/queue/orders");
  EXPECT_EQ(address("orders", AddressStyle::rabbitmq_4), "/queues/orders");
  EXPECT_EQ(address("orders", AddressStyle::bare), "orders");
  EXPECT_EQ(address("orders", AddressStyle::bare, "queue://"), "queue://orders");
}

TEST(QueueAddress, EscapesOddCharacters) {
  EXPECT_EQ(address("a/b c%41", AddressStyle::rabbitmq), "/amq/queue/a%2Fb c%41");
  EXPECT_EQ(address("a/b c%41ü", AddressStyle::rabbitmq_4), "/queues/a%2Fb%20c%2541%C3%BC");
  // Each byte of the name is a character there.
  EXPECT_EQ(address("\xC3\xBC", AddressStyle::rabbitmq), "/amq/queue/\xC3\x83\xC2\xBC");
  EXPECT_EQ(address("a/ü", AddressStyle::bare), "a/ü");
}

TEST(QueueAddress, RefusesWhatIsNoName) {
  for (const AddressStyle style : {AddressStyle::rabbitmq, AddressStyle::rabbitmq_4, AddressStyle::bare}) {
    EXPECT_EQ(address("", style), "refused");
    EXPECT_EQ(address(std::string(256, 'a'), style), "refused");
    EXPECT_EQ(address("a\nb", style), "refused");
    EXPECT_EQ(address(std::string("a\0b", 3), style), "refused");
    EXPECT_EQ(address("\x7F", style), "refused");
    EXPECT_EQ(address("\xFF", style), "refused");
    EXPECT_NE(address(std::string(255, 'a'), style), "refused");
  }
  EXPECT_EQ(address("a%2Fb", AddressStyle::rabbitmq), "refused");
  EXPECT_EQ(address("a%2Fb", AddressStyle::rabbitmq_4), "/queues/a%252Fb");
}

TEST(QueueAddress, FollowsWhatTheBrokerSaysItIs) {
  const auto chosen = [](const Peer& broker) { return choose_style(AddressStyle::automatic, broker); };
  EXPECT_EQ(chosen(peer("RabbitMQ", "3.10.8")), AddressStyle::rabbitmq);
  EXPECT_EQ(chosen(peer("RabbitMQ", "")), AddressStyle::rabbitmq);
  EXPECT_EQ(chosen(peer("RabbitMQ", "4.0.5")), AddressStyle::rabbitmq_4);
  EXPECT_EQ(chosen(peer("RabbitMQ", "10.1")), AddressStyle::rabbitmq_4);
  EXPECT_EQ(chosen(peer("apache-activemq-artemis", "2.31.0")), AddressStyle::bare);
  EXPECT_EQ(chosen(peer("", "")), AddressStyle::bare);
  EXPECT_EQ(choose_style(AddressStyle::bare, peer("RabbitMQ", "3.10.8")), AddressStyle::bare);
}

}  // namespace
}  // namespace postino::broker
