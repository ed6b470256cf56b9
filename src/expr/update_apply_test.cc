#include "expr/expression_testing.h"
#include "item/size.h"

namespace postino::expr {
namespace {

struct Change {
  std::string text;
  std::string before;
  std::string after;
};
void PrintTo(const Change& change, std::ostream* out) { *out << change.text << " on " << change.before; }

Placeholders update_values() {
  return {Names{{"#n", "n.n"}}, Values{{":one", 1},
                                       {":two", 2},
                                       {":x", "x"},
                                       {":y", "y"},
                                       {":z", "z"},
                                       {":list", item::List{"p", "q"}},
                                       {":xy", strings({"x", "y"})},
                                       {":nine", numbers({9})},
                                       {":bin", binaries({item::Binary{"x"}})},
                                       {":huge", *item::Number::parse("1e50")}}};
}

class Updated : public testing::TestWithParam<Change> {};

TEST_P(Updated, BecomesTheOther) {
  const auto after = update(GetParam().text, item_of(GetParam().before), update_values());
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(item::to_json(*after), item::to_json(item_of(GetParam().after)));
}

INSTANTIATE_TEST_SUITE_P(
    Set, Updated,
    testing::Values(
        Change{"SET a = :one", "{}", R"({"a":{"N":"1"}})"},
        Change{"SET a = :one", R"({"a":{"S":"old"},"k":{"S":"key"}})", R"({"a":{"N":"1"},"k":{"S":"key"}})"},
        Change{"SET #n = :one", "{}", R"({"n.n":{"N":"1"}})"},
        Change{"SET a = b, b = a", R"({"a":{"N":"1"},"b":{"N":"2"}})", R"({"a":{"N":"2"},"b":{"N":"1"}})"},
        Change{"SET a = b + :one, b = :x", R"({"b":{"N":"41"}})", R"({"a":{"N":"42"},"b":{"S":"x"}})"},
        Change{"SET a = :one - :two", "{}", R"({"a":{"N":"-1"}})"},
        Change{"SET a = (a + b)", R"({"a":{"N":"0.1"},"b":{"N":"0.2"}})", R"({"a":{"N":"0.3"},"b":{"N":"0.2"}})"},
        Change{"SET a = if_not_exists(a, :two) + :one", "{}", R"({"a":{"N":"3"}})"},
        Change{"SET a = if_not_exists(a, :two) + :one", R"({"a":{"N":"7"}})", R"({"a":{"N":"8"}})"},
        Change{"SET a = if_not_exists(b, if_not_exists(c, :x))", R"({"c":{"NULL":true}})",
               R"({"a":{"NULL":true},"c":{"NULL":true}})"},
        Change{"SET a = if_not_exists(m.x, m.y)", R"({"m":{"M":{"y":{"N":"5"}}}})",
               R"({"a":{"N":"5"},"m":{"M":{"y":{"N":"5"}}}})"},
        Change{"SET m.x = :one, m.y.z = :two", R"({"m":{"M":{"y":{"M":{"old":{"BOOL":true}}}}}})",
               R"({"m":{"M":{"x":{"N":"1"},"y":{"M":{"old":{"BOOL":true},"z":{"N":"2"}}}}}})"},
        Change{"SET l = list_append(l, :list)", R"({"l":{"L":[{"N":"1"}]}})",
               R"({"l":{"L":[{"N":"1"},{"S":"p"},{"S":"q"}]}})"},
        Change{"SET l = list_append(:list, l)", R"({"l":{"L":[{"N":"1"}]}})",
               R"({"l":{"L":[{"S":"p"},{"S":"q"},{"N":"1"}]}})"},
        Change{"SET l = list_append(if_not_exists(l, :list), :list)", "{}",
               R"({"l":{"L":[{"S":"p"},{"S":"q"},{"S":"p"},{"S":"q"}]}})"}));

INSTANTIATE_TEST_SUITE_P(
    Lists, Updated,
    testing::Values(
        Change{"SET l[1] = :x", R"({"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]}})",
               R"({"l":{"L":[{"N":"0"},{"S":"x"},{"N":"2"}]}})"},
        Change{"SET l[99] = :x", R"({"l":{"L":[{"N":"0"}]}})", R"({"l":{"L":[{"N":"0"},{"S":"x"}]}})"},
        Change{"SET l[20] = :x, l[10] = :y, l[0] = :z", R"({"l":{"L":[{"N":"0"}]}})",
               R"({"l":{"L":[{"S":"z"},{"S":"y"},{"S":"x"}]}})"},
        Change{"REMOVE l[0], l[2]", R"({"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"},{"N":"3"}]}})",
               R"({"l":{"L":[{"N":"1"},{"N":"3"}]}})"},
        Change{"REMOVE l[2], l[0], l[1]", R"({"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]}})", R"({"l":{"L":[]}})"},
        Change{"REMOVE l[5]", R"({"l":{"L":[{"N":"0"}]}})", R"({"l":{"L":[{"N":"0"}]}})"},
        // Positions are those of the item as it was, whatever else is done to the list.
        Change{"SET l[1] = :x REMOVE l[0]", R"({"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]}})",
               R"({"l":{"L":[{"S":"x"},{"N":"2"}]}})"},
        Change{"REMOVE l[0], l[1] SET l[7] = :x", R"({"l":{"L":[{"N":"0"}]}})", R"({"l":{"L":[{"S":"x"}]}})"},
        Change{"REMOVE l[0] SET l[1].a = :x, l[2][0] = :y", R"({"l":{"L":[{"N":"0"},{"M":{}},{"L":[]}]}})",
               R"({"l":{"L":[{"M":{"a":{"S":"x"}}},{"L":[{"S":"y"}]}]}})"},
        Change{"REMOVE l[0], l[1][0], l[1][2], l[2].a",
               R"({"l":{"L":[{"N":"0"},{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]},{"M":{"a":{"N":"1"},"b":{"N":"2"}}}]}})",
               R"({"l":{"L":[{"L":[{"N":"1"}]},{"M":{"b":{"N":"2"}}}]}})"},
        Change{"ADD l[0] :one, l[9] :two", R"({"l":{"L":[{"N":"5"}]}})", R"({"l":{"L":[{"N":"6"},{"N":"2"}]}})"},
        Change{"DELETE l[0] :xy", R"({"l":{"L":[{"SS":["x"]},{"N":"1"}]}})", R"({"l":{"L":[{"N":"1"}]}})"}));

INSTANTIATE_TEST_SUITE_P(
    RemoveAddDelete, Updated,
    testing::Values(Change{"REMOVE a, b", R"({"a":{"N":"1"},"c":{"N":"2"}})", R"({"c":{"N":"2"}})"},
                    Change{"REMOVE m.a, m.x", R"({"m":{"M":{"a":{"N":"1"}}}})", R"({"m":{"M":{}}})"},
                    Change{"ADD a :one", "{}", R"({"a":{"N":"1"}})"},
                    Change{"ADD a :one", R"({"a":{"N":"-1"}})", R"({"a":{"N":"0"}})"},
                    Change{"ADD m.a :one, m.b :two", R"({"m":{"M":{"a":{"N":"1"}}}})",
                           R"({"m":{"M":{"a":{"N":"2"},"b":{"N":"2"}}}})"},
                    Change{"ADD a :xy", "{}", R"({"a":{"SS":["x","y"]}})"},
                    Change{"ADD a :xy", R"({"a":{"SS":["y","z"]}})", R"({"a":{"SS":["x","y","z"]}})"},
                    Change{"ADD a :nine", R"({"a":{"NS":["1"]}})", R"({"a":{"NS":["1","9"]}})"},
                    Change{"ADD a :bin", R"({"a":{"BS":["eQ=="]}})", R"({"a":{"BS":["eA==","eQ=="]}})"},
                    Change{"DELETE a :xy", R"({"a":{"SS":["a","x"]}})", R"({"a":{"SS":["a"]}})"},
                    Change{"DELETE a :xy", R"({"a":{"SS":["x"]},"b":{"N":"1"}})", R"({"b":{"N":"1"}})"},
                    Change{"DELETE a :xy", R"({"b":{"N":"1"}})", R"({"b":{"N":"1"}})"},
                    Change{"DELETE m.a :nine", R"({"m":{"M":{"a":{"NS":["9"]}}}})", R"({"m":{"M":{}}})"},
                    Change{"SET a = b - :one, d[1] = :x REMOVE f.g ADD h :one DELETE s :xy",
                           R"({"b":{"N":"3"},"d":{"L":[{"N":"0"}]},"f":{"M":{"g":{"N":"1"}}},"s":{"SS":["x","z"]}})",
                           R"({"a":{"N":"2"},"b":{"N":"3"},"d":{"L":[{"N":"0"},{"S":"x"}]},"f":{"M":{}},"h":{"N":"1"},)"
                           R"("s":{"SS":["z"]}})"}));

class FailedUpdate : public testing::TestWithParam<Change> {};

TEST_P(FailedUpdate, SaysWhy) {
  const auto after = update(GetParam().text, item_of(GetParam().before), update_values());
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, base::ErrorCode::invalid);
  EXPECT_EQ(after.error().message, GetParam().after);
}

const std::string missing = "The provided expression refers to an attribute that does not exist in the item";
const std::string wrong_type = "An operand in the update expression has an incorrect data type";
const std::string wrong_path = "The document path provided in the update expression is invalid for update";

INSTANTIATE_TEST_SUITE_P(
    Update, FailedUpdate,
    testing::Values(
        Change{"SET a = b", "{}", missing}, Change{"SET a = b + :one", "{}", missing},
        Change{"SET a = list_append(b, :list)", "{}", missing}, Change{"SET a = if_not_exists(a, b)", "{}", missing},
        Change{"SET a = m.x", R"({"m":{"M":{}}})", missing}, Change{"SET a = l[1]", R"({"l":{"L":[]}})", missing},
        Change{"SET a = b + :one", R"({"b":{"S":"1"}})", wrong_type},
        Change{"SET a = list_append(:list, :list) - :one", "{}", wrong_type},
        Change{"SET a = list_append(b, :list)", R"({"b":{"S":"1"}})", wrong_type},
        Change{"ADD a :one", R"({"a":{"S":"1"}})", wrong_type},
        Change{"ADD a :one", R"({"a":{"NS":["1"]}})", wrong_type},
        Change{"ADD a :xy", R"({"a":{"N":"1"}})", wrong_type}, Change{"ADD a :xy", R"({"a":{"NS":["1"]}})", wrong_type},
        Change{"DELETE a :xy", R"({"a":{"NS":["1"]}})", wrong_type},
        Change{"DELETE a :xy", R"({"a":{"S":"x"}})", wrong_type}, Change{"SET m.a = :one", "{}", wrong_path},
        Change{"SET l[0] = :one", "{}", wrong_path}, Change{"SET a.b = :one", R"({"a":{"S":"x"}})", wrong_path},
        Change{"SET a[0] = :one", R"({"a":{"M":{}}})", wrong_path},
        Change{"SET a.b = :one", R"({"a":{"L":[]}})", wrong_path},
        Change{"SET a.b.c = :one", R"({"a":{"M":{}}})", wrong_path},
        Change{"REMOVE a.b", R"({"k":{"S":"x"}})", wrong_path}, Change{"REMOVE a[0]", R"({"a":{"M":{}}})", wrong_path},
        Change{"ADD a.b :one", "{}", wrong_path}, Change{"DELETE a.b :xy", R"({"a":{"S":"x"}})", wrong_path}));

TEST(UpdateApply, ReportsNumbersThatNeedTooManyDigits) {
  const auto after = update("ADD a :one", {{"a", *item::Number::parse("1e50")}}, update_values());
  const auto expected = item::Number::add(*item::Number::parse("1e50"), item::Number(1));
  ASSERT_FALSE(expected);
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error(), expected.error());
  EXPECT_FALSE(update("SET a = :huge - :one", {}, update_values()));
}

class UpdateFacts : public testing::Test {
 protected:
  BoundUpdate bind(std::string_view text) {
    const auto parsed = parse_update(text);
    CHECK(parsed);
    auto bound = Binder(placeholders_).bind(*parsed);
    CHECK(bound);
    return *bound;
  }
  std::string touched(std::string_view text, std::string_view item) {
    return item::to_json(bind(text).touched(item_of(item)));
  }

  const Placeholders placeholders_ = update_values();
};

TEST_F(UpdateFacts, Targets) {
  const BoundUpdate bound = bind("SET m.a = x.y, b = c, m.c[0] = :one REMOVE #n ADD a :one");
  const auto targets = bound.targets();
  ASSERT_EQ(targets.size(), 4U);
  EXPECT_EQ(targets[0].name, "m");
  EXPECT_TRUE(targets[0].nested);
  EXPECT_EQ(targets[1].name, "b");
  EXPECT_FALSE(targets[1].nested);
  EXPECT_EQ(targets[2].name, "n.n");
  EXPECT_EQ(targets[3].name, "a");
}

TEST_F(UpdateFacts, OnlySetAndAddCreate) {
  EXPECT_TRUE(bind("REMOVE b SET a = :one").creates());
  EXPECT_TRUE(bind("ADD a :one").creates());
  EXPECT_FALSE(bind("REMOVE a DELETE b :xy").creates());
}

TEST_F(UpdateFacts, TouchedKeepsTheShape) {
  const std::string item =
      R"({"a":{"N":"1"},"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]},"m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}}})";
  EXPECT_EQ(touched("SET a = :one", item), R"({"a":{"N":"1"}})");
  EXPECT_EQ(touched("SET m.y = :one, z = :x", item), R"({"m":{"M":{"y":{"N":"2"}}}})");
  EXPECT_EQ(touched("REMOVE l[2], l[0], l[9]", item), R"({"l":{"L":[{"N":"0"},{"N":"2"}]}})");
  EXPECT_EQ(touched("SET m.z = :one, q.r = :one", item), "{}");
}

TEST_F(UpdateFacts, WrittenSize) {
  // 3, and per clause 19 (20 for a list index) for SET and ADD, 2 for REMOVE and DELETE; names and values besides.
  EXPECT_EQ(bind("SET ab = :x").written_size(), 3 + 19 + 2 + 1U);
  EXPECT_EQ(bind("SET ab[3] = :x").written_size(), 3 + 20 + 2 + 1U);
  EXPECT_EQ(bind("REMOVE abc").written_size(), 3 + 2 + 3U);
  EXPECT_EQ(bind("SET a = :list, b = b + :one REMOVE c").written_size(),
            3 + (19 + 1 + item::size_of(*placeholders_.values->find(":list"))) + (19 + 1 + 2) + (2 + 1));
  EXPECT_EQ(bind("ADD m.n :xy").written_size(), 3 + 19 + 2 + 2U);
}

bool is_repeatable(std::string_view text) {
  const Placeholders placeholders = samples();
  const auto parsed = parse_update(text);
  const auto bound = Binder(placeholders).bind(parsed.value());
  return bound.value().is_repeatable();
}

TEST(RepeatedUpdate, ChangesNothingWhereValuesComeFromTheRequest) {
  for (const char* text :
       {"SET #a = :s", "SET #a = :n, #b.x = :l", "REMOVE #a", "SET #a = :m REMOVE #b.x", "ADD #a :ss", "DELETE #a :ns"})
    EXPECT_TRUE(is_repeatable(text)) << text;
}

TEST(RepeatedUpdate, ChangesMoreWhereValuesComeFromTheItem) {
  for (const char* text : {"ADD #a :n", "SET #a = #a + :n", "SET #a = #b", "SET #a = list_append(#a, :l)",
                           "SET #a = if_not_exists(#b, :n)", "REMOVE #a[0]", "SET #a[7] = :s", "SET #a = :s ADD #b :n"})
    EXPECT_FALSE(is_repeatable(text)) << text;
}

}  // namespace
}  // namespace postino::expr
