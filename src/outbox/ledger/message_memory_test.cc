#include "outbox/ledger/message_memory.h"

#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

constexpr std::size_t megabyte = 1 << 20;

class MessageMemoryTest : public testing::Test {
 protected:
  MessageRoom room() { return MessageRoom(&memory_); }
  MessageRoom taken(std::size_t bytes) {
    MessageRoom room(&memory_);
    EXPECT_TRUE(room.take(bytes));
    return room;
  }

  const std::shared_ptr<base::MemoryBudget> budget_ = std::make_shared<base::MemoryBudget>(10 * megabyte);
  MessageMemory memory_{budget_};
};

TEST_F(MessageMemoryTest, RoomIsGivenBackWhenItGoes) {
  {
    MessageRoom first = taken(6 * megabyte);
    EXPECT_EQ(budget_->taken(), 6 * megabyte);
    MessageRoom moved = std::move(first);
    EXPECT_EQ(moved.bytes(), 6 * megabyte);
    moved.shrink_to(2 * megabyte);
    EXPECT_EQ(budget_->taken(), 2 * megabyte);
    EXPECT_TRUE(moved.take(8 * megabyte)) << "in all";
    EXPECT_EQ(budget_->taken(), 8 * megabyte);
  }
  EXPECT_EQ(budget_->taken(), 0U);
}

TEST_F(MessageMemoryTest, WhoFindsNoRoomHasNothingAndWaitsForAllItNeeds) {
  MessageRoom first = taken(6 * megabyte);
  MessageRoom second = taken(1 * megabyte);
  EXPECT_FALSE(second.take(5 * megabyte));
  EXPECT_EQ(second.bytes(), 0U) << "two that wait for each other would wait for ever";
  EXPECT_TRUE(second.is_waiting());
  EXPECT_FALSE(second.has_come());
  EXPECT_EQ(memory_.waiting(), 1U);
  EXPECT_EQ(budget_->refused(), 1U);

  first.shrink_to(5 * megabyte);
  EXPECT_TRUE(second.has_come());
  EXPECT_TRUE(second.take(1 * megabyte)) << "it begins as it did before";
  EXPECT_EQ(second.bytes(), 5 * megabyte);
  EXPECT_FALSE(second.is_waiting());
  EXPECT_EQ(memory_.waiting(), 0U);
}

TEST_F(MessageMemoryTest, LargeOnesHaveTheirTurnInTheOrderTheyCame) {
  MessageRoom first = taken(6 * megabyte);
  MessageRoom second = room();
  MessageRoom third = room();
  EXPECT_FALSE(second.take(8 * megabyte));
  EXPECT_FALSE(third.take(3 * megabyte)) << "it would fit, but the second one would never come";
  EXPECT_FALSE(room().try_take(3 * megabyte)) << "nor is a caller let past them that does not wait";
  first = {};
  EXPECT_FALSE(third.has_come());
  EXPECT_TRUE(second.take(8 * megabyte));
  second = {};
  EXPECT_TRUE(third.take(3 * megabyte));
}

TEST_F(MessageMemoryTest, WhoGoesAwayIsWaitedForByNobody) {
  MessageRoom first = taken(6 * megabyte);
  MessageRoom second = room();
  MessageRoom third = room();
  EXPECT_FALSE(second.take(8 * megabyte));
  EXPECT_FALSE(third.take(3 * megabyte));
  second = {};
  EXPECT_TRUE(third.has_come());
  EXPECT_EQ(memory_.waiting(), 1U);
}

TEST_F(MessageMemoryTest, SmallOnesDoNotWait) {
  MessageRoom large = taken(10 * megabyte);
  MessageRoom waiting = room();
  EXPECT_FALSE(waiting.take(2 * megabyte));
  MessageRoom small = taken(MessageMemory::small);
  MessageRoom request = room();
  EXPECT_TRUE(request.try_take(MessageMemory::small));
  EXPECT_EQ(budget_->taken(), 10 * megabyte + 2 * MessageMemory::small) << "they are counted";
}

TEST_F(MessageMemoryTest, OneThatIsLargerThanTheLimitHasItsTurnAlone) {
  MessageRoom small = taken(1'000);
  MessageRoom other = taken(1 * megabyte);
  MessageRoom largest = room();
  EXPECT_FALSE(largest.take(30 * megabyte));
  other = {};
  EXPECT_TRUE(largest.take(30 * megabyte)) << "small ones do not keep it back";
  MessageRoom next = room();
  EXPECT_FALSE(next.take(1 * megabyte));
  EXPECT_FALSE(room().try_take(1 * megabyte));
  largest = {};
  EXPECT_TRUE(next.take(1 * megabyte));
}

TEST_F(MessageMemoryTest, WhoDoesNotWaitIsRefusedAndKeepsWhatItHas) {
  MessageRoom first = taken(6 * megabyte);
  MessageRoom request = room();
  EXPECT_TRUE(request.try_take(2 * megabyte));
  EXPECT_FALSE(request.try_take(5 * megabyte));
  EXPECT_EQ(request.bytes(), 2 * megabyte);
  EXPECT_FALSE(request.is_waiting());
  EXPECT_EQ(budget_->refused(), 1U);
}

TEST_F(MessageMemoryTest, WithoutMemoryThereIsNoLimit) {
  MessageRoom room;
  EXPECT_TRUE(room.take(std::size_t{1} << 40U));
  EXPECT_TRUE(room.try_take(std::size_t{1} << 40U));
  EXPECT_FALSE(room.is_waiting());
  EXPECT_FALSE(room.has_come());
}

}  // namespace
}  // namespace postino::outbox
