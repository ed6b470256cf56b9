#include "messages/queue_rights.h"

#include <gtest/gtest.h>

namespace postino::messages {
namespace {

const QueueRights& rights() {
  static const QueueRights rights(
      {.grants = {{"north", "main", "orders"}, {"north", "main", "north.*"}, {"south", "", "outgoing-mail"}},
       .default_connection = "development",
       .embedded_connections = {"development"}});
  return rights;
}

// The name, or "forbidden".
std::string name(const QueueRights& rights, const std::string& tenant, const std::string& connection,
                 const std::string& queue) {
  const auto found = rights.name_of_queue(tenant, {connection, std::nullopt}, queue);
  if (found) return *found;
  EXPECT_EQ(found.error().kind, FaultKind::forbidden);
  return "forbidden";
}

TEST(QueueRights, WithoutATenantAllQueuesAreThere) {
  for (const char* connection : {"", "embedded", "main"}) {
    EXPECT_EQ(name(rights(), "", connection, "orders"), "orders");
    EXPECT_EQ(name(rights(), "", connection, "north/orders"), "north/orders");
  }
}

TEST(QueueRights, ATenantHasQueuesOfItsOwnInTheStore) {
  for (const char* connection : {"", "embedded", "development"}) {
    EXPECT_EQ(name(rights(), "north", connection, "orders"), "north/orders");
    EXPECT_EQ(name(rights(), "south", connection, "orders"), "south/orders");
    EXPECT_EQ(name(rights(), "north", connection, "south/orders"), "north/south/orders");
  }
}

TEST(QueueRights, WhatIsGivenToATenantHasItsOwnName) {
  for (const char* connection : {"", "embedded", "development"}) {
    EXPECT_EQ(name(rights(), "south", connection, "outgoing-mail"), "outgoing-mail");
    EXPECT_EQ(name(rights(), "south", connection, "outgoing-mail.dead"), "outgoing-mail.dead");
    EXPECT_EQ(name(rights(), "north", connection, "outgoing-mail"), "north/outgoing-mail");
  }
}

TEST(QueueRights, InTheStoreNamesAreShorterByThatOfTheTenant) {
  const auto rule = [](const std::string& tenant, const std::string& connection, std::size_t bytes) {
    const auto found = rights().name_of_queue(tenant, {connection, std::nullopt}, std::string(bytes, 'q'));
    if (found) return std::string("fine");
    EXPECT_EQ(found.error().kind, FaultKind::invalid);
    return found.error().message;
  };
  for (const char* connection : {"", "embedded", "development"}) {
    EXPECT_EQ(rule("", connection, 250), "fine");
    EXPECT_EQ(rule("", connection, 251), "target.queueName must have at most 250 bytes in the store");
    EXPECT_EQ(rule("alpha", connection, 244), "fine");
    EXPECT_EQ(rule("alpha", connection, 245), "target.queueName must have at most 244 bytes in the store");
  }
  EXPECT_EQ(rule("", "main", 255), "fine");
}

TEST(QueueRights, OnABrokerATenantHasWhatIsGivenToIt) {
  EXPECT_EQ(name(rights(), "north", "main", "orders"), "orders");
  EXPECT_EQ(name(rights(), "north", "main", "north.returns"), "north.returns");
  for (const char* queue : {"orders.dead", "orders2", "north", "south.returns", "*"})
    EXPECT_EQ(name(rights(), "north", "main", queue), "forbidden") << queue;
  EXPECT_EQ(name(rights(), "south", "main", "orders"), "forbidden");
  EXPECT_TRUE(rights().check_place("north", {"main", std::nullopt}));
  EXPECT_FALSE(rights().check_place("south", {"main", std::nullopt}));
}

TEST(QueueRights, ATenantDescribesBrokersWhereThatIsAllowed) {
  const Place described{"", QueueManager{.endpoints = {{"broker.example", 5672}}}};
  const auto refused = rights().name_of_queue("north", described, "orders");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, FaultKind::forbidden);
  EXPECT_TRUE(rights().name_of_queue("", described, "orders"));
  const QueueRights allowing({.tenants_describe_brokers = true});
  EXPECT_EQ(*allowing.name_of_queue("north", described, "orders"), "orders");
}

}  // namespace
}  // namespace postino::messages
