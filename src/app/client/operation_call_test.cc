#include "app/client/operation_call.h"

#include <gmock/gmock.h>

namespace postino::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(OperationCall, PutsParametersWhereTheOperationHasThem) {
  OperationCall list("listEmails");
  list.set("status", "").set("from", "2026-01-01T00:00:00+01:00").set("limit", "5");
  EXPECT_EQ(list.operation().method, "GET");
  EXPECT_EQ(list.target(), "/emails?from=2026-01-01T00%3A00%3A00%2B01%3A00&limit=5");
  EXPECT_EQ(OperationCall("countEmails").target(), "/emails/counts");
  EXPECT_EQ(OperationCall("getQueueDepth").set("queue", "a/b c").set("connection", "main").target(),
            "/messages/queues/a%2Fb%20c/depth?connection=main");
  OperationCall cancel("cancelEmail");
  cancel.set("id", "7").set("Idempotency-Key", "k");
  EXPECT_EQ(cancel.target(), "/emails/7/cancel");
  EXPECT_THAT(cancel.headers(), ElementsAre(Pair("Idempotency-Key", "k")));
  EXPECT_THAT(list.headers(), IsEmpty());
}

TEST(OperationCall, HasABodyWhereOneIsRequired) {
  EXPECT_EQ(OperationCall("cancelEmail").body_text(), "");
  EXPECT_EQ(OperationCall("testConnection").body_text(), "{}");
  OperationCall cancel("cancelEmail");
  cancel.body().set_text("reason", "a \"reason\"");
  EXPECT_EQ(cancel.body_text(), R"({"reason":"a \"reason\""})");
}

TEST(RequestObject, MakesObjectsWithinByThemselves) {
  OperationCall produce("produceMessages");
  RequestObject& body = produce.body();
  body.set_text("target.queueName", "q");
  body.set_number("settings.batchSize", 7);
  body.set_json("messages", R"([{"body":1}])");
  body.set_flag("settings.persistent", false);
  body.set_text("target.queueName", "p");
  EXPECT_EQ(body.json(),
            R"({"target":{"queueName":"p"},"settings":{"batchSize":7,"persistent":false},"messages":[{"body":1}]})");
}

using OperationCallDeathTest = ::testing::Test;

TEST_F(OperationCallDeathTest, WhatTheApiDoesNotHaveIsAFaultOfTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(OperationCall("listMails"), "");
  EXPECT_DEATH(OperationCall("listEmails").set("state", "SENT"), "");
  EXPECT_DEATH(OperationCall("cancelEmail").body().set_text("cause", "none"), "");
  EXPECT_DEATH(OperationCall("getEmail").target(), "");
}

}  // namespace
}  // namespace postino::app
