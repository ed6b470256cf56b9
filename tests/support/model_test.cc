// Random operations on a few tickets, by us and by programs of the former system, against a simple model.
#include <map>
#include <set>

#include "base/effort_testing.h"
#include "base/random.h"
#include "former_system.h"
#include "item/attribute_text.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using enum TicketStatus;

struct ModelTicket {
  std::string customer;
  TicketStatus status = fresh;
  std::string priority = "P3";
  std::string engineer;
  std::int64_t version = 1;
  std::map<std::string, int> events;  // of a day, with numbers
  int feedback = 0;
};

class TicketModel : public ::testing::TestWithParam<int> {
 protected:
  template <class T>
  const T& any_of(const std::vector<T>& all) {
    return all[random_.next() % all.size()];
  }
  bool chance(int percent) { return random_.next() % 100 < static_cast<unsigned>(percent); }

  std::string today() { return date_of(store_.clock().now()); }

  void make() {
    NewTicket ticket = new_ticket(any_of(customers_));
    ticket.priority = any_of(priorities_);
    const std::string id = office_.make(ticket);
    model_[id] = {.customer = ticket.customer.id, .priority = ticket.priority};
    model_[id].events[today()] = 1;
    ids_.push_back(id);
  }

  void move() {
    const std::string& id = any_of(ids_);
    ModelTicket& ticket = model_[id];
    const TicketStatus to = any_of(std::vector(all_statuses.begin(), all_statuses.end()));
    const bool knows = chance(80);
    const std::int64_t seen = knows ? ticket.version : ticket.version - 1;
    const std::string engineer = to == escalated ? any_of(engineers_) : "";
    const auto moved =
        office_.tickets.move(id, {.to = to, .reason = "", .engineer = engineer}, {.version = seen}, operator_of());
    if (!knows) {
      ASSERT_TRUE(is_refused(moved, RefusalKind::other_version));
      EXPECT_EQ(moved.error().current_version, ticket.version);
      return;
    }
    if (!may_move(ticket.status, to)) {
      ASSERT_TRUE(is_refused(moved, RefusalKind::wrong_state));
      EXPECT_EQ(moved.error().current_status, ticket.status);
      return;
    }
    ASSERT_TRUE(succeeded(moved));
    ticket.status = to;
    ticket.engineer = engineer;
    ++ticket.version;
    ++ticket.events[today()];
    EXPECT_EQ(moved->version, ticket.version);
  }

  void change_priority() {
    const std::string& id = any_of(ids_);
    ModelTicket& ticket = model_[id];
    const std::string priority = any_of(priorities_);
    ASSERT_TRUE(succeeded(office_.tickets.change_priority(id, priority, {}, operator_of())));
    if (priority == ticket.priority) return;
    ticket.priority = priority;
    ++ticket.version;
    ++ticket.events[today()];
  }

  void add_feedback_or_event() {
    const std::string& id = any_of(ids_);
    ModelTicket& ticket = model_[id];
    if (chance(50)) {
      ASSERT_TRUE(succeeded(office_.feedback.add(id, {.operator_id = "op_1", .rating = 3}, operator_of())));
      ++ticket.feedback;
    } else {
      ASSERT_TRUE(succeeded(office_.events.add(id, "note", {}, operator_of())));
    }
    ++ticket.events[today()];
  }

  void act_as_former_system() {
    const std::string& id = any_of(ids_);
    ModelTicket& ticket = model_[id];
    if (chance(30)) {
      former_.add_event(id, "looked_at", {});
      ++ticket.events[today()];
      return;
    }
    TicketStatus to = any_of(std::vector(all_statuses.begin(), all_statuses.end()));
    if (to == ticket.status) return;  // no change
    if (to == escalated) {
      ticket.engineer = any_of(engineers_);
      former_.escalate_ticket(id, "", ticket.engineer);
    } else {
      former_.update_ticket_status_with_event(id, std::string(name_of(to)), std::string(name_of(ticket.status)));
      ticket.engineer.clear();
    }
    ticket.status = to;
    // One more than before; or as before, if it is back to what its keys say.
    const auto stored = office_.tickets.get(id, operator_of());
    ASSERT_TRUE(succeeded(stored));
    ticket.version = stored->version;
  }

  void check() {
    office_.adopt();
    for (auto& [id, ticket] : model_) {
      const auto found = office_.tickets.get(id, operator_of());
      ASSERT_TRUE(succeeded(found));
      EXPECT_EQ(found->status, ticket.status);
      EXPECT_EQ(found->priority, ticket.priority);
      EXPECT_EQ(found->escalation ? found->escalation->engineer : "", ticket.engineer);
      EXPECT_EQ(found->version, ticket.version);
      check_partition(id, ticket);
    }
    for (const TicketStatus status : all_statuses)
      expect_list({.status = status}, [&](const ModelTicket& ticket) { return ticket.status == status; });
    for (const std::string& customer : customers_)
      expect_list({.customer_id = customer}, [&](const ModelTicket& ticket) { return ticket.customer == customer; });
    for (const std::string& priority : priorities_)
      expect_list({.priority = priority}, [&](const ModelTicket& ticket) { return ticket.priority == priority; });
    for (const std::string& engineer : engineers_) {
      std::set<std::string> expected, listed;
      for (const auto& [id, ticket] : model_)
        if (ticket.engineer == engineer) expected.insert(id);
      for (const Ticket& ticket : all_pages<Ticket>(
               [&](const PageRequest& page) { return office_.lists.escalated(engineer, page, operator_of()); }, 2))
        listed.insert(ticket.id);
      EXPECT_EQ(listed, expected) << engineer;
    }
  }

  template <class Holds>
  void expect_list(const TicketFilter& filter, const Holds& holds) {
    std::vector<std::string> expected;
    for (const std::string& id : ids_)
      if (holds(model_[id])) expected.push_back(id);
    std::ranges::reverse(expected);  // newest first
    EXPECT_EQ(ids_of(all_pages<Ticket>(
                  [&](const PageRequest& page) { return office_.lists.find(filter, page, operator_of()); }, 3)),
              expected);
  }

  // Events of each day have the numbers from 1 on, without gaps.
  void check_partition(const std::string& id, const ModelTicket& ticket) {
    std::map<std::string, std::set<std::int64_t>> numbers;
    int feedback = 0;
    bool has_escalation = false;
    for (const std::string& sort : store_.sort_keys("TICKET#" + id)) {
      if (sort.starts_with(feedback_begin)) ++feedback;
      if (sort == escalation_sort) has_escalation = true;
      if (!sort.starts_with(event_begin) || sort[16] != '#') continue;
      numbers[sort.substr(6, 10)].insert(parse_event_number(std::string_view(sort).substr(17)).value());
    }
    EXPECT_EQ(feedback, ticket.feedback);
    EXPECT_EQ(has_escalation, ticket.status == escalated);
    EXPECT_EQ(numbers.size(), ticket.events.size());
    for (const auto& [day, count] : ticket.events) {
      EXPECT_EQ(numbers[day].size(), static_cast<std::size_t>(count)) << day;
      EXPECT_EQ(*numbers[day].begin(), 1);
      EXPECT_EQ(*numbers[day].rbegin(), count) << day;
    }
  }

  const std::vector<std::string> customers_ = {"cust_1", "cust_2"};
  const std::vector<std::string> priorities_ = {"P1", "P3"};
  const std::vector<std::string> engineers_ = {"eng_1", "eng_2"};
  base::SeededRandom random_{static_cast<std::uint64_t>(GetParam())};
  SupportStore store_;
  SupportOffice office_{store_};
  FormerSystem former_{store_};
  std::vector<std::string> ids_;
  std::map<std::string, ModelTicket> model_;
};

TEST_P(TicketModel, HoldsAfterRandomOperations) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  make();
  const int operations = 150 * base::test_effort();
  for (int i = 0; i < operations && !HasFailure(); ++i) {
    store_.time().advance(std::chrono::seconds(random_.next() % 3'000));
    const auto kind = random_.next() % 100;
    if (kind < 6 && ids_.size() < 12)
      make();
    else if (kind < 55)
      move();
    else if (kind < 65)
      change_priority();
    else if (kind < 80)
      add_feedback_or_event();
    else if (kind < 92)
      act_as_former_system();
    else
      check();
  }
  check();
}

INSTANTIATE_TEST_SUITE_P(Seeds, TicketModel, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace postino::support
