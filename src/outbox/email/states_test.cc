#include "outbox/email/states.h"

#include <gtest/gtest.h>

#include <set>

#include "outbox/email/state_machine_testing.h"

namespace postino::outbox {
namespace {

std::set<std::string_view> successors(State from) {
  std::set<std::string_view> names;
  for (const State to : all_states())
    if (may_follow(from, to)) names.insert(name_of(to));
  return names;
}

TEST(States, AreTheFifteenThatAreDocumented) {
  std::set<std::string_view> names;
  for (const State state : all_states()) names.insert(name_of(state));
  const std::set<std::string_view> documented = {"ACCEPTED",
                                                 "INTAKING",
                                                 "READY",
                                                 "PROCESSING",
                                                 "SENT",
                                                 "FAILED",
                                                 "INVALID",
                                                 "CALLING-SENT-CALLBACK",
                                                 "CALLING-FAILED-CALLBACK",
                                                 "CALLING-INVALID-CALLBACK",
                                                 "SENT-ACKNOWLEDGED",
                                                 "FAILED-ACKNOWLEDGED",
                                                 "INVALID-ACKNOWLEDGED",
                                                 "HELD",
                                                 "CANCELLED"};
  EXPECT_EQ(names, documented);
  EXPECT_EQ(all_states().size(), 15U);
}

TEST(States, AreReadBackByTheirNames) {
  for (const State state : all_states()) EXPECT_EQ(parse_state(name_of(state)), state);
  for (const char* name : {"", "accepted", "SENT ", "BOUNCED", "_META", "PROCESSING#2"})
    EXPECT_EQ(parse_state(name), std::nullopt) << name;
}

TEST(States, HaveTheDocumentedSuccessorsAndNoOthers) {
  using enum State;
  using Names = std::set<std::string_view>;
  EXPECT_EQ(successors(accepted), (Names{"INTAKING", "HELD", "CANCELLED"}));
  EXPECT_EQ(successors(intaking), (Names{"READY", "INVALID", "ACCEPTED", "HELD"}));
  EXPECT_EQ(successors(ready), (Names{"PROCESSING", "HELD", "CANCELLED"}));
  EXPECT_EQ(successors(processing), (Names{"SENT", "FAILED", "READY", "HELD"}));
  EXPECT_EQ(successors(sent), (Names{"CALLING-SENT-CALLBACK"}));
  EXPECT_EQ(successors(failed), (Names{"CALLING-FAILED-CALLBACK", "READY"}));
  EXPECT_EQ(successors(invalid), (Names{"CALLING-INVALID-CALLBACK", "ACCEPTED"}));
  EXPECT_EQ(successors(calling_sent), (Names{"SENT-ACKNOWLEDGED", "SENT"}));
  EXPECT_EQ(successors(calling_failed), (Names{"FAILED-ACKNOWLEDGED", "FAILED"}));
  EXPECT_EQ(successors(calling_invalid), (Names{"INVALID-ACKNOWLEDGED", "INVALID"}));
  EXPECT_EQ(successors(sent_acknowledged), Names{}) << "what was sent is never sent again";
  EXPECT_EQ(successors(failed_acknowledged), (Names{"READY"}));
  EXPECT_EQ(successors(invalid_acknowledged), (Names{"ACCEPTED"}));
  EXPECT_EQ(successors(held), (Names{"ACCEPTED", "READY", "CANCELLED"}));
  EXPECT_EQ(successors(cancelled), Names{});
}

TEST(States, EveryWayThePipelinesTakeIsLegal) {
  std::set<State> claimed;
  for (const Pipeline pipeline : {Pipeline::intake, Pipeline::send, Pipeline::callback})
    for (const State waiting : states_claimed_by(pipeline)) {
      EXPECT_EQ(kind_of(waiting), StateKind::waiting);
      EXPECT_TRUE(claimed.insert(waiting).second) << name_of(waiting) << " belongs to two pipelines";
      const auto working = claimed_form(waiting);
      ASSERT_TRUE(working) << name_of(waiting);
      EXPECT_EQ(kind_of(*working), StateKind::working);
      EXPECT_TRUE(may_follow(waiting, *working)) << name_of(waiting);
      EXPECT_EQ(rescued_form(*working), waiting);
      EXPECT_TRUE(may_follow(*working, waiting)) << name_of(waiting);
      EXPECT_EQ(acknowledged_form(*working).has_value(), pipeline == Pipeline::callback);
    }
  for (const State state : all_states()) {
    EXPECT_EQ(claimed.contains(state), kind_of(state) == StateKind::waiting) << name_of(state);
    EXPECT_EQ(claimed_form(state).has_value(), kind_of(state) == StateKind::waiting) << name_of(state);
    EXPECT_EQ(rescued_form(state).has_value(), kind_of(state) == StateKind::working) << name_of(state);
    if (const auto next = acknowledged_form(state)) {
      EXPECT_TRUE(may_follow(state, *next)) << name_of(state);
      EXPECT_EQ(kind_of(*next), StateKind::resting);
    }
    if (kind_of(state) == StateKind::resting) continue;
    EXPECT_NE(successors(state).size(), 0U) << name_of(state) << " has no way on";
  }
}

TEST(States, OnlyWhatEndedBadlyOrLostItsWorkerIsRequeued) {
  using enum State;
  const auto requeued = [](State state) {
    Email email;
    email.version = 1;
    email.state = state;
    email.due_at = base::TimePoint();
    const auto change = decide(email, event::Requeued{}, Policy(), base::TimePoint(std::chrono::seconds(1)));
    return change ? std::optional(change->after.state) : std::nullopt;
  };
  for (const State state : all_states()) {
    const bool ended_badly =
        state == failed || state == failed_acknowledged || state == invalid || state == invalid_acknowledged;
    EXPECT_EQ(requeued(state).has_value(), ended_badly || kind_of(state) == StateKind::working) << name_of(state);
    if (kind_of(state) == StateKind::working) EXPECT_EQ(requeued(state), rescued_form(state)) << name_of(state);
  }
  EXPECT_EQ(requeued(failed_acknowledged), ready);
  EXPECT_EQ(requeued(invalid_acknowledged), accepted);
}

}  // namespace
}  // namespace postino::outbox
