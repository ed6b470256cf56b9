// A table of outcomes for each operator, written from AWS's "IAM JSON policy elements: Condition operators" and
// "Multivalued context keys".
#include "access/policy/condition.h"

#include <gtest/gtest.h>

#include "access/policy/value_forms.h"

namespace postino::access {
namespace {

using Texts = std::vector<std::string>;

KeyReference key_named(std::string_view name) {
  auto key = KeyReference::parse(name);
  EXPECT_TRUE(key) << name;
  return *key;
}

bool is_met(std::string_view operator_name, std::string_view key, Texts policy, const Texts& request) {
  const auto condition = Condition::make(operator_name, key, std::move(policy), true);
  EXPECT_TRUE(condition) << operator_name << " " << key << ": " << condition.error().message;
  if (!condition) return false;
  Context context;
  for (const std::string& value : request) context.add(key_named(key), value);
  return condition->evaluate(context) == Condition::Outcome::met;
}

std::string fault(std::string_view operator_name, std::string_view key, Texts values) {
  const auto condition = Condition::make(operator_name, key, std::move(values), true);
  return condition ? "" : condition.error().message;
}

struct Row {
  const char* operator_name;
  const char* key;
  Texts policy;
  Texts request;
  bool met;
};

class ConditionTable : public testing::TestWithParam<Row> {};

TEST_P(ConditionTable, IsMetAsAwsSays) {
  const Row& row = GetParam();
  EXPECT_EQ(is_met(row.operator_name, row.key, row.policy, row.request), row.met)
      << row.operator_name << " " << row.key << " " << (row.policy.empty() ? "" : row.policy.front()) << " of "
      << (row.request.empty() ? "nothing" : row.request.front());
}

const char* const tag = "aws:PrincipalTag/team";
const char* const name = "aws:username";
const char* const time = "aws:CurrentTime";
const char* const epoch = "aws:EpochTime";
const char* const ip = "aws:SourceIp";
const char* const arn = "aws:PrincipalArn";
const char* const keys = "dynamodb:LeadingKeys";

INSTANTIATE_TEST_SUITE_P(
    Texts, ConditionTable,
    testing::Values(
        Row{"StringEquals", name, {"anna"}, {"anna"}, true}, Row{"StringEquals", name, {"anna"}, {"Anna"}, false},
        Row{"StringEquals", name, {"bob", "anna"}, {"anna"}, true}, Row{"StringEquals", name, {"an*"}, {"anna"}, false},
        Row{"StringEquals", name, {"an*"}, {"an*"}, true}, Row{"StringEquals", name, {"anna"}, {}, false},
        Row{"StringNotEquals", name, {"anna"}, {"anna"}, false}, Row{"StringNotEquals", name, {"anna"}, {"bob"}, true},
        Row{"StringNotEquals", name, {"anna", "bob"}, {"bob"}, false}, Row{"StringNotEquals", name, {"anna"}, {}, true},
        Row{"StringEqualsIgnoreCase", name, {"ANNA"}, {"anna"}, true},
        Row{"StringEqualsIgnoreCase", name, {"ANNA"}, {"anne"}, false},
        Row{"StringNotEqualsIgnoreCase", name, {"ANNA"}, {"anna"}, false},
        Row{"StringNotEqualsIgnoreCase", name, {"ANNA"}, {"bob"}, true},
        Row{"StringLike", name, {"a*a"}, {"anna"}, true}, Row{"StringLike", name, {"a?na"}, {"anna"}, true},
        Row{"StringLike", name, {"a?a"}, {"anna"}, false}, Row{"StringLike", name, {"A*"}, {"anna"}, false},
        Row{"StringLike", name, {"*"}, {""}, true}, Row{"StringLike", name, {"?"}, {"\xc3\xa4"}, true},
        Row{"StringLike", name, {"a${*}"}, {"a*"}, true}, Row{"StringLike", name, {"a${*}"}, {"ab"}, false},
        Row{"StringLike", name, {"a${?}${$}"}, {"a?$"}, true}, Row{"StringNotLike", name, {"a*"}, {"anna"}, false},
        Row{"StringNotLike", name, {"a*"}, {"bob"}, true}, Row{"StringNotLike", name, {"a*"}, {}, true}));

INSTANTIATE_TEST_SUITE_P(Numbers, ConditionTable,
                         testing::Values(Row{"NumericEquals", tag, {"10"}, {"10.0"}, true},
                                         Row{"NumericEquals", tag, {"10"}, {"11"}, false},
                                         Row{"NumericEquals", tag, {"10"}, {"ten"}, false},
                                         Row{"NumericNotEquals", tag, {"10"}, {"10"}, false},
                                         Row{"NumericNotEquals", tag, {"10"}, {"11"}, true},
                                         Row{"NumericNotEquals", tag, {"10"}, {}, true},
                                         Row{"NumericLessThan", tag, {"10"}, {"9"}, true},
                                         Row{"NumericLessThan", tag, {"10"}, {"10"}, false},
                                         Row{"NumericLessThanEquals", tag, {"10"}, {"10"}, true},
                                         Row{"NumericLessThanEquals", tag, {"10"}, {"10.5"}, false},
                                         Row{"NumericGreaterThan", tag, {"10"}, {"100"}, true},
                                         Row{"NumericGreaterThan", tag, {"10"}, {"10"}, false},
                                         Row{"NumericGreaterThanEquals", tag, {"10"}, {"10"}, true},
                                         Row{"NumericGreaterThanEquals", tag, {"10"}, {"-20"}, false}));

INSTANTIATE_TEST_SUITE_P(
    Dates, ConditionTable,
    testing::Values(Row{"DateEquals", time, {"2026-11-18T20:00:00Z"}, {"2026-11-18T21:00:00+01:00"}, true},
                    Row{"DateEquals", time, {"2026-11-18T20:00:00Z"}, {"2026-11-18T20:00:01Z"}, false},
                    Row{"DateNotEquals", time, {"2026-11-18T20:00:00Z"}, {"2026-11-18T20:00:01Z"}, true},
                    Row{"DateNotEquals", time, {"2026-11-18"}, {"2026-11-18T00:00:00Z"}, false},
                    Row{"DateLessThan", time, {"2026-11-18"}, {"2026-11-17T23:59:59.999Z"}, true},
                    Row{"DateLessThan", time, {"2026-11-18"}, {"2026-11-18T00:00:00Z"}, false},
                    Row{"DateLessThanEquals", time, {"2026-11-18"}, {"2026-11-18T00:00:00Z"}, true},
                    Row{"DateLessThanEquals", time, {"2026-11-18"}, {"2026-11-19T00:00:00Z"}, false},
                    Row{"DateGreaterThan", epoch, {"2026-11-18T20:00Z"}, {"1795032001"}, true},
                    Row{"DateGreaterThan", epoch, {"1795032000"}, {"1795032000"}, false},
                    Row{"DateGreaterThanEquals", epoch, {"1795032000"}, {"1795032000"}, true},
                    Row{"DateGreaterThanEquals", time, {"1795032000"}, {"2026-11-18T19:59:59Z"}, false},
                    Row{"DateLessThan", time, {"2026-11-18"}, {}, false}));

INSTANTIATE_TEST_SUITE_P(
    OtherTypes, ConditionTable,
    testing::Values(
        Row{"Bool", "aws:SecureTransport", {"true"}, {"true"}, true},
        Row{"Bool", "aws:SecureTransport", {"true"}, {"false"}, false},
        Row{"Bool", "aws:SecureTransport", {"false"}, {"false"}, true},
        Row{"Bool", "aws:SecureTransport", {"false"}, {}, false},
        Row{"BinaryEquals", tag, {"QmluYXJ5"}, {"QmluYXJ5"}, true},
        Row{"BinaryEquals", tag, {"QmluYXJ5"}, {"QmluYXJ4"}, false},
        Row{"IpAddress", ip, {"203.0.113.0/24"}, {"203.0.113.9"}, true},
        Row{"IpAddress", ip, {"203.0.113.0/24"}, {"203.0.114.9"}, false},
        Row{"IpAddress", ip, {"203.0.113.9"}, {"203.0.113.9"}, true},
        Row{"IpAddress", ip, {"2001:db8::/32"}, {"2001:db8::1"}, true},
        Row{"NotIpAddress", ip, {"203.0.113.0/24"}, {"203.0.113.9"}, false},
        Row{"NotIpAddress", ip, {"203.0.113.0/24", "10.0.0.0/8"}, {"192.0.2.1"}, true},
        Row{"NotIpAddress", ip, {"203.0.113.0/24"}, {}, true},
        Row{"ArnEquals", arn, {"arn:aws:iam::123456789012:user/anna"}, {"arn:aws:iam::123456789012:user/anna"}, true},
        Row{"ArnEquals", arn, {"arn:aws:iam::*:user/*"}, {"arn:aws:iam::123456789012:user/anna"}, true},
        Row{"ArnLike", arn, {"arn:aws:iam::123456789012:user/an?a"}, {"arn:aws:iam::123456789012:user/anna"}, true},
        Row{"ArnLike", arn, {"arn:aws:*:*:*:*"}, {"arn:aws:iam::123456789012:user/anna"}, true},
        Row{"ArnLike", arn, {"arn:*:user/anna:*:*:*"}, {"arn:aws:iam::123456789012:user/anna"}, false},
        Row{"ArnNotEquals", arn, {"arn:aws:iam::1:user/*"}, {"arn:aws:iam::2:user/anna"}, true},
        Row{"ArnNotLike", arn, {"arn:aws:iam::2:user/*"}, {"arn:aws:iam::2:user/anna"}, false},
        Row{"Null", tag, {"true"}, {}, true}, Row{"Null", tag, {"true"}, {"x"}, false},
        Row{"Null", tag, {"false"}, {"x"}, true}, Row{"Null", tag, {"false"}, {}, false}));

INSTANTIATE_TEST_SUITE_P(IfExists, ConditionTable,
                         testing::Values(Row{"StringEqualsIfExists", name, {"anna"}, {}, true},
                                         Row{"StringEqualsIfExists", name, {"anna"}, {"bob"}, false},
                                         Row{"StringEqualsIfExists", name, {"anna"}, {"anna"}, true},
                                         Row{"NumericLessThanIfExists", tag, {"10"}, {}, true},
                                         Row{"DateGreaterThanIfExists", time, {"2026-01-01"}, {}, true},
                                         Row{"BoolIfExists", "dynamodb:FullTableScan", {"false"}, {}, true},
                                         Row{"BoolIfExists", "dynamodb:FullTableScan", {"false"}, {"true"}, false},
                                         Row{"IpAddressIfExists", ip, {"10.0.0.0/8"}, {}, true},
                                         Row{"ArnLikeIfExists", arn, {"arn:aws:iam::1:user/*"}, {}, true},
                                         Row{"ForAnyValue:StringEqualsIfExists", keys, {"a"}, {}, true}));

INSTANTIATE_TEST_SUITE_P(
    Sets, ConditionTable,
    testing::Values(Row{"ForAllValues:StringEquals", keys, {"a", "b"}, {"a"}, true},
                    Row{"ForAllValues:StringEquals", keys, {"a", "b"}, {"b", "a", "a"}, true},
                    Row{"ForAllValues:StringEquals", keys, {"a", "b"}, {"a", "c"}, false},
                    Row{"ForAllValues:StringEquals", keys, {"a"}, {}, true},
                    Row{"ForAllValues:StringNotEquals", keys, {"a"}, {"b", "c"}, true},
                    Row{"ForAllValues:StringNotEquals", keys, {"a"}, {"b", "a"}, false},
                    Row{"ForAllValues:StringNotEquals", keys, {"a"}, {}, true},
                    Row{"ForAnyValue:StringEquals", keys, {"a", "b"}, {"c", "a"}, true},
                    Row{"ForAnyValue:StringEquals", keys, {"a", "b"}, {"c", "d"}, false},
                    Row{"ForAnyValue:StringEquals", keys, {"a"}, {}, false},
                    Row{"ForAnyValue:StringNotEquals", keys, {"a"}, {"a", "b"}, true},
                    Row{"ForAnyValue:StringNotEquals", keys, {"a"}, {"a"}, false},
                    Row{"ForAnyValue:StringNotEquals", keys, {"a"}, {}, false},
                    Row{"ForAllValues:StringLike", keys, {"CUSTOMER#1*"}, {"CUSTOMER#1", "CUSTOMER#12"}, true},
                    Row{"ForAllValues:NumericLessThan", keys, {"10"}, {"1", "2"}, true},
                    Row{"ForAllValues:NumericLessThan", keys, {"10"}, {"1", "12"}, false},
                    Row{"ForAllValues:BinaryEquals", keys, {"AAE="}, {"AAE="}, true},
                    Row{"Null", keys, {"false"}, {"a", "b"}, true}, Row{"Null", keys, {"false"}, {}, false}));

// Every key can be asked for, in any case.
TEST(Condition, KnowsTheKeysOfRequestsAndCallers) {
  for (const char* each : {"dynamodb:LeadingKeys",
                           "dynamodb:FirstPartitionKeyValues",
                           "dynamodb:SecondPartitionKeyValues",
                           "dynamodb:ThirdPartitionKeyValues",
                           "dynamodb:FourthPartitionKeyValues",
                           "dynamodb:Attributes",
                           "dynamodb:Select",
                           "dynamodb:ReturnValues",
                           "dynamodb:ReturnConsumedCapacity",
                           "dynamodb:EnclosingOperation",
                           "dynamodb:FullTableScan",
                           "aws:SourceIp",
                           "aws:SecureTransport",
                           "aws:UserAgent",
                           "aws:CurrentTime",
                           "aws:EpochTime",
                           "aws:RequestedRegion",
                           "aws:PrincipalArn",
                           "aws:PrincipalAccount",
                           "aws:PrincipalType",
                           "aws:userid",
                           "aws:username",
                           "aws:PrincipalTag/team",
                           "cognito-identity.amazonaws.com:sub"}) {
    EXPECT_TRUE(is_met("ForAnyValue:StringEquals", each, {"x"}, {"x"})) << each;
    EXPECT_FALSE(is_met("ForAnyValue:StringEquals", each, {"x"}, {"y"})) << each;
    EXPECT_EQ(KeyReference::parse(each)->text(), each);
  }
  EXPECT_TRUE(is_met("StringEquals", "AWS:UserName", {"x"}, {"x"}));
  EXPECT_TRUE(is_met("StringEquals", "AWS:principaltag/TEAM", {"x"}, {"x"}));
}

TEST(Condition, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(fault("StringEqual", name, {"x"}), "is no operator of conditions");
  EXPECT_EQ(fault("ForSomeValues:StringEquals", name, {"x"}), "is no operator of conditions");
  EXPECT_EQ(fault("StringEqualsIfExist", name, {"x"}), "is no operator of conditions");
  EXPECT_EQ(fault("ForAllValues:Null", keys, {"true"}), "is no operator: Null stands by itself");
  EXPECT_EQ(fault("NullIfExists", keys, {"true"}), "is no operator: Null stands by itself");
  EXPECT_EQ(fault("StringEquals", "dynamodb:LeadingKey", {"x"}), "is no condition key that is known here");
  EXPECT_EQ(fault("StringEquals", "aws:PrincipalTag/", {"x"}), "a tag has a name of 1 to 128 letters");
}

TEST(Condition, RefusesValuesThatItsOperatorCannotCompare) {
  EXPECT_EQ(fault("NumericEquals", tag, {"1", "ten"}), "the value \"ten\" must be a number of up to 38 digits");
  EXPECT_EQ(fault("DateLessThan", time, {"tomorrow"}),
            "the value \"tomorrow\" must be a date such as 2026-11-15T09:30:00Z, or a number of seconds since 1970");
  EXPECT_EQ(fault("Bool", "aws:SecureTransport", {"yes"}), "the value \"yes\" must be true or false");
  EXPECT_EQ(fault("Null", tag, {"1"}), "the value \"1\" must be true or false");
  EXPECT_EQ(fault("BinaryEquals", tag, {"%"}), "the value \"%\" must be base64");
  EXPECT_EQ(fault("IpAddress", ip, {"10.0.0.0/33"}),
            "the value \"10.0.0.0/33\" must be an IP address or a network such as 203.0.113.0/24");
  EXPECT_NE(fault("ArnLike", arn, {"user/anna"}), "");
  EXPECT_NE(fault("StringEquals", name, {"${aws:nothing}"}), "");
  EXPECT_NE(fault("StringEquals", name, {"${aws:username"}), "");
  EXPECT_NE(fault("StringEquals", name, {"${aws:username, default}"}), "");
  EXPECT_NE(fault("StringEquals", name, {"${dynamodb:LeadingKeys}"}), "");
}

// Whether one or all of several values must match would be a guess.
TEST(Condition, OfKeysWithSeveralValuesMustSayOfHowManyItIsTrue) {
  EXPECT_EQ(
      fault("StringEquals", keys, {"x"}),
      "needs ForAllValues: or ForAnyValue: in front of the operator, because a request can have several values of "
      "this key");
  EXPECT_NE(fault("StringLike", "dynamodb:Attributes", {"x"}), "");
}

TEST(Condition, VariablesStandForWhatIsKnownOfTheCaller) {
  const auto condition =
      Condition::make("ForAllValues:StringLike", keys, {"CUSTOMER#${aws:PrincipalTag/customer}#*"}, true);
  ASSERT_TRUE(condition);
  Context context;
  context.add(ContextKey::leading_keys, "CUSTOMER#17#x");
  EXPECT_EQ(condition->evaluate(context), Condition::Outcome::failed);
  context.add(key_named("aws:PrincipalTag/customer"), "17");
  EXPECT_EQ(condition->evaluate(context), Condition::Outcome::met);
  context.add(ContextKey::leading_keys, "CUSTOMER#18#x");
  EXPECT_EQ(condition->evaluate(context), Condition::Outcome::failed);
}

// The holder of a key whose tag has a * in it gains nothing.
TEST(Condition, WildcardsInValuesOfVariablesStandForThemselves) {
  const auto condition = Condition::make("ForAllValues:StringLike", keys, {"${aws:PrincipalTag/customer}*"}, true);
  ASSERT_TRUE(condition);
  Context context;
  context.add(key_named("aws:PrincipalTag/customer"), "*");
  context.add(ContextKey::leading_keys, "17");
  EXPECT_EQ(condition->evaluate(context), Condition::Outcome::failed);
}

TEST(Condition, VariablesMayHaveDefaults) {
  const auto condition = Condition::make("StringEquals", name, {"${aws:PrincipalTag/team, 'company wide'}"}, true);
  ASSERT_TRUE(condition);
  Context context;
  context.add(ContextKey::user_name, "company wide");
  EXPECT_EQ(condition->evaluate(context), Condition::Outcome::met);
  context.add(key_named(tag), "red");
  EXPECT_EQ(condition->evaluate(context), Condition::Outcome::failed);
}

TEST(Condition, TellsWhenItIsMetOnlyBecauseAVariableStandsForNothing) {
  const auto condition = Condition::make("StringNotEquals", name, {"${aws:PrincipalTag/team}"}, true);
  ASSERT_TRUE(condition);
  Context context;
  context.add(ContextKey::user_name, "anna");
  EXPECT_EQ(condition->evaluate(context), Condition::Outcome::unknown);
}

TEST(Condition, ReadsMoments) {
  EXPECT_EQ(parse_moment("1970-01-01"), base::TimePoint());
  EXPECT_EQ(parse_moment("0"), base::TimePoint());
  EXPECT_EQ(parse_moment("1970-01-01T00:01Z"), base::TimePoint(std::chrono::minutes(1)));
  EXPECT_EQ(parse_moment("1970-01-01T01:00:00+01:00"), base::TimePoint());
  for (const char* text : {"", "-1", "1970-1-1", "1970-01-32", "1970-01-01T00:01", "9999999999999"})
    EXPECT_FALSE(parse_moment(text)) << text;
}

}  // namespace
}  // namespace postino::access
