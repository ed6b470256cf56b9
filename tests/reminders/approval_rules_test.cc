// The rules as approvals keep them: at their edges, for all pairs of types, and in random histories.
#include <map>
#include <random>

#include "base/effort_testing.h"
#include "reminder_office.h"
#include "reminders/record/sent_item.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;

constexpr auto day = 24h;

// The seed's rules, in the plainest words.
std::string reference(const std::string& type, const std::map<std::string, base::TimePoint>& last,
                      base::TimePoint now) {
  const auto since = [&](const std::string& other) { return now - last.at(other); };
  const bool had_first = last.contains("first"), had_second = last.contains("second");
  if (type == "first") return had_first && since("first") < 7 * day ? "refused" : "";
  if (type == "second") {
    if (!had_first || since("first") < 7 * day) return "refused";
    return had_second && since("second") < 5 * day ? "refused" : "";
  }
  if (!had_second || since("second") < 5 * day) return "refused";
  return last.contains("final") && since("final") < 3 * day ? "refused" : "";
}

struct Edge {
  std::vector<std::string> before;  // sent in this order, 100 days apart; the last one counts
  std::string type;
  base::Milliseconds pause;
};

class RulesOfApprovals : public ::testing::Test {
 protected:
  // What an approval says when so much time has passed since the last one was sent, of a customer of its own.
  std::string after(const Edge& edge, base::Milliseconds passed, base::TimePoint start) {
    const std::string customer = "customer_" + std::to_string(++customers_);
    base::TimePoint at = start;
    for (std::size_t i = edge.before.size(); i-- > 0; at -= 100 * day)
      store_.put(seed_sent(customer, at, edge.before[i]));
    store_.time().set_by(start + passed - store_.time().now());
    return outcome_of(office_.approve(put_draft(store_, customer, edge.type, start)));
  }

  RemindersStore store_;
  ReminderOffice office_{store_};
  int customers_ = 0;
};

TEST_F(RulesOfApprovals, ChangeAtTheirEdges) {
  const std::vector<Edge> edges = {{{"first"}, "first", 7 * day},
                                   {{"first"}, "second", 7 * day},
                                   {{"first", "second"}, "second", 5 * day},
                                   {{"first", "second"}, "final", 5 * day},
                                   {{"first", "second", "final"}, "final", 3 * day}};
  // A usual day, across the end of a year, and across the days on which clocks are set in Europe and in America.
  for (const char* const text : {"2026-05-05T10:00:00Z", "2025-12-29T23:59:59Z", "2026-03-27T01:30:00Z",
                                 "2026-10-24T23:30:00Z", "2026-03-06T09:00:00Z", "2028-02-27T12:00:00Z"}) {
    const base::TimePoint start = parse_seed_time(text).value();
    for (const Edge& edge : edges) {
      const std::string name = edge.before.back() + " -> " + edge.type + " at " + text;
      EXPECT_NE(after(edge, edge.pause - 1s, start), "") << name;
      EXPECT_NE(after(edge, edge.pause - 1ms, start), "") << name;
      EXPECT_EQ(after(edge, edge.pause, start), "") << name;
      EXPECT_EQ(after(edge, edge.pause + 1s, start), "") << name;
    }
  }
}

TEST_F(RulesOfApprovals, HoldForAllPairsOfTypes) {
  const std::vector<std::string> types = {"first", "second", "final"};
  for (const std::string& before : types)
    for (const std::string& type : types)
      for (const base::Milliseconds passed :
           std::vector<base::Milliseconds>{0s, 3 * day - 1s, 3 * day, 5 * day - 1s, 5 * day, 7 * day - 1s, 7 * day}) {
        const std::string outcome = after({{before}, type, {}}, passed, test_start);
        const std::string expected = reference(type, {{before, test_start}}, test_start + passed);
        EXPECT_EQ(outcome.empty(), expected.empty()) << before << " -> " << type << " after " << passed.count();
      }
}

TEST_F(RulesOfApprovals, GiveTheTimeFromWhichTheyAllowIt) {
  ASSERT_EQ(outcome_of(office_.approve(put_draft(store_, "cust_001", "first"))), "");
  const std::string id = put_draft(store_, "cust_001", "second");
  const auto refused = office_.approve(id);
  ASSERT_EQ(outcome_of(refused), "too_soon_after");
  store_.time().set_by(*refused.error().decision->allowed_from - 1ms - store_.time().now());
  EXPECT_EQ(outcome_of(office_.approve(id)), "too_soon_after");
  store_.time().advance(1ms);
  EXPECT_EQ(outcome_of(office_.approve(id)), "");
}

// Drafts of all types at random times, some sent by another program, some failed afterwards.
TEST_F(RulesOfApprovals, AgreeWithAPlainReferenceOnRandomHistories) {
  for (unsigned seed = 1; seed <= static_cast<unsigned>(base::test_effort()); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto one_of = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    const std::string customer = "random_" + std::to_string(seed);
    struct Sent {
      std::string type;
      base::TimePoint at;
      std::string email_id;
    };
    std::vector<Sent> history;
    for (int step = 0; step < 120; ++step) {
      // Often just at an edge: whole days, and now and then a millisecond or a second away from it.
      store_.time().advance(one_of(3) * day);
      if (one_of(4) == 0) store_.time().advance(one_of(2) == 0 ? 1ms : 1s);
      if (one_of(4) == 0) store_.time().advance(day - 1ms);
      const base::TimePoint now = store_.time().now();
      const std::string type =
          std::vector<std::string>{"first", "second", "final"}[static_cast<std::size_t>(one_of(3))];
      std::map<std::string, base::TimePoint> last;
      for (const Sent& sent : history)
        if (!last.contains(sent.type) || last[sent.type] < sent.at) last[sent.type] = sent.at;
      if (one_of(10) == 0) {
        // By the seed's program, which writes whole seconds.
        const base::TimePoint second = std::chrono::floor<std::chrono::seconds>(now);
        if (store_.get("CUSTOMER#" + customer, "SENT#" + key_time(second) + "_" + type)) continue;
        store_.put(seed_sent(customer, second, type));
        history.push_back({type, second, ""});
        continue;
      }
      const auto answer = office_.approve(put_draft(store_, customer, type, now));
      ASSERT_EQ(answer.has_value(), reference(type, last, now).empty())
          << "step " << step << ": " << type << ", " << outcome_of(answer);
      if (!answer) continue;
      history.push_back({type, now, answer->email_id});
      if (one_of(5) != 0) continue;
      // It is cancelled, and no longer counts.
      ASSERT_TRUE(office_.outbox.cancel(answer->email_id, "", "test"));
      office_.deliveries.note(answer->email_id);
      ASSERT_TRUE(succeeded(office_.deliveries.run_once()));
      history.pop_back();
    }
  }
}

}  // namespace
}  // namespace postino::reminders
