#include "api/protocol/schema.h"

#include <gtest/gtest.h>

#include "api/protocol/operation.h"
#include "api/protocol/schemas.h"
#include "api/route_list.h"

namespace postino::api {
namespace {

using enum Presence;

std::string text_of(const Schema& schema) {
  std::string text;
  json::Writer json(text);
  write_schema(json, schema);
  return text;
}

TEST(Schema, IsWrittenAsJsonSchemaHasIt) {
  EXPECT_EQ(text_of({}), "{}");
  EXPECT_EQ(text_of({.reference = "State", .description = "Of it."}),
            R"({"$ref":"#/components/schemas/State","description":"Of it."})");
  EXPECT_EQ(text_of({.type = "string", .nullable = true, .format = "date-time"}),
            R"({"type":["string","null"],"format":"date-time"})");
  EXPECT_EQ(text_of({.type = "string", .choices = {"A", "B"}, .default_value = R"("A")", .example = R"("B")"}),
            R"({"type":"string","enum":["A","B"],"default":"A","examples":["B"]})");
  EXPECT_EQ(text_of({.type = "object",
                     .properties = {{"a", {.type = "integer"}, required}, {"b", {}}},
                     .one_required = {"b", "c"},
                     .closed = true}),
            R"({"type":"object","required":["a"],"anyOf":[{"required":["b"]},{"required":["c"]}],)"
            R"("properties":{"a":{"type":"integer"},"b":{}},"additionalProperties":false})");
  EXPECT_EQ(text_of({.alternatives = {{.type = "string"}}, .parts = {{.reference = "Email"}}}),
            R"({"anyOf":[{"type":"string"}],"allOf":[{"$ref":"#/components/schemas/Email"}]})");
}

TEST(Schema, LimitsAreCalledAsTheTypeWantsIt) {
  EXPECT_EQ(text_of({.type = "string", .least = 1, .most = 2}), R"({"type":"string","minLength":1,"maxLength":2})");
  EXPECT_EQ(text_of({.type = "integer", .least = 0}), R"({"type":"integer","minimum":0})");
  EXPECT_EQ(text_of({.type = "array", .most = 3, .elements = {{}}}), R"({"type":"array","maxItems":3,"items":{}})");
  EXPECT_EQ(text_of({.type = "object", .most = 4, .elements = {{.type = "string"}}}),
            R"({"type":"object","maxProperties":4,"additionalProperties":{"type":"string"}})");
}

TEST(Schema, PropertiesAreFoundByTheirPath) {
  const Schema& produce = schema_named("ProduceRequest");
  ASSERT_NE(find_property(produce, "settings.batchSize"), nullptr);
  EXPECT_EQ(find_property(produce, "settings.batchSize")->type, "integer");
  ASSERT_NE(find_property(produce, "messages[].format"), nullptr) << "by way of a reference";
  EXPECT_EQ(find_property(produce, "messages[].format")->choices.size(), 3U);
  EXPECT_NE(find_property(schema_named("EmailWithHistory"), "created_at"), nullptr) << "in a part";
  EXPECT_NE(find_property(schema_named("EmailWithHistory"), "history[].at"), nullptr);
  EXPECT_NE(find_property(schema_named("Payload"), "attachments[].content_base64"), nullptr) << "in an alternative";
  for (const char* const path : {"", "nothing", "settings.nothing", "messages.format", "target[]", "target[].queueName",
                                 "settings.batchSize.more", "idempotencyKey.more"})
    EXPECT_EQ(find_property(produce, path), nullptr) << path;
}

TEST(Operation, IsFoundByItsId) {
  ASSERT_NE(find_operation("listEmails"), nullptr);
  EXPECT_EQ(find_operation("listEmails")->path, "/emails");
  EXPECT_EQ(find_operation("listMails"), nullptr);
}

TEST(Operation, KnowsWhatItTakesAndAnswers) {
  const Operation& produce = *find_operation("produceMessages");
  EXPECT_EQ(body_schema(produce), &schema_named("ProduceRequest"));
  EXPECT_EQ(answer_schema(produce), &schema_named("MessagesAnswer"));
  EXPECT_NE(find_parameter(produce, "Idempotency-Key"), nullptr);
  EXPECT_EQ(find_parameter(produce, "limit"), nullptr);
  EXPECT_EQ(body_schema(*find_operation("listEmails")), nullptr);
  EXPECT_EQ(answer_schema(*find_operation("getMessage")), nullptr) << "bytes";
  EXPECT_EQ(answer_schema(*find_operation("cancelEmail")), nullptr) << "nothing";
}

}  // namespace
}  // namespace postino::api
