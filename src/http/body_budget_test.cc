#include "http/body_budget.h"

#include <gtest/gtest.h>

#include "http/address_shares.h"

namespace postino::http {
namespace {

constexpr std::size_t megabyte = 1 << 20;
constexpr std::size_t piece = 64 << 10;

// Fills a body piece by piece up to this size; returns what it got.
std::size_t fill(BodyBudget& budget, std::size_t size, AddressShare* address = nullptr) {
  std::size_t held = 0;
  while (held < size && budget.take(piece, held, address)) held += piece;
  return held;
}

TEST(BodyBudget, SilentConnectionsLeaveRoomForOthers) {
  BodyBudget budget(512 * megabyte);
  for (int connection = 0; connection < 11; ++connection) fill(budget, 46 * megabyte);
  EXPECT_GE(fill(budget, 46 * megabyte), 10 * megabyte);
  for (int connection = 0; connection < 100; ++connection) fill(budget, 46 * megabyte);
  EXPECT_LE(budget.taken(), 448 * megabyte + 100 * piece) << "the last eighth is for small bodies";
  EXPECT_EQ(fill(budget, piece), piece);
}

TEST(BodyBudget, NobodyIsLimitedWhereThereIsRoom) {
  BodyBudget budget(512 * megabyte);
  AddressShare address;
  EXPECT_EQ(fill(budget, 46 * megabyte), 46 * megabyte);
  for (int connection = 0; connection < 3; ++connection)
    EXPECT_EQ(fill(budget, 46 * megabyte, &address), 46 * megabyte) << connection;
}

TEST(BodyBudget, OneAddressTakesNoMoreThanHalf) {
  BodyBudget budget(512 * megabyte);
  AddressShare greedy;
  AddressShare other;
  for (int connection = 0; connection < 50; ++connection) fill(budget, 46 * megabyte, &greedy);
  EXPECT_LE(greedy.taken, 256 * megabyte + 50 * piece);
  EXPECT_EQ(fill(budget, 46 * megabyte, &other), 46 * megabyte);
  EXPECT_EQ(fill(budget, piece, &greedy), piece) << "also the greedy one may send small bodies";
}

TEST(BodyBudget, WhatIsRefusedIsNotTaken) {
  BodyBudget budget(1'000);
  AddressShare address;
  EXPECT_TRUE(budget.take(900, 0, &address));
  EXPECT_FALSE(budget.take(101, 0, &address));
  EXPECT_FALSE(budget.take(101, 900, &address));
  EXPECT_EQ(budget.taken(), 900U);
  EXPECT_EQ(address.taken, 900U);
  EXPECT_TRUE(budget.take(100, 900, &address));
  budget.give_back(1'000, &address);
  EXPECT_EQ(budget.taken(), 0U);
  EXPECT_EQ(address.taken, 0U);
}

TEST(AddressShares, ConnectionsOfAnAddressHaveOne) {
  AddressShares shares;
  const auto first = shares.of("192.0.2.1");
  EXPECT_EQ(shares.of("192.0.2.1"), first);
  EXPECT_NE(shares.of("192.0.2.2"), first);
  for (int i = 0; i < 5'000; ++i) shares.of("2001:db8:0:" + std::to_string(i) + "::1");
  EXPECT_EQ(shares.of("192.0.2.1"), first);
}

TEST(AddressShares, AddressesThatOneClientCanChooseHaveOne) {
  AddressShares shares;
  const auto network = shares.of("2001:db8:0:1::1");
  EXPECT_EQ(shares.of("2001:db8:0:1:ffff::2"), network);
  EXPECT_NE(shares.of("2001:db8:0:2::1"), network);
  EXPECT_NE(shares.of("::ffff:192.0.2.1"), shares.of("::ffff:192.0.2.2")) << "they stand for IPv4";
}

}  // namespace
}  // namespace postino::http
