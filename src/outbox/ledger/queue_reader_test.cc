#include "outbox/ledger/queue_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace postino::outbox {
namespace {

using base::Milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::TimePoint queue_now{Milliseconds(1'794'735'000'000)};

// A queue in memory. The sender of an e-mail is its obstacle, as long as it is closed.
class QueueReaderTest : public testing::Test {
 protected:
  // Due so long ago.
  void put(const std::string& id, const std::string& sender, Milliseconds age = std::chrono::hours(1)) {
    Email email;
    email.id = id;
    email.sender = sender;
    queue_.emplace(std::pair(queue_now - age, id), email);
  }
  void put_many(const std::string& prefix, int count, const std::string& sender) {
    for (int i = 0; i < count; ++i) put(prefix + std::to_string(10'000 + i), sender);
  }
  base::Result<QueuePage> read_page(const QueuePosition& after, int limit) {
    if (is_broken_) return base::fail(base::ErrorCode::io, "the queue is out of order");
    QueuePage page;
    auto entry = queue_.upper_bound(std::pair(after.due, after.id));
    for (; entry != queue_.end() && static_cast<int>(page.entries.size()) < limit; ++entry)
      page.entries.push_back({{entry->first.first, entry->first.second}, entry->second});
    page.is_last = static_cast<int>(page.entries.size()) < limit;
    read_ += static_cast<int>(page.entries.size());
    most_read_at_once_ = std::max(most_read_at_once_, read_);
    return page;
  }
  QueueReader::Chosen choose(int wanted) {
    read_ = 0;
    const Choice choice{[&](const Email& email) -> std::optional<std::string> {
                          if (closed_.contains(email.sender)) return email.sender;
                          if (auto room = room_.find(email.sender); room != room_.end() && room->second-- == 1)
                            closed_.insert(email.sender);
                          return std::nullopt;
                        },
                        [&](const std::string& sender) { return !closed_.contains(sender); }};
    auto chosen = reader_.choose(
        wanted, choice, [&](const QueuePosition& after, int limit) { return read_page(after, limit); }, queue_now);
    EXPECT_TRUE(chosen);
    return chosen ? *std::move(chosen) : QueueReader::Chosen();
  }
  // The ids of what a call finds; it is gone from the queue then.
  std::vector<std::string> take(int wanted) {
    std::vector<std::string> ids;
    more_ = false;
    const QueueReader::Chosen chosen = choose(wanted);
    more_ = chosen.more;
    for (const Email& email : chosen.emails) {
      ids.push_back(email.id);
      std::erase_if(queue_, [&](const auto& entry) { return entry.second.id == email.id; });
    }
    return ids;
  }
  // Calls until there is nothing more to look at.
  std::vector<std::string> take_all(int wanted) {
    std::vector<std::string> all;
    do {
      for (std::string& id : take(wanted)) all.push_back(std::move(id));
    } while (more_);
    return all;
  }

  std::map<std::pair<base::TimePoint, std::string>, Email> queue_;
  std::set<std::string> closed_;
  std::map<std::string, int> room_;  // so many more of a sender, then it is closed
  bool is_broken_ = false;
  bool more_ = false;
  int read_ = 0;
  int most_read_at_once_ = 0;
  QueueReader reader_{std::chrono::hours(1)};
};

TEST_F(QueueReaderTest, FindsWhatIsWantedOldestFirst) {
  put("1", "a", Milliseconds(3));
  put("2", "b", Milliseconds(2));
  put("3", "a", Milliseconds(1));
  EXPECT_THAT(take(2), ElementsAre("1", "2"));
  EXPECT_TRUE(more_);
  EXPECT_THAT(take(2), ElementsAre("3"));
  EXPECT_FALSE(more_);
  EXPECT_THAT(take(2), IsEmpty());
}

TEST_F(QueueReaderTest, BehindManyThatMustWaitOthersAreFoundAtABoundedCost) {
  put_many("slow", 5'000, "slow");
  put("x", "fast", Milliseconds(500));
  closed_ = {"slow"};
  EXPECT_THAT(take_all(25), ElementsAre("x"));
  EXPECT_LE(most_read_at_once_, 600);
  put("y", "fast", Milliseconds(400));
  EXPECT_THAT(take(25), ElementsAre("y"));
  EXPECT_LE(read_, 5) << "what was passed over is not read again";
}

TEST_F(QueueReaderTest, WhatWasPassedOverIsTakenInItsOrderWhenItCanBe) {
  put_many("a", 1'000, "a");
  put_many("b", 1'000, "b");
  closed_ = {"a", "b"};
  EXPECT_THAT(take_all(25), IsEmpty());
  closed_ = {"a"};
  room_["b"] = 3;
  EXPECT_THAT(take_all(25), ElementsAre("b10000", "b10001", "b10002"));
  EXPECT_LE(read_, 100) << "those of a are not read again";
  closed_ = {"b"};
  room_["a"] = 2;
  EXPECT_THAT(take_all(25), ElementsAre("a10000", "a10001"));
  closed_ = {};
  room_ = {{"a", 1}, {"b", 1}};
  EXPECT_THAT(take_all(25), ElementsAre("a10002", "b10003"));
}

TEST_F(QueueReaderTest, WhatIsNewIsFoundThoughThereIsAlwaysEnoughThatWasPassedOver) {
  put_many("old", 2'000, "a");
  closed_ = {"a"};
  EXPECT_THAT(take_all(10), IsEmpty());
  closed_ = {};
  put("new", "b", Milliseconds(500));
  std::vector<std::string> both = take(10);
  for (std::string& id : take(10)) both.push_back(std::move(id));
  EXPECT_THAT(both, SizeIs(20));
  EXPECT_NE(std::ranges::find(both, "new"), both.end());
}

TEST_F(QueueReaderTest, EachIsChosenOnce) {
  put("1", "a", Milliseconds(20));
  closed_ = {"a"};
  EXPECT_THAT(choose(10).emails, IsEmpty());
  closed_ = {};
  EXPECT_THAT(choose(10).emails, SizeIs(1)) << "it was passed over, and it is as good as new";
}

TEST_F(QueueReaderTest, WhatCouldNotBeTakenIsFoundAgain) {
  put("1", "a");
  EXPECT_THAT(choose(10).emails, SizeIs(1));
  reader_.sweep_next();
  EXPECT_THAT(choose(10).emails, SizeIs(1));
}

TEST_F(QueueReaderTest, NothingIsForgottenWhenReadingFails) {
  put("1", "a");
  put("2", "b");
  closed_ = {"a", "b"};
  EXPECT_THAT(take(10), IsEmpty());
  closed_ = {};
  is_broken_ = true;
  const Choice all{nullptr, [](const std::string&) { return true; }};
  EXPECT_FALSE(reader_.choose(
      10, all, [&](const QueuePosition& after, int limit) { return read_page(after, limit); }, queue_now));
  is_broken_ = false;
  EXPECT_THAT(take(10), ElementsAre("1", "2"));
}

TEST_F(QueueReaderTest, KnowsWhatIsLeft) {
  put("1", "a", Milliseconds(5'000));
  put("2", "b", Milliseconds(3'000));
  closed_ = {"a"};
  EXPECT_THAT(take(10), ElementsAre("2"));
  EXPECT_LE(reader_.first_left(), queue_now - Milliseconds(5'000));
  closed_ = {};
  EXPECT_THAT(take(10), ElementsAre("1"));
  EXPECT_GT(reader_.first_left(), queue_now - Milliseconds(5'000));
}

}  // namespace
}  // namespace postino::outbox
