#include "json/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/writer.h"

namespace postino::json {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Need = Fields::Need;

std::vector<std::string> texts(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors.list()) texts.push_back(error.field + ": " + error.rule);
  return texts;
}

// A text, read as one object.
struct Reading {
  explicit Reading(std::string_view text, std::string path = "") {
    if (document.parse(text, errors)) fields.emplace(document.root(), std::move(path), errors);
  }
  Fields* operator->() { return &*fields; }

  FieldErrors errors;
  Document document;
  std::optional<Fields> fields;
};

TEST(JsonFields, ReadsEachKindOfMember) {
  Reading reading(R"({"s":"text","i":-5,"b":true,"t":"1970-01-01T00:00:01Z","l":[1,2],"m":{"x":1,"a":2}})");
  EXPECT_EQ(reading->text("s", Need::required), "text");
  EXPECT_EQ(reading->integer("i", Need::required, -5, 5), -5);
  EXPECT_EQ(reading->boolean("b", Need::required), true);
  EXPECT_EQ(reading->time("t", Need::required), base::from_epoch_milliseconds(1'000));
  EXPECT_EQ(reading->list("l", Need::required, 2)->size(), 2U);
  const auto members = reading->map("m", Need::required, 2);
  ASSERT_TRUE(members);
  EXPECT_EQ(members->at(0).first, "x") << "in the order of the text";
  EXPECT_EQ(members->at(1).first, "a");
  reading->refuse_others();
  EXPECT_THAT(texts(reading.errors), IsEmpty());
}

TEST(JsonFields, NullCountsAsMissing) {
  Reading reading(R"({"n":null})", "data[2]");
  EXPECT_EQ(reading->text("n", Need::optional), std::nullopt);
  EXPECT_EQ(reading->integer("gone", Need::optional, 0, 1), std::nullopt);
  EXPECT_THAT(texts(reading.errors), IsEmpty());
  EXPECT_EQ(reading->text("n", Need::required), std::nullopt);
  EXPECT_EQ(reading->list("gone", Need::required, 1), std::nullopt);
  EXPECT_THAT(texts(reading.errors), ElementsAre("data[2].n: is required", "data[2].gone: is required"));
}

TEST(JsonFields, AnEmptyTextCountsAsMissingWhereItIsNotRequired) {
  Reading reading(R"({"text":"","time":"","long":""})");
  EXPECT_EQ(reading->text("text", Need::optional), std::nullopt);
  EXPECT_EQ(reading->time("time", Need::optional), std::nullopt);
  EXPECT_EQ(reading->text("long", Need::required), "") << "which the caller may refuse";
  reading->refuse_others();
  EXPECT_THAT(texts(reading.errors), IsEmpty());
}

TEST(JsonFields, NotesTheRuleThatIsBroken) {
  Reading reading(R"({"s":1,"long":"12345","i":1.0,"j":6,"big":18446744073709551615,"b":"true","t":"now","l":{},
                      "many":[1,2,3],"m":[],"large":{"a":1,"b":2}})");
  EXPECT_FALSE(reading->text("s", Need::optional));
  EXPECT_FALSE(reading->text("long", Need::optional, 4));
  EXPECT_FALSE(reading->integer("i", Need::optional, 0, 5));
  EXPECT_FALSE(reading->integer("j", Need::optional, 0, 5));
  EXPECT_FALSE(reading->integer("big", Need::optional, 0, 5));
  EXPECT_FALSE(reading->boolean("b", Need::optional));
  EXPECT_FALSE(reading->time("t", Need::optional));
  EXPECT_FALSE(reading->list("l", Need::optional, 2));
  EXPECT_FALSE(reading->list("many", Need::optional, 2));
  EXPECT_FALSE(reading->map("m", Need::optional, 2));
  EXPECT_FALSE(reading->map("large", Need::optional, 1));
  EXPECT_THAT(
      texts(reading.errors),
      ElementsAre("s: must be a string", "long: must not be longer than 4 bytes", "i: must be an integer from 0 to 5",
                  "j: must be an integer from 0 to 5", "big: must be an integer from 0 to 5",
                  "b: must be true or false", "t: must be an RFC 3339 date and time, such as 2026-11-15T09:30:00Z",
                  "l: must be an array", "many: must not have more than 2 elements", "m: must be an object",
                  "large: must not have more than 1 members"));
}

TEST(JsonFields, MembersNobodyAskedForAreRefused) {
  Reading reading(R"({"known":1,"knwon":2,"other":null})");
  EXPECT_TRUE(reading->any("known", Need::required));
  reading->refuse_others();
  EXPECT_THAT(texts(reading.errors), ElementsAre("knwon: is an unknown field", "other: is an unknown field"));
}

TEST(JsonFields, MembersThatAreGivenTwiceAreRefused) {
  Reading reading(R"({"b":1,"a":1,"c":2,"a":1,"b":null,"a":3,"d":1,"d":1})");
  for (const char* const name : {"a", "b", "c"}) EXPECT_TRUE(reading->any(name, Need::required));
  reading->refuse_others();
  EXPECT_THAT(texts(reading.errors), ElementsAre("d: is an unknown field", "d: is an unknown field",
                                                 "a: must not be given twice", "b: must not be given twice"));
}

TEST(JsonFields, WhatIsNoObjectHasNoMembers) {
  Reading reading("[1]", "data[0]");
  EXPECT_FALSE(reading->text("a", Need::required));
  reading->refuse_others();
  EXPECT_THAT(texts(reading.errors), ElementsAre("data[0]: must be an object"));
}

TEST(JsonFields, NotesEndAtALimit) {
  FieldErrors errors;
  for (int i = 0; i < 1'000; ++i) errors.add("f", "r");
  EXPECT_EQ(errors.list().size(), 50U);
}

TEST(JsonWriter, WritesObjectsAndArraysWithTheirCommas) {
  std::string text;
  Writer writer(text);
  writer.begin_object();
  writer.key("a").integer(-1);
  writer.key("b").begin_array().string("x\"").null().boolean(false).begin_object().end_object().end_array();
  writer.any_key("c\n").begin_object().key("d").raw("[1,2]").end_object();
  writer.key("e").begin_array().end_array();
  writer.end_object();
  EXPECT_EQ(text, R"({"a":-1,"b":["x\"",null,false,{}],"c\n":{"d":[1,2]},"e":[]})");
}

}  // namespace
}  // namespace postino::json
