// Many threads, as many servers have them, on the same tickets.
#include <set>

#include "base/many_threads_testing.h"
#include "former_system.h"
#include "item/attribute_text.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using ::testing::SizeIs;
using enum TicketStatus;

class ConcurrentTickets : public ::testing::Test {
 protected:
  std::vector<std::int64_t> event_numbers(const std::string& id) {
    std::vector<std::int64_t> numbers;
    for (const std::string& sort : store_.sort_keys("TICKET#" + id))
      if (sort.starts_with(event_begin))
        numbers.push_back(parse_event_number(std::string_view(sort).substr(17)).value());
    std::ranges::sort(numbers);
    return numbers;
  }

  SupportStore store_;
  SupportOffice office_{store_};
};

TEST_F(ConcurrentTickets, GiveEventsDenseNumbers) {
  constexpr int threads = 4;
  const int each = 6 * base::test_effort();
  const std::string id = office_.make();
  base::run_threads(threads, [&](int thread) {
    for (int i = 0; i < each; ++i)
      ASSERT_TRUE(succeeded(office_.events.add(id, "note", {{"thread", thread}, {"i", i}}, operator_of())));
  });
  const std::vector<std::int64_t> numbers = event_numbers(id);
  ASSERT_THAT(numbers, SizeIs(1 + threads * each));
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], static_cast<std::int64_t>(i) + 1);
  std::set<std::pair<std::string, std::string>> seen;
  for (const item::Item& item : store_.partition("TICKET#" + id))
    if (item::attribute_text(item, "event_type") == "note") {
      const auto& details = item.find("details")->as<item::Map>();
      seen.emplace(details.find("thread")->as<item::Number>().to_string(),
                   details.find("i")->as<item::Number>().to_string());
    }
  EXPECT_THAT(seen, SizeIs(threads * each));
}

TEST_F(ConcurrentTickets, AreMovedByOneOfThoseWhoSawTheSame) {
  constexpr int threads = 4;
  const std::string id = office_.make();
  std::int64_t version = 1;
  for (int round = 0; round < 3; ++round) {
    for (const TicketStatus to : {processing, escalated}) {
      std::atomic<int> done = 0;
      base::run_threads(threads, [&](int thread) {
        const std::string engineer = to == escalated ? "eng_" + std::to_string(thread) : "";
        const auto moved = office_.tickets.move(id, {.to = to, .reason = "", .engineer = engineer},
                                                {.version = version}, operator_of());
        if (moved)
          ++done;
        else
          EXPECT_TRUE(is_refused(moved, RefusalKind::other_version));
      });
      EXPECT_EQ(done, 1);
      ++version;
    }
  }
  EXPECT_EQ(office_.tickets.get(id, operator_of())->version, version);
  EXPECT_THAT(event_numbers(id), SizeIs(static_cast<std::size_t>(version)));
}

TEST_F(ConcurrentTickets, OfTheSameKeyAreMadeOnce) {
  std::mutex mutex;
  std::set<std::string> ids;
  int first = 0;
  base::run_threads(4, [&](int) {
    const auto created = office_.tickets.create(new_ticket(), "key", operator_of());
    ASSERT_TRUE(succeeded(created));
    const std::lock_guard lock(mutex);
    ids.insert(created->answer.ticket_id);
    if (!created->is_repeated) ++first;
  });
  EXPECT_THAT(ids, SizeIs(1));
  EXPECT_EQ(first, 1);
}

TEST_F(ConcurrentTickets, TakeFeedbackOfTheSameMoment) {
  const std::string id = office_.make();
  base::run_threads(4, [&](int thread) {
    for (int i = 0; i < 4; ++i)
      ASSERT_TRUE(succeeded(
          office_.feedback.add(id, {.operator_id = "op_" + std::to_string(thread), .rating = 1 + i}, operator_of())));
  });
  EXPECT_THAT(office_.feedback.of_ticket(id, {}, operator_of())->feedback.entries, SizeIs(16));
}

// The desk's own threads complete what the former system writes, while others change the same tickets.
TEST_F(ConcurrentTickets, AreCompletedWhileTheyAreUsed) {
  FormerSystem former(store_);
  const std::string used = office_.make();
  office_.desk.start();
  base::run_threads(2, [&](int thread) {
    for (int i = 0; i < 8; ++i) {
      if (thread == 0)
        former.put_ticket(
            FormerSystem::ticket("tkt_" + std::to_string(i), "NEW", "2025-11-18T10:00:0" + std::to_string(i)));
      else
        ASSERT_TRUE(succeeded(office_.events.add(used, "note", {}, operator_of())));
    }
  });
  EXPECT_TRUE(base::eventually([&] {
    const auto page = office_.lists.find({.product_type = "switch"}, {}, operator_of());
    return page && page->entries.size() == 8;
  }));
  office_.desk.stop();
  EXPECT_THAT(event_numbers(used), SizeIs(9));
}

}  // namespace
}  // namespace postino::support
