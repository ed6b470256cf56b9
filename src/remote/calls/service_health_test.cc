#include "remote/calls/service_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/logged_lines_testing.h"

namespace postino::remote {
namespace {

using base::Milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ServiceHealthTest : public testing::Test {
 protected:
  // A call that took a moment.
  void call(std::string_view operation, std::string_view table, Trouble trouble = Trouble::none, Api api = Api::data) {
    health_.note({.api = api,
                  .operation = operation,
                  .table = table,
                  .begun = now_,
                  .ended = now_,
                  .trouble = trouble,
                  .why = trouble == Trouble::none ? "" : "why"});
  }
  void pass(seconds time) { now_ += time; }
  std::vector<std::string> problems(Api api = Api::data) const { return health_.problems(api, now_); }

  ServiceHealth health_{
      "data.example:443", "streams.example:443", {{"emails", {"GetItem", "PutItem"}}, {"tickets", {"GetItem"}}}};
  Milliseconds now_{100'000};
};

TEST_F(ServiceHealthTest, AFailureIsAProblemWhenItLasts) {
  call("GetItem", "emails", Trouble::unusable);
  EXPECT_THAT(problems(), IsEmpty());
  pass(seconds(4));
  call("PutItem", "tickets", Trouble::unusable);
  EXPECT_THAT(problems(), IsEmpty());
  pass(seconds(1));
  call("PutItem", "tickets", Trouble::unusable);
  EXPECT_THAT(problems(), ElementsAre("DynamoDB data.example:443 could not be used at the last attempt: why"));
  call("GetItem", "emails");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(ServiceHealthTest, FailuresAmongSuccessesAreNone) {
  for (int i = 0; i < 100; ++i) {
    call("GetItem", "emails", Trouble::unusable);
    pass(seconds(1));
    call("GetItem", "tickets");
    EXPECT_THAT(problems(), IsEmpty());
  }
}

TEST_F(ServiceHealthTest, ACallThatWasRepeatedForLongHasSeenThatItLasts) {
  const auto repeated = [&](Milliseconds begun) {
    health_.note({.operation = "GetItem",
                  .table = "emails",
                  .begun = begun,
                  .ended = now_,
                  .trouble = Trouble::unusable,
                  .why = "why"});
  };
  const Milliseconds begun = now_;
  pass(seconds(9));
  call("GetItem", "tickets");
  pass(seconds(1));
  repeated(begun);
  EXPECT_THAT(problems(), IsEmpty()) << "others have succeeded meanwhile";
  call("GetItem", "tickets");
  pass(seconds(10));
  repeated(now_ - seconds(10));
  EXPECT_EQ(problems().size(), 1U);
}

TEST_F(ServiceHealthTest, StreamsAreApart) {
  for (int i = 0; i < 3; ++i) {
    call("GetRecords", "emails", Trouble::unusable, Api::streams);
    pass(seconds(5));
    call("GetItem", "emails");
  }
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_THAT(problems(Api::streams),
              ElementsAre("DynamoDB Streams streams.example:443 could not be used at the last attempt: why"));
  call("GetRecords", "emails", Trouble::missing, Api::streams);
  EXPECT_THAT(problems(Api::streams), IsEmpty()) << "a stream may end";
}

TEST_F(ServiceHealthTest, WhatIsNotAllowedIsNamed) {
  for (int i = 0; i < 2; ++i) {
    call("PutItem", "emails", Trouble::denied);
    call("GetItem", "emails");
    EXPECT_THAT(problems(), i == 0 ? testing::Matcher<std::vector<std::string>>(IsEmpty())
                                   : ElementsAre(HasSubstr("does not allow PutItem of table emails: give the server's "
                                                           "keys the rights that postino tables export --format iam")));
    pass(seconds(5));
  }
  call("PutItem", "emails");
  EXPECT_THAT(problems(), IsEmpty());
}

// Those who call the DynamoDB API of a server ask for what they like.
TEST_F(ServiceHealthTest, WhatTheProgramDoesNotNeedIsNoProblem) {
  for (int i = 0; i < 3; ++i) {
    call("PutItem", "orders", Trouble::denied);
    call("GetItem", "orders", Trouble::missing);
    call("GetItem", "orders", Trouble::throttled);
    call("DeleteTable", "emails", Trouble::denied);
    call("ListTables", "", Trouble::denied);
    pass(seconds(5));
  }
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_FALSE(health_.is_needed(Api::data, "DeleteTable", "emails", Trouble::denied));
  EXPECT_TRUE(health_.is_needed(Api::data, "TransactWriteItems", "emails", Trouble::denied));
}

TEST_F(ServiceHealthTest, ATableThatIsMissingIsNamedUntilItIsThere) {
  for (int i = 0; i < 2; ++i) {
    call("GetItem", "tickets", Trouble::missing);
    call("TransactWriteItems", "emails", Trouble::missing);
    pass(seconds(5));
  }
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("has no table tickets: restore it from a backup. Only postino tables apply"),
                          HasSubstr("has no table emails, or another that TransactWriteItems is about")));
  call("DescribeTable", "tickets");
  call("TransactWriteItems", "emails");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(ServiceHealthTest, ThrottlingIsAProblemOfOneOperationOnOneTable) {
  for (int i = 0; i < 2; ++i) {
    call("PutItem", "emails", Trouble::throttled);
    call("GetItem", "emails");
    pass(seconds(5));
  }
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("throttles PutItem of table emails: give the table more throughput")));
}

TEST_F(ServiceHealthTest, ThrottlingThatIsOverIsSoonForgotten) {
  for (int i = 0; i < 2; ++i) {
    call("PutItem", "emails", Trouble::throttled);
    pass(seconds(5));
  }
  EXPECT_EQ(problems().size(), 1U);
  now_ += ServiceHealth::throttling_forgotten_after;
  EXPECT_THAT(problems(), IsEmpty()) << "nobody has put anything since";
}

// Nobody may ever call it again.
TEST_F(ServiceHealthTest, ARefusalThatDoesNotComeAgainIsForgotten) {
  for (int i = 0; i < 2; ++i) {
    call("PutItem", "emails", Trouble::denied);
    pass(seconds(5));
  }
  EXPECT_EQ(problems().size(), 1U);
  now_ += ServiceHealth::forgotten_after;
  EXPECT_THAT(problems(), IsEmpty());
  call("PutItem", "emails", Trouble::denied);
  EXPECT_THAT(problems(), IsEmpty()) << "it starts over";
}

TEST_F(ServiceHealthTest, WhatWasNotSentSaysNothing) {
  call("GetItem", "emails", Trouble::unusable);
  pass(seconds(5));
  call("GetItem", "emails", Trouble::untried);
  EXPECT_THAT(problems(), IsEmpty());
  call("GetItem", "emails", Trouble::unusable);
  EXPECT_EQ(problems().size(), 1U);
}

TEST_F(ServiceHealthTest, EachKindIsToldOnce) {
  const net::LoggedLines lines;
  for (int i = 0; i < 20; ++i) {
    for (const std::string_view operation : {"GetItem", "PutItem"}) call(operation, "emails", Trouble::denied);
    call("GetItem", "tickets", Trouble::missing);
    pass(seconds(5));
  }
  EXPECT_EQ(lines.count("\n"), 2) << lines.text();
  EXPECT_EQ(lines.count("calls are not allowed"), 1);
  EXPECT_EQ(lines.count("a table is missing"), 1);
  call("GetItem", "emails");
  EXPECT_EQ(lines.count("\n"), 2) << "the other one is not allowed yet";
  call("PutItem", "emails");
  call("GetItem", "tickets");
  EXPECT_EQ(lines.count("\n"), 4) << lines.text();
  EXPECT_EQ(lines.count("this is over: calls are not allowed"), 1);
}

}  // namespace
}  // namespace postino::remote
