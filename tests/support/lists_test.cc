// Every access pattern: by customer, by status, recent ones, escalated ones, and filters.
#include <set>

#include "former_system.h"
#include "item/attribute_text.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum TicketStatus;

class TicketListsTest : public ::testing::Test {
 protected:
  std::string make(const std::string& customer, const std::string& product = "router", const std::string& error = "E42",
                   const std::string& priority = "P3") {
    NewTicket ticket = new_ticket(customer);
    ticket.asset.product_type = product;
    ticket.error_code = error;
    ticket.priority = priority;
    return office_.make(ticket);
  }
  std::vector<std::string> find(const TicketFilter& filter, int limit = 3, const Actor& actor = operator_of()) {
    return ids_of(
        all_pages<Ticket>([&](const PageRequest& page) { return office_.lists.find(filter, page, actor); }, limit));
  }
  std::vector<std::string> escalated(const std::string& engineer, int limit = 2, const Actor& actor = operator_of()) {
    return ids_of(all_pages<Ticket>(
        [&](const PageRequest& page) { return office_.lists.escalated(engineer, page, actor); }, limit));
  }
  void escalate(const std::string& id, const std::string& engineer) {
    office_.move(id, processing);
    store_.time().advance(std::chrono::seconds(1));
    ASSERT_TRUE(succeeded(office_.tickets.escalate(id, engineer, "", {}, operator_of())));
  }

  SupportStore store_;
  SupportOffice office_{store_};
};

TEST_F(TicketListsTest, OfACustomerAreNewestFirstWithAndWithoutAStatus) {
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(make("cust_1"));
  make("cust_2");
  office_.move(ids[1], processing);
  office_.move(ids[3], processing);
  office_.move(ids[4], processing);
  office_.move(ids[4], ready);
  for (const int limit : {1, 2, 3, 100}) {
    EXPECT_THAT(find({.customer_id = "cust_1"}, limit), ElementsAre(ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]));
    EXPECT_THAT(find({.customer_id = "cust_1", .status = processing}, limit), ElementsAre(ids[3], ids[1]));
  }
  EXPECT_THAT(find({.customer_id = "none"}), IsEmpty());
  EXPECT_EQ(office_.lists.find({.customer_id = "cust_1"}, {}, operator_of())->cursor, "");
}

TEST_F(TicketListsTest, HaveTheFormerSystemsPageSizes) {
  for (int i = 0; i < 25; ++i) make("cust_1");
  EXPECT_THAT(office_.lists.find({.customer_id = "cust_1"}, {}, operator_of())->entries, SizeIs(20));
  EXPECT_THAT(office_.lists.find({.status = fresh}, {}, operator_of())->entries, SizeIs(25));
  for (const int limit : {-1, 501})
    EXPECT_THAT(faulty_fields(office_.lists.find({}, {"", limit}, operator_of())), ElementsAre("limit"));
}

TEST_F(TicketListsTest, OfAStatusHaveADateRange) {
  std::vector<std::string> ids;
  std::vector<base::TimePoint> times;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(make("cust_" + std::to_string(i)));
    times.push_back(store_.clock().now());
  }
  EXPECT_THAT(find({.status = fresh}), ElementsAre(ids[4], ids[3], ids[2], ids[1], ids[0]));
  EXPECT_THAT(find({.status = fresh, .from = times[1]}), ElementsAre(ids[4], ids[3], ids[2], ids[1]));
  EXPECT_THAT(find({.status = fresh, .from = times[1], .until = times[3]}), ElementsAre(ids[2], ids[1]));
  EXPECT_THAT(find({.status = fresh, .from = times[1] + std::chrono::milliseconds(1), .until = times[3]}),
              ElementsAre(ids[2]))
      << "to the millisecond";
  EXPECT_THAT(find({.status = ready}), IsEmpty());
  EXPECT_THAT(find({.status = fresh, .from = times[3], .until = times[1]}), IsEmpty());
}

TEST_F(TicketListsTest, OfAllStatesAreOneListOfRecentOnes) {
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) ids.push_back(make("cust_1"));
  office_.move(ids[0], processing);
  office_.move(ids[2], processing);
  office_.move(ids[2], failed);
  escalate(ids[5], "eng_1");
  std::vector<std::string> newest(ids.rbegin(), ids.rend());
  for (const int limit : {1, 2, 5, 100}) EXPECT_EQ(find({}, limit), newest) << limit;
}

TEST_F(TicketListsTest, FilterByWhatTicketsAreAbout) {
  const std::string a = make("cust_1", "router", "E1", "P1");
  const std::string b = make("cust_2", "router", "E2", "P2");
  const std::string c = make("cust_1", "switch", "E1", "P1");
  const std::string d = make("cust_1", "router", "E1", "P4");
  office_.move(d, processing);
  EXPECT_THAT(find({.product_type = "router"}, 1), ElementsAre(d, b, a));
  EXPECT_THAT(find({.error_code = "E1"}, 1), ElementsAre(d, c, a));
  EXPECT_THAT(find({.priority = "P1"}, 1), ElementsAre(c, a));
  EXPECT_THAT(find({.product_type = "router", .error_code = "E1"}, 1), ElementsAre(d, a));
  EXPECT_THAT(find({.customer_id = "cust_2", .product_type = "router"}), ElementsAre(b));
  EXPECT_THAT(find({.customer_id = "cust_1", .priority = "P4"}), ElementsAre(d));
  EXPECT_THAT(find({.status = processing, .error_code = "E1"}, 1), ElementsAre(d));
  EXPECT_THAT(find({.status = fresh, .product_type = "router"}, 1), ElementsAre(b, a));
  EXPECT_THAT(find({.priority = "P1", .error_code = "E2"}), IsEmpty());
  EXPECT_THAT(find({.error_code = "none"}), IsEmpty());
  const base::TimePoint of_c = office_.tickets.get(c, operator_of())->created_at;
  EXPECT_THAT(find({.error_code = "E1", .until = of_c}), ElementsAre(a));
  EXPECT_THAT(find({.error_code = "E1", .from = of_c}), ElementsAre(d, c));
  ASSERT_TRUE(succeeded(office_.tickets.change_priority(a, "P4", {}, operator_of())));
  EXPECT_THAT(find({.priority = "P1"}), ElementsAre(c));
  EXPECT_THAT(find({.priority = "P4"}), ElementsAre(d, a));
  EXPECT_THAT(faulty_fields(office_.lists.find({.error_code = "a\nb"}, {}, operator_of())), ElementsAre("error_code"));
}

// The former system asks for a range of a hash key, which no store answers.
TEST_F(TicketListsTest, OfEscalatedOnesHaveTheLastFirst) {
  const std::string a = make("cust_1"), b = make("cust_2"), c = make("cust_1"), d = make("cust_3");
  escalate(c, "eng_1");
  escalate(a, "eng_2");
  escalate(d, "eng_1");
  EXPECT_THAT(escalated("", 1), ElementsAre(d, a, c));
  EXPECT_THAT(escalated("eng_1"), ElementsAre(d, c));
  EXPECT_THAT(escalated("eng_2"), ElementsAre(a));
  EXPECT_THAT(escalated("nobody"), IsEmpty());
  ASSERT_TRUE(succeeded(office_.tickets.deescalate(d, "", {}, operator_of())));
  EXPECT_THAT(escalated(""), ElementsAre(a, c));
  EXPECT_THAT(escalated("eng_1"), ElementsAre(c));
  EXPECT_THAT(escalated("", 2, customer_actor("cust_1")), ElementsAre(c, a)) << "of the customer alone";
  EXPECT_THAT(escalated("eng_1", 2, customer_actor("cust_1")), IsEmpty()) << "who takes care of it is not told";
  EXPECT_THAT(escalated("", 2, customer_actor("cust_3")), IsEmpty());
}

std::vector<std::int64_t> numbers_of(const OrRefusal<TicketCounts>& counts) {
  EXPECT_TRUE(succeeded(counts));
  std::vector<std::int64_t> numbers;
  for (const auto& each : counts->by_status) numbers.push_back(each.is_least ? -each.count : each.count);
  return numbers;
}

// NEW, PROCESSING, READY, FAILED, ESCALATED.
TEST_F(TicketListsTest, AreCountedByStatus) {
  EXPECT_THAT(numbers_of(office_.lists.count(operator_of())), ElementsAre(0, 0, 0, 0, 0));
  for (int i = 0; i < 5; ++i) make("cust_" + std::to_string(i % 2));
  office_.move(make("cust_1"), processing);
  escalate(make("cust_0"), "eng_1");
  office_.make(new_ticket("cust_1"), operator_of("acme"));
  EXPECT_THAT(numbers_of(office_.lists.count(operator_of())), ElementsAre(5, 1, 0, 0, 1));
  EXPECT_THAT(numbers_of(office_.lists.count(operator_of("acme"))), ElementsAre(1, 0, 0, 0, 0));
  EXPECT_THAT(numbers_of(office_.lists.count(customer_actor("cust_1"))), ElementsAre(2, 1, 0, 0, 0));
  EXPECT_THAT(numbers_of(office_.lists.count(customer_actor("none"))), ElementsAre(0, 0, 0, 0, 0));
}

TEST_F(TicketListsTest, AreCountedUpToALimit) {
  for (int i = 0; i < 1'001; ++i)
    store_.put({{"PK", "TICKET#t" + std::to_string(i)},
                {"SK", "METADATA"},
                {"GSI1PK", "CUSTOMER#cust_1"},
                {"GSI1SK", "STATUS#READY#" + std::to_string(i)},
                {"GSI2PK", i < 1'000 ? "STATUS#READY" : "STATUS#FAILED"},
                {"GSI2SK", std::to_string(i)}});
  EXPECT_THAT(numbers_of(office_.lists.count(operator_of())), ElementsAre(0, 0, 1'000, 1, 0));
  EXPECT_THAT(numbers_of(office_.lists.count(customer_actor("cust_1"))), ElementsAre(0, 0, -1'000, 0, 0));
}

TEST_F(TicketListsTest, RefuseCursorsOfOtherLists) {
  for (int i = 0; i < 3; ++i) make("cust_1");
  const std::string cursor = office_.lists.find({.customer_id = "cust_1"}, {"", 1}, operator_of())->cursor;
  ASSERT_NE(cursor, "");
  const auto fields = [&](const TicketFilter& filter, const Actor& actor) {
    return faulty_fields(office_.lists.find(filter, {cursor, 1}, actor));
  };
  EXPECT_TRUE(succeeded(office_.lists.find({.customer_id = "cust_1"}, {cursor, 2}, operator_of())));
  EXPECT_THAT(fields({.customer_id = "cust_2"}, operator_of()), ElementsAre("cursor"));
  EXPECT_THAT(fields({.customer_id = "cust_1", .status = fresh}, operator_of()), ElementsAre("cursor"));
  EXPECT_THAT(fields({.customer_id = "cust_1"}, operator_of("acme")), ElementsAre("cursor"));
  EXPECT_THAT(fields({.customer_id = "cust_1"}, customer_actor("cust_1")), ElementsAre("cursor"));
  EXPECT_THAT(faulty_fields(office_.lists.escalated("", {cursor, 1}, operator_of())), ElementsAre("cursor"));
  EXPECT_THAT(faulty_fields(office_.lists.find({.customer_id = "cust_1"}, {"made_up_cursor", 1}, operator_of())),
              ElementsAre("cursor"));
}

// With the partitions that many tickets are in spread over several.
class ShardedListsTest : public ::testing::Test {
 protected:
  static SupportTables sharded(int count) {
    SupportTables tables;
    tables.shards.count = count;
    return tables;
  }
  void make(SupportOffice& office, int count) {
    for (int i = 0; i < count; ++i) ids_.push_back(office.make(new_ticket("cust_" + std::to_string(i % 2))));
  }
  std::vector<std::string> newest() const { return {ids_.rbegin(), ids_.rend()}; }
  static std::vector<std::string> find(SupportOffice& office, const TicketFilter& filter, int limit) {
    return ids_of(all_pages<Ticket>(
        [&](const PageRequest& page) { return office.lists.find(filter, page, operator_of()); }, limit));
  }
  // What the indexes have in partitions that begin so.
  std::set<std::string> partitions(const std::string& key, const std::string& begin) {
    std::set<std::string> found;
    for (const item::Item& item : store_.scan(table_name))
      if (const std::string partition = item::attribute_text(item, key); partition.starts_with(begin))
        found.insert(partition);
    return found;
  }

  SupportStore store_;
  std::vector<std::string> ids_;
};

TEST_F(ShardedListsTest, AreOneListInOrder) {
  SupportOffice office(store_, nullptr, sharded(4));
  make(office, 40);
  EXPECT_GT(partitions("GSI2PK", "STATUS#NEW#").size(), 1U) << "all are in one partition";
  EXPECT_GT(partitions("GSI1PK", "PRIORITY#P3#").size(), 1U);
  EXPECT_GT(partitions("GSI1PK", "PRODUCT#router#").size(), 1U);
  EXPECT_GT(partitions("GSI1PK", "ERROR#E42#").size(), 1U);
  EXPECT_TRUE(partitions("GSI2PK", "STATUS#NEW#4").empty());
  for (const int limit : {1, 7, 100}) {
    EXPECT_EQ(find(office, {}, limit), newest());
    EXPECT_EQ(find(office, {.status = fresh}, limit), newest());
    EXPECT_EQ(find(office, {.priority = "P3"}, limit), newest());
    EXPECT_EQ(find(office, {.product_type = "router"}, limit), newest());
    EXPECT_EQ(find(office, {.error_code = "E42"}, limit), newest());
  }
  office.move(ids_[3], processing);
  EXPECT_THAT(numbers_of(office.lists.count(operator_of())), ElementsAre(39, 1, 0, 0, 0));
  EXPECT_THAT(find(office, {.status = processing}, 10), ElementsAre(ids_[3]));
  EXPECT_THAT(find(office, {.status = fresh}, 10), SizeIs(39));
  std::vector<std::string> escalated_ones;
  for (const std::size_t i : {9U, 5U, 7U, 6U}) {
    office.move(ids_[i], processing);
    store_.time().advance(std::chrono::seconds(1));
    office.move(ids_[i], escalated);
    escalated_ones.insert(escalated_ones.begin(), ids_[i]);
  }
  const auto listed = ids_of(
      all_pages<Ticket>([&](const PageRequest& page) { return office.lists.escalated("", page, operator_of()); }, 2));
  EXPECT_EQ(listed, escalated_ones);
}

TEST_F(ShardedListsTest, HaveWhatWasWrittenWithOtherShards) {
  for (const int count : {1, 8, 3, 1}) {
    SupportOffice office(store_, nullptr, sharded(count));
    make(office, 12);
    EXPECT_EQ(find(office, {}, 5), newest()) << count;
    EXPECT_EQ(find(office, {.priority = "P3"}, 5), newest()) << count;
    EXPECT_EQ(office.adopt(), 0) << "tickets in other shards are complete";
    for (const std::string& id : ids_) EXPECT_EQ(office.tickets.get(id, operator_of())->version, 1);
  }
  SupportOffice last(store_);
  const std::string cursor = last.lists.find({}, {"", 5}, operator_of())->cursor;
  EXPECT_TRUE(succeeded(last.lists.find({}, {cursor, 5}, operator_of())));
  SupportOffice more(store_, nullptr, sharded(9));
  EXPECT_THAT(faulty_fields(more.lists.find({}, {cursor, 5}, operator_of())), ElementsAre("cursor"))
      << "it counts other ranges";
}

TEST_F(ShardedListsTest, HaveWhatOtherProgramsWrite) {
  SupportOffice office(store_, nullptr, sharded(4));
  FormerSystem former(store_);
  former.put_ticket(FormerSystem::ticket("tkt_1", "NEW", "2025-11-18T10:00:00Z"));
  EXPECT_EQ(office.adopt(), 1);
  make(office, 4);
  ids_.insert(ids_.begin(), "tkt_1");
  EXPECT_EQ(find(office, {.status = fresh}, 2), newest());
  // One of a record that another program has damaged may have been any.
  store_.put({{"PK", "SHARDS"}, {"SK", "CURRENT"}, {"most", "many"}});
  SupportOffice next(store_);
  EXPECT_EQ(find(next, {.status = fresh}, 2), newest());
}

TEST_F(TicketListsTest, LeaveOutWhatCannotBeRead) {
  const std::string id = make("cust_1");
  store_.put({{"PK", "TICKET#bad"},
              {"SK", "METADATA"},
              {"status", "NEW"},
              {"created_at", 5},
              {"GSI1PK", "CUSTOMER#cust_1"},
              {"GSI1SK", "STATUS#NEW#2030"},
              {"GSI2PK", "STATUS#NEW"},
              {"GSI2SK", "2030"}});
  EXPECT_THAT(find({.customer_id = "cust_1"}, 1), ElementsAre(id));
  EXPECT_THAT(find({}, 1), ElementsAre(id));
  EXPECT_TRUE(is_refused(office_.tickets.get("bad", operator_of()), RefusalKind::corrupt));
}

}  // namespace
}  // namespace postino::support
