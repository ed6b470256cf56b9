#include "api/protocol/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(Problem, IsWrittenAsRfc9457HasIt) {
  json::FieldErrors errors;
  errors.add("data[0].to", "is required");
  errors.add("data[0].\"x\"", "is not known");
  const Problem problem = refuse_fields(problems::invalid_request, errors).value();
  EXPECT_EQ(to_json(problem, "id-1"),
            R"({"type":"urn:postino:problem:INVALID_REQUEST","title":"The request is invalid","status":400,)"
            R"("detail":"data[0].to is required, and 1 more error.","code":"INVALID_REQUEST",)"
            R"("errors":[{"field":"data[0].to","rule":"is required"},)"
            R"({"field":"data[0].\"x\"","rule":"is not known"}],"request_id":"id-1"})");
}

TEST(Problem, ErrorsOfTheOutboxBecomeStatuses) {
  using base::ErrorCode;
  const auto status = [](ErrorCode code) { return problem_of({code, "words"}, problems::email_not_found).type.status; };
  EXPECT_EQ(status(ErrorCode::invalid), 400);
  EXPECT_EQ(status(ErrorCode::malformed), 400);
  EXPECT_EQ(status(ErrorCode::not_found), 404);
  EXPECT_EQ(status(ErrorCode::conflict), 409);
  EXPECT_EQ(status(ErrorCode::exhausted), 503);
  EXPECT_EQ(status(ErrorCode::io), 503);
  EXPECT_EQ(status(ErrorCode::corrupt), 500);
}

// What a list needs and is not there is no fault of the caller: the answer names it, and so does the log.
TEST(Problem, WhatTheServerLacksIsNamed) {
  const base::Error lack{base::ErrorCode::not_found, "table t has no index i"};
  const Problem ours = problem_of(lack, problems::internal_error);
  EXPECT_EQ(ours.type.status, 500);
  EXPECT_EQ(ours.detail, "Table t has no index i.");
  EXPECT_EQ(ours.cause, lack.message);
  EXPECT_EQ(problem_of(lack, problems::email_not_found).cause, "");
}

TEST(Problem, AStoreWithoutATableCannotBeUsed) {
  const base::Error lack{base::ErrorCode::not_found, "ResourceNotFoundException: Requested resource not found"};
  for (const ProblemType& absent : {problems::email_not_found, problems::internal_error}) {
    const Problem problem = problem_of(lack, absent);
    EXPECT_EQ(problem.type.status, 503) << absent.status;
    EXPECT_EQ(problem.cause, lack.message);
  }
}

TEST(Problem, FaultsOfTheMessageServiceBecomeStatuses) {
  using messages::FaultKind;
  const std::pair<FaultKind, ProblemType> meanings[] = {
      {FaultKind::invalid, problems::invalid_request},
      {FaultKind::forbidden, problems::forbidden},
      {FaultKind::no_such_queue, problems::no_such_queue},
      {FaultKind::in_progress, problems::idempotency_key_in_progress},
      {FaultKind::other_request, problems::idempotency_key_reused},
      {FaultKind::unsupported, problems::broker_cannot},
      {FaultKind::unreachable, problems::broker_unreachable},
      {FaultKind::broker, problems::broker_failed},
      {FaultKind::exhausted, problems::overloaded},
      {FaultKind::store, problems::store_unavailable},
      {FaultKind::unknown, problems::outcome_unknown},
      {FaultKind::timed_out, problems::broker_timed_out},
      {FaultKind::internal, problems::internal_error},
  };
  for (const auto& [kind, type] : meanings) {
    const Problem problem = problem_of(messages::Fault{.kind = kind, .message = "words"});
    EXPECT_EQ(problem.type.status, type.status) << name_of(kind);
    EXPECT_EQ(problem.type.code, type.code) << name_of(kind);
  }
}

TEST(Problem, FaultsOfTheMessageServiceKeepWhatCallersNeed) {
  messages::Fault fault{.kind = messages::FaultKind::unreachable, .message = "nobody answers"};
  fault.endpoints = {{"a:1", "closed"}};
  fault.retry_after = base::Milliseconds(4'001);
  EXPECT_FALSE(problem_of(fault).is_told);
  fault.is_told = true;
  const Problem problem = problem_of(fault);
  EXPECT_TRUE(problem.is_told);
  EXPECT_EQ(problem.detail, "Nobody answers.");
  EXPECT_EQ(problem.cause, "nobody answers; a:1: closed");
  EXPECT_THAT(problem.endpoints, testing::SizeIs(1));
  EXPECT_THAT(problem.headers, ElementsAre(Pair("Retry-After", "5")));
  messages::Fault broken{.kind = messages::FaultKind::invalid, .message = "words"};
  broken.fields = {{"target", "is required"}};
  EXPECT_THAT(to_json(problem_of(broken), "id"), HasSubstr(R"("field":"target")"));
  for (const messages::FaultKind kind :
       {messages::FaultKind::internal, messages::FaultKind::store, messages::FaultKind::unknown}) {
    const Problem hidden = problem_of(messages::Fault{.kind = kind, .message = "/var/lib"});
    EXPECT_THAT(to_json(hidden, "id"), Not(HasSubstr("/var/lib")));
    EXPECT_EQ(hidden.cause, "/var/lib");
  }
}

TEST(Problem, WhatIsNoFaultOfTheCallerIsToldToTheLogAlone) {
  for (const base::ErrorCode code : {base::ErrorCode::io, base::ErrorCode::exhausted, base::ErrorCode::corrupt}) {
    const Problem problem = problem_of({code, "/var/lib: no space"}, problems::email_not_found);
    EXPECT_THAT(to_json(problem, "id"), Not(HasSubstr("/var/lib")));
    EXPECT_EQ(problem.cause, "/var/lib: no space");
  }
  const Problem conflict = problem_of({base::ErrorCode::conflict, "it is SENT"}, problems::email_not_found);
  EXPECT_EQ(conflict.detail, "It is SENT.");
}

TEST(Problem, ThoseThatPassSayWhenToComeAgain) {
  EXPECT_THAT(problem_of({base::ErrorCode::io, ""}, {}).headers, ElementsAre(Pair("Retry-After", "1")));
  EXPECT_THAT(refuse(problems::overloaded, "").value().headers, ElementsAre(Pair("Retry-After", "1")));
  EXPECT_THAT(refuse(problems::idempotency_key_in_progress, "").value().headers, ElementsAre(Pair("Retry-After", "1")));
}

TEST(Problem, RefusalsOfRemindersBecomeStatuses) {
  using enum reminders::RefusalKind;
  const std::pair<reminders::RefusalKind, ProblemType> meanings[] = {{invalid, problems::invalid_request},
                                                                     {unknown_customer, problems::customer_not_found},
                                                                     {unknown_invoice, problems::invoice_not_found},
                                                                     {unknown_template, problems::template_not_found},
                                                                     {unknown_branding, problems::template_not_found},
                                                                     {unknown_draft, problems::draft_not_found},
                                                                     {unknown_reminder, problems::reminder_not_found},
                                                                     {other_revision, problems::other_revision},
                                                                     {wrong_state, problems::wrong_reminder_state},
                                                                     {rule, problems::reminder_rule},
                                                                     {stopped, problems::reminders_stopped},
                                                                     {same_person, problems::same_person},
                                                                     {busy, problems::busy},
                                                                     {unavailable, problems::store_unavailable},
                                                                     {outcome_unknown, problems::outcome_unknown},
                                                                     {corrupt, problems::unreadable_record}};
  for (const auto& [kind, type] : meanings) {
    const Problem problem = problem_of(reminders::Refusal{.kind = kind, .message = "words"});
    EXPECT_EQ(problem.type.code, type.code);
    EXPECT_EQ(problem.headers.empty(), !type.passes) << type.code;
  }
}

TEST(Problem, WhatAilsTheStoreOfRemindersIsForTheLog) {
  for (const auto kind : {reminders::RefusalKind::unavailable, reminders::RefusalKind::outcome_unknown}) {
    const Problem problem = problem_of(reminders::Refusal{.kind = kind, .message = "the disk is on fire"});
    EXPECT_THAT(problem.detail, Not(HasSubstr("fire")));
    EXPECT_EQ(problem.cause, "the disk is on fire");
  }
}

TEST(Problem, ARefusedReminderSaysByWhichRuleAndUntilWhen) {
  reminders::Refusal refusal{.kind = reminders::RefusalKind::rule, .message = "the last one was sent too soon"};
  refusal.decision = reminders::Decision{.reason = reminders::Reason::too_soon,
                                         .allowed_from = base::TimePoint(std::chrono::seconds(1'767'323'045))};
  refusal.current_revision = 3;
  EXPECT_THAT(to_json(problem_of(refusal), "id-1"),
              HasSubstr(R"("current_revision":3,"rule":"too_soon","allowed_from":"2026-01-02T03:04:05.000Z",)"));
}

TEST(Problem, ARefusedFieldOfAReminderIsNamed) {
  reminders::Refusal refusal;
  refusal.faults = {{"customer_id", "must be known"}, {"reminder_type", "must have a rule"}};
  const Problem problem = problem_of(refusal);
  EXPECT_EQ(problem.detail, "customer_id must be known, and 1 more error.");
  EXPECT_EQ(problem.errors.size(), 2U);
}

}  // namespace
}  // namespace postino::api
