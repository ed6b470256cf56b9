#include "reminders/record/rule.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/timestamp.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr base::Milliseconds day = 24h;

base::TimePoint at(std::string_view text) { return base::parse_timestamp(text).value(); }

LastSent sent(std::string type, base::TimePoint time) { return {type, time, "SENT#" + type}; }

TEST(UsualRules, AreThoseOfTheSeed) {
  const Rules rules = Rules::usual();
  ASSERT_EQ(rules.all().size(), 3U);
  EXPECT_EQ(rules.all()[0], (Rule{"first", 7 * day, "", 0ms}));
  EXPECT_EQ(rules.all()[1], (Rule{"second", 5 * day, "first", 7 * day}));
  EXPECT_EQ(rules.all()[2], (Rule{"final", 3 * day, "second", 5 * day}));
  EXPECT_EQ(rules.longest_pause(), 7 * day);
  EXPECT_TRUE(Rules::make(rules.all())) << "they keep the rules of rules";
}

// A second before a time is over, when it is over, and a second later.
struct Edge {
  std::string type;
  std::vector<std::pair<std::string, base::Milliseconds>> sent;  // type, how long after the beginning
  base::Milliseconds allowed;                                    // after the beginning
  Reason before;
};

void expect_edge(const Edge& edge, base::TimePoint beginning) {
  std::vector<LastSent> history;
  for (const auto& [type, time] : edge.sent) history.push_back(sent(type, beginning + time));
  const Rules rules = Rules::usual();
  const auto decide = [&](base::Milliseconds shift) {
    return rules.decide(edge.type, history, beginning + edge.allowed + shift);
  };
  const std::string where = edge.type + " from " + base::format_timestamp(beginning);
  const Decision early = decide(-1s);
  EXPECT_EQ(early.reason, edge.before) << where;
  EXPECT_EQ(early.allowed_from, beginning + edge.allowed) << where;
  EXPECT_EQ(decide(-1ms).reason, edge.before) << where;
  EXPECT_TRUE(decide(0s).is_allowed()) << where;
  EXPECT_TRUE(decide(1s).is_allowed()) << where;
}

TEST(Decision, ChangesAtTheEdges) {
  // Across a year, across both changes of daylight saving time in Europe, and over a leap day.
  for (const char* const beginning : {"2026-06-01T12:00:00Z", "2026-12-28T23:59:59.999Z", "2026-03-27T00:30:00Z",
                                      "2026-10-23T01:30:00+02:00", "2028-02-26T00:00:00Z"})
    for (const Edge& edge : std::vector<Edge>{
             {"first", {{"first", 0s}}, 7 * day, Reason::too_soon},
             {"second", {{"first", 0s}}, 7 * day, Reason::too_soon_after},
             {"second", {{"first", 0s}, {"second", 7 * day}}, 12 * day, Reason::too_soon},
             {"second", {{"first", 6 * day}, {"second", 7 * day}}, 13 * day, Reason::too_soon_after},
             {"final", {{"first", 0s}, {"second", 7 * day}}, 12 * day, Reason::too_soon_after},
             {"final", {{"second", 0s}, {"final", 5 * day}}, 8 * day, Reason::too_soon},
             {"final", {{"second", 4 * day}, {"final", 5 * day}}, 9 * day, Reason::too_soon_after},
         })
      expect_edge(edge, at(beginning));
}

TEST(Decision, NeedsTheOneBefore) {
  const Rules rules = Rules::usual();
  const base::TimePoint now = at("2026-06-01T12:00:00Z");
  for (const auto& [type, history] : std::vector<std::pair<std::string, std::vector<LastSent>>>{
           {"second", {}},
           {"second", {sent("final", now - 90 * day)}},
           {"final", {}},
           {"final", {sent("first", now - 90 * day)}},
           {"final", {sent("first", now - 90 * day), sent("final", now - 60 * day)}}}) {
    const Decision decision = rules.decide(type, history, now);
    EXPECT_EQ(decision.reason, Reason::missing_before) << type;
    EXPECT_EQ(decision.allowed_from, std::nullopt) << "waiting does not help";
  }
}

TEST(Decision, KnowsNoOtherType) {
  const Decision decision = Rules::usual().decide("fourth", {}, at("2026-06-01T12:00:00Z"));
  EXPECT_EQ(decision.reason, Reason::unknown_type);
  EXPECT_THAT(decision.explanation, HasSubstr("fourth"));
}

TEST(Decision, NamesTheRecordsItRestsOn) {
  const base::TimePoint now = at("2026-06-20T12:00:00Z");
  const LastSent first = sent("first", now - 10 * day), second = sent("second", now - 3 * day);
  const Decision decision = Rules::usual().decide("second", {first, second}, now);
  EXPECT_EQ(decision.reason, Reason::too_soon);
  EXPECT_THAT(decision.rests_on, ElementsAre(second, first));
  EXPECT_EQ(decision.explanation,
            "a second reminder was sent at 2026-06-17T12:00:00.000Z, and there is none within 5 days");
  EXPECT_THAT(Rules::usual().decide("first", {second}, now).rests_on, IsEmpty());
}

// Another server's clock may be ahead of this one's.
TEST(Decision, CountsWhatWasSentInTheFuture) {
  const base::TimePoint now = at("2026-06-01T12:00:00Z");
  const Decision decision = Rules::usual().decide("first", {sent("first", now + day)}, now);
  EXPECT_EQ(decision.reason, Reason::too_soon);
  EXPECT_EQ(decision.allowed_from, now + 8 * day);
}

TEST(Rules, BreakingTheirOwnRulesAreRefused) {
  const auto fault = [](std::vector<Rule> rules) {
    const auto made = Rules::make(std::move(rules));
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(fault({}), "there must be 1 to 20 types of reminders");
  EXPECT_THAT(fault({{"", day, "", 0ms}}), HasSubstr("lower-case letters"));
  EXPECT_THAT(fault({{"First", day, "", 0ms}}), HasSubstr("lower-case letters"));
  EXPECT_THAT(fault({{"a#b", day, "", 0ms}}), HasSubstr("lower-case letters"));
  EXPECT_EQ(fault({{"a", day, "", 0ms}, {"a", day, "", 0ms}}), "the type a occurs twice");
  EXPECT_EQ(fault({{"a", -1ms, "", 0ms}}), "the type a: times must be from 0 to 366 days");
  EXPECT_EQ(fault({{"a", 367 * day, "", 0ms}}), "the type a: times must be from 0 to 366 days");
  EXPECT_EQ(fault({{"a", day, "", day}}), "the type a has a time after another type, and names none that it follows");
  EXPECT_EQ(fault({{"a", day, "b", day}}), "the type a follows b, which does not exist");
  EXPECT_EQ(fault({{"a", day, "a", day}}), "the type a follows itself in the end");
  EXPECT_EQ(fault({{"a", day, "b", day}, {"b", day, "c", day}, {"c", day, "a", day}}),
            "the type a follows itself in the end");
  EXPECT_EQ(fault({{"a", day, "b", day}, {"b", day, "b", day}}), "the type a follows itself in the end");
  EXPECT_EQ(fault(std::vector<Rule>(21, Rule{"a", day, "", 0ms})), "there must be 1 to 20 types of reminders");
  EXPECT_EQ(fault({{"a", 0ms, "", 0ms}, {"b-2_x", 366 * day, "a", 366 * day}}), "");
}

// All that was ever sent, and the sentences of the seed one by one.
class PlainReference {
 public:
  bool allows(const std::string& type, base::TimePoint now) const {
    if (type == "first") return none_within(type, 7, now);
    if (type == "second") return none_within(type, 5, now) && was_sent("first") && none_within("first", 7, now);
    return none_within(type, 3, now) && was_sent("second") && none_within("second", 5, now);
  }
  void send(const std::string& type, base::TimePoint now) { all_.emplace_back(type, now); }
  std::vector<LastSent> last() const {
    std::map<std::string, base::TimePoint> last;
    for (const auto& [type, time] : all_) last[type] = time;
    std::vector<LastSent> list;
    for (const auto& [type, time] : last) list.push_back(sent(type, time));
    return list;
  }

 private:
  bool none_within(const std::string& type, int days, base::TimePoint now) const {
    return std::ranges::none_of(all_,
                                [&](const auto& one) { return one.first == type && one.second > now - days * day; });
  }
  bool was_sent(const std::string& type) const {
    return std::ranges::any_of(all_, [&](const auto& one) { return one.first == type; });
  }

  std::vector<std::pair<std::string, base::TimePoint>> all_;
};

TEST(Decision, AgreesWithAPlainReferenceOnRandomHistories) {
  const Rules rules = Rules::usual();
  const std::vector<std::string> types = {"first", "second", "final"};
  std::mt19937 random(7);
  int allowed = 0, refused = 0;
  for (int history = 0; history < 300; ++history) {
    PlainReference reference;
    base::TimePoint now = at("2026-11-20T00:00:00Z");
    for (int step = 0; step < 60; ++step) {
      // Whole days now and then, so that edges are met.
      now += random() % 3 == 0 ? base::Milliseconds(random() % 4 * day) : base::Milliseconds(random() % 200'000'000);
      const std::string& type = types[random() % types.size()];
      const Decision decision = rules.decide(type, reference.last(), now);
      ASSERT_EQ(decision.is_allowed(), reference.allows(type, now)) << type << " in history " << history;
      if (decision.allowed_from) {
        ASSERT_TRUE(reference.allows(type, *decision.allowed_from)) << type << " in history " << history;
        if (!decision.is_allowed()) {
          ASSERT_FALSE(reference.allows(type, *decision.allowed_from - 1ms));
        }
      }
      (decision.is_allowed() ? allowed : refused) += 1;
      if (decision.is_allowed()) reference.send(type, now);
    }
  }
  EXPECT_GT(allowed, 1'000);
  EXPECT_GT(refused, 1'000);
}

}  // namespace
}  // namespace postino::reminders
