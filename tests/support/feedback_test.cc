// Feedback on tickets, and what happened to them.
#include "base/effort_testing.h"
#include "former_system.h"
#include "item/attribute_text.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum TicketStatus;

class FeedbackTest : public ::testing::Test {
 protected:
  std::string add(const std::string& ticket, const std::string& operator_id, int rating = 5) {
    const auto added = office_.feedback.add(ticket, {.operator_id = operator_id, .rating = rating, .was_helpful = true},
                                            operator_of());
    EXPECT_TRUE(succeeded(added));
    return added ? added->submitted_text : "";
  }
  std::vector<std::string> texts(const std::vector<Feedback>& all) {
    std::vector<std::string> texts;
    for (const Feedback& feedback : all) texts.push_back(feedback.submitted_text);
    return texts;
  }
  std::vector<std::string> by_operator(const std::string& operator_id, int limit, const Actor& actor = operator_of()) {
    return texts(all_pages<Feedback>(
        [&](const PageRequest& page) { return office_.feedback.by_operator(operator_id, page, actor); }, limit));
  }
  std::vector<std::string> of_ticket(const std::string& id, int limit) {
    return texts(all_pages<Feedback>(
        [&](const PageRequest& page) -> OrRefusal<Page<Feedback>> {
          TRY(TicketWithFeedback found, office_.feedback.of_ticket(id, page, operator_of()));
          EXPECT_EQ(found.ticket.id, id);
          return std::move(found.feedback);
        },
        limit));
  }
  std::vector<std::string> sorts_of_events(const std::string& id, const EventsRequest& request) {
    std::vector<std::string> sorts;
    EventsRequest wanted = request;
    for (const TicketEvent& event : all_pages<TicketEvent>(
             [&](const PageRequest& page) {
               wanted.page = page;
               return office_.events.list(id, wanted, operator_of());
             },
             std::max(request.page.limit, 1)))
      sorts.push_back(event.date + "#" + (event.number ? event_number(*event.number) : event.type));
    return sorts;
  }

  SupportStore store_;
  SupportOffice office_{store_};
};

TEST_F(FeedbackTest, IsFoundByTicketAndByOperator) {
  const std::string one = office_.make(), other = office_.make();
  const std::string a = add(one, "op_1");
  store_.time().advance(std::chrono::seconds(1));
  const std::string b = add(one, "op_2");
  store_.time().advance(std::chrono::seconds(1));
  const std::string c = add(other, "op_1");
  for (const int limit : {1, 2, 50}) {
    EXPECT_THAT(of_ticket(one, limit), ElementsAre(b, a));
    EXPECT_THAT(by_operator("op_1", limit), ElementsAre(c, a));
  }
  EXPECT_THAT(by_operator("nobody", 5), IsEmpty());
  EXPECT_TRUE(is_refused(office_.feedback.of_ticket("none", {}, operator_of()), RefusalKind::unknown_ticket));
  const auto item = store_.get("TICKET#" + one, "FEEDBACK#" + a);
  ASSERT_TRUE(item);
  EXPECT_EQ(*item->find("rating"), item::AttributeValue(5));
  EXPECT_EQ(*item->find("was_helpful"), item::AttributeValue(true));
  EXPECT_EQ(item::attribute_text(*item, "GSI3PK"), "OPERATOR#op_1");
}

TEST_F(FeedbackTest, OfTheSameMomentDoesNotCollide) {
  const std::string id = office_.make();
  std::vector<std::string> keys;
  for (int i = 0; i < 4; ++i) keys.push_back(add(id, "op_1"));
  EXPECT_THAT(keys, ElementsAre("2026-01-02T03:04:06.000Z", "2026-01-02T03:04:06.000001Z",
                                "2026-01-02T03:04:06.000002Z", "2026-01-02T03:04:06.000003Z"));
  EXPECT_THAT(of_ticket(id, 3), SizeIs(4));
  EXPECT_EQ(office_.tickets.get(id, operator_of())->version, 1) << "feedback moves no ticket";
}

TEST_F(FeedbackTest, BreaksNoRules) {
  const std::string id = office_.make();
  EXPECT_THAT(faulty_fields(office_.feedback.add(
                  id, {.operator_id = "", .rating = 6, .comments = std::string(5'001, 'x')}, operator_of())),
              ElementsAre("operator_id", "rating", "comments"));
  EXPECT_TRUE(is_refused(office_.feedback.add("none", {.operator_id = "op_1", .rating = 1}, operator_of()),
                         RefusalKind::unknown_ticket));
}

// One query would have to read all of it.
TEST_F(FeedbackTest, InMassesDoesNotHideTheTicket) {
  const std::string id = office_.make();
  const int count = 300 * base::test_effort();
  for (int i = 0; i < count; ++i) {
    Feedback feedback{.ticket_id = id, .customer_id = "cust_456", .operator_id = "op_1", .rating = 3};
    feedback.comments = std::string(5'000, 'x');
    feedback.submitted_text = write_time(test_start + std::chrono::minutes(i));
    store_.put(feedback_item(Keys(""), feedback));
  }
  const auto first = office_.feedback.of_ticket(id, {}, operator_of());
  ASSERT_TRUE(succeeded(first));
  EXPECT_THAT(first->feedback.entries, SizeIs(50));
  EXPECT_THAT(of_ticket(id, 50), SizeIs(count));
}

TEST_F(FeedbackTest, EventsHaveDenseNumbersForEachDay) {
  const std::string id = office_.make();
  office_.move(id, processing);
  add(id, "op_1");
  ASSERT_TRUE(succeeded(office_.events.add(id, "note", {{"text", "called the customer"}}, operator_of())));
  store_.time().advance(std::chrono::hours(24));
  const auto next = office_.events.add(id, "note", {}, operator_of());
  ASSERT_TRUE(succeeded(next));
  EXPECT_EQ(next->date, "2026-01-03");
  EXPECT_EQ(next->number, 1);
  for (const int limit : {1, 2, 10}) {
    EXPECT_THAT(sorts_of_events(id, {.page = {"", limit}}),
                ElementsAre("2026-01-03#001", "2026-01-02#004", "2026-01-02#003", "2026-01-02#002", "2026-01-02#001"));
    EXPECT_THAT(
        sorts_of_events(
            id, {.from_date = "2026-01-02", .to_date = "2026-01-02", .newest_first = false, .page = {"", limit}}),
        ElementsAre("2026-01-02#001", "2026-01-02#002", "2026-01-02#003", "2026-01-02#004"));
  }
  EXPECT_THAT(sorts_of_events(id, {.from_date = "2026-01-03", .page = {"", 9}}), ElementsAre("2026-01-03#001"));
  EXPECT_THAT(sorts_of_events(id, {.to_date = "2026-01-01", .page = {"", 9}}), IsEmpty());
  EXPECT_THAT(
      faulty_fields(office_.events.list(id, {.from_date = "yesterday", .to_date = "2026-02-30"}, operator_of())),
      ElementsAre("since", "until"));
  EXPECT_THAT(faulty_fields(office_.events.add(id, "a b", {{"x", std::string(70'000, 'x')}}, operator_of())),
              ElementsAre("event_type", "details"));
}

TEST_F(FeedbackTest, EventsBeyondTheThousandthStandInTheirOrder) {
  const std::string id = office_.make();
  // As if there had been so many.
  auto item = *store_.get("TICKET#" + id, "METADATA");
  item.set("event_count", 997);
  store_.put(item);
  for (int i = 0; i < 4; ++i) {
    store_.time().advance(std::chrono::seconds(1));
    ASSERT_TRUE(succeeded(office_.events.add(id, "note", {}, operator_of())));
  }
  EXPECT_THAT(store_.sort_keys("TICKET#" + id),
              ::testing::IsSupersetOf({"EVENT#2026-01-02#998", "EVENT#2026-01-02#999", "EVENT#2026-01-02#A1000",
                                       "EVENT#2026-01-02#A1001"}));
  EXPECT_THAT(
      sorts_of_events(id, {.page = {"", 2}}),
      ElementsAre("2026-01-02#A1001", "2026-01-02#A1000", "2026-01-02#999", "2026-01-02#998", "2026-01-02#001"));
  FormerSystem former(store_);
  EXPECT_THAT(former.query_events_by_date_range(id, "2026-01-02", "2026-01-02"), SizeIs(3))
      << "its last day ends with number 999";
  EXPECT_THAT(former.query_events_by_date_range(id, "2026-01-02", "2026-01-03"), SizeIs(5));
}

TEST_F(FeedbackTest, EventsOfOthersAreSteppedOver) {
  const std::string id = office_.make();
  FormerSystem former(store_);
  former.add_event(id, "looked_at", {{"by", "bot"}});
  former.add_event(id, "looked_at", {});
  const auto added = office_.events.add(id, "note", {}, operator_of());
  ASSERT_TRUE(succeeded(added));
  EXPECT_EQ(added->number, 4);
  former.add_event(id, "looked_at", {});
  EXPECT_TRUE(store_.get("TICKET#" + id, "EVENT#2026-01-02#005"));
  office_.move(id, processing);
  EXPECT_TRUE(store_.get("TICKET#" + id, "EVENT#2026-01-02#006"));
}

// The former system's transactions write events with times in the place of numbers.
TEST_F(FeedbackTest, EventsOfOthersStandWhereTheyHappened) {
  FormerSystem former(store_);
  ASSERT_TRUE(former.create_ticket_transactional(FormerSystem::ticket("tkt_1", "NEW", former.now_text()), "key"));
  store_.time().advance(std::chrono::minutes(1));
  ASSERT_TRUE(succeeded(office_.events.add("tkt_1", "note", {}, operator_of())));
  store_.time().advance(std::chrono::minutes(1));
  former.update_ticket_status_with_event("tkt_1", "PROCESSING", "NEW");
  store_.time().advance(std::chrono::minutes(1));
  ASSERT_TRUE(succeeded(office_.events.add("tkt_1", "note", {}, operator_of())));
  for (const int limit : {1, 2, 10})
    EXPECT_THAT(
        sorts_of_events("tkt_1", {.page = {"", limit}}),
        ElementsAre("2026-01-02#002", "2026-01-02#status_changed", "2026-01-02#001", "2026-01-02#ticket_created"));
  EXPECT_THAT(sorts_of_events("tkt_1", {.from_date = "2026-01-02", .to_date = "2026-01-02", .page = {"", 10}}),
              SizeIs(4));
}

TEST_F(FeedbackTest, OfBoundCallersCountsOnceForEachOperatorOfATicket) {
  const std::string id = office_.make(), other = office_.make();
  const Actor bound = customer_actor("cust_456");
  const auto rate = [&](const std::string& ticket, const std::string& operator_id) {
    return office_.feedback.add(ticket, {.operator_id = operator_id, .rating = 1}, bound);
  };
  ASSERT_TRUE(succeeded(rate(id, "op_1")));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(faulty_fields(rate(id, "op_1")), ElementsAre("operator_id"));
  EXPECT_THAT(of_ticket(id, 10), SizeIs(1));
  EXPECT_TRUE(succeeded(rate(id, "op_2")));
  EXPECT_TRUE(succeeded(rate(other, "op_1")));
  add(id, "op_1");
  EXPECT_THAT(of_ticket(id, 10), SizeIs(3)) << "agents write down as much as they are told";
}

// Another operator each time would be repetition as well.
TEST_F(FeedbackTest, OfBoundCallersIsLimitedForEachTicket) {
  const std::string id = office_.make();
  const auto rate = [&](int number) {
    return office_.feedback.add(id, {.operator_id = "op_" + std::to_string(number), .rating = 1},
                                customer_actor("cust_456"));
  };
  for (int number = 0; number < 50; ++number) ASSERT_TRUE(succeeded(rate(number)));
  EXPECT_THAT(faulty_fields(rate(50)), ElementsAre("operator_id"));
  add(id, "op_50");
  EXPECT_THAT(of_ticket(id, 100), SizeIs(51));
}

// Written by another program, whose three digits no longer sort.
TEST_F(FeedbackTest, EventsOfOthersAbove999StandInTheirOrder) {
  constexpr int count = 1'130;
  const std::string id = office_.make();
  const base::TimePoint begin = store_.clock().now();
  for (int number = 2; number <= count; ++number)
    store_.put({{"PK", "TICKET#" + id},
                {"SK", plain_event_sort("2026-01-02", number)},
                {"ticket_id", id},
                {"timestamp", write_time(begin + std::chrono::seconds(number))},
                {"event_type", "note"}});
  store_.time().advance(std::chrono::seconds(count + 1));
  const auto latest = office_.events.list(id, {}, operator_of());
  ASSERT_TRUE(succeeded(latest));
  ASSERT_THAT(latest->entries, SizeIs(10));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(latest->entries.at(static_cast<std::size_t>(i)).number, count - i);
  office_.move(id, processing);
  std::vector<std::string> in_order;
  for (int number = 1; number <= count + 1; ++number) in_order.push_back("2026-01-02#" + event_number(number));
  EXPECT_EQ(sorts_of_events(id, {.newest_first = false, .page = {"", 100}}), in_order);
  std::ranges::reverse(in_order);
  EXPECT_EQ(sorts_of_events(id, {.page = {"", 100}}), in_order);
}

TEST_F(FeedbackTest, EventsWithTimesStandWhereTheyHappenedOnADayWithMany) {
  const std::string id = office_.make();
  for (int i = 0; i < 250; ++i) {
    store_.time().advance(std::chrono::seconds(1));
    if (i == 100)
      store_.put({{"PK", "TICKET#" + id},
                  {"SK", "EVENT#" + write_time(store_.clock().now())},
                  {"ticket_id", id},
                  {"timestamp", write_time(store_.clock().now())},
                  {"event_type", "other"}});
    else
      ASSERT_TRUE(succeeded(office_.events.add(id, "note", {}, operator_of())));
  }
  const std::vector<std::string> sorts = sorts_of_events(id, {.newest_first = false, .page = {"", 50}});
  ASSERT_THAT(sorts, SizeIs(251));
  EXPECT_EQ(sorts.at(101), "2026-01-02#other");
}

// The former system counts the events of the day, and writes the next number without a letter before it.
TEST_F(FeedbackTest, EventsStepOverNumbersOfOthersAbove999) {
  const std::string id = office_.make();
  item::Item ticket = *store_.get("TICKET#" + id, "METADATA");
  ticket.set("event_count", 1'011);
  store_.put(ticket);
  store_.put({{"PK", "TICKET#" + id},
              {"SK", "EVENT#2026-01-02#1012"},
              {"ticket_id", id},
              {"timestamp", "2026-01-02T03:04:05Z"},
              {"event_type", "note"}});
  const auto added = office_.events.add(id, "note", {}, operator_of());
  ASSERT_TRUE(succeeded(added));
  EXPECT_EQ(added->number, 1'013);
  EXPECT_TRUE(store_.get("TICKET#" + id, "EVENT#2026-01-02#A1013"));
}

}  // namespace
}  // namespace postino::support
