#include "app/client/email_file.h"

#include <gmock/gmock.h>

namespace postino::app {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(EmailFile, TakesOneOrAnArrayOrDataOrLines) {
  EXPECT_THAT(read_email_file(R"({"id": 1})").value(), ElementsAre(R"({"id":1})"));
  EXPECT_THAT(read_email_file(R"([{"id": 1}, 2])").value(), ElementsAre(R"({"id":1})", "2"));
  EXPECT_THAT(read_email_file(R"({"data": [{"id": 1}]})").value(), ElementsAre(R"({"id":1})"));
  EXPECT_THAT(read_email_file("{\"id\": 1}\n\n{\"id\": \"a\\nb\"}\r\n").value(),
              ElementsAre(R"({"id":1})", R"({"id":"a\nb"})"));
}

TEST(EmailFile, SaysWhereItIsNoJson) {
  EXPECT_EQ(read_email_file("{\"id\":1}\n\n{\"id\":").error().message, "line 3 must be JSON; the error is in column 7");
  EXPECT_THAT(read_email_file("{\n\"id\":").error().message, HasSubstr("must be JSON"));
  EXPECT_THAT(read_email_file("").error().message, HasSubstr("must be JSON"));
  EXPECT_EQ(read_email_file("[]").error().message, "has no e-mails");
}

TEST(EmailFile, FaultsNameThePlaceInTheFile) {
  const std::string good = R"({"from":"a@example.org","to":"b@example.org","subject":"s","body_text":"t"})";
  const std::string bad = R"({"from":"a@example.org","to":[],"subject":"s","body_text":"t"})";
  EXPECT_TRUE(faults_of({good, good}, base::TimePoint()).empty());
  const auto faults = faults_of({good, bad, "7"}, base::TimePoint());
  ASSERT_GE(faults.size(), 2U);
  EXPECT_EQ(faults.front().field, "[1].to");
  EXPECT_EQ(faults[1].field, "[2]");
}

TEST(EmailFile, BatchesHaveAHundredAndAreTheSameOnEveryRun) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 250; ++i) payloads.push_back(std::to_string(i));
  const EmailBatch first = batch_at(payloads, 0);
  const EmailBatch second = batch_at(payloads, first.count);
  const EmailBatch third = batch_at(payloads, 200);
  EXPECT_EQ(first.count, 100U);
  EXPECT_EQ(second.count, 100U);
  EXPECT_EQ(third.count, 50U);
  EXPECT_EQ(second.first, 100U);
  EXPECT_THAT(third.payloads, EndsWith(",248,249]"));
  EXPECT_NE(first.key, second.key);
  EXPECT_EQ(first.key, batch_at(payloads, 0).key);
  EXPECT_LE(first.key.size(), 255U);
  payloads[5] += "0";
  EXPECT_NE(first.key, batch_at(payloads, 0).key);
  EXPECT_EQ(second.key, batch_at(payloads, 100).key);
}

TEST(EmailFile, LargeEmailsMakeSmallerBatches) {
  const std::string large(3 << 20, 'x');
  const std::vector<std::string> payloads = {large, large, large, std::string(20 << 20, 'y')};
  EXPECT_EQ(batch_at(payloads, 0).count, 2U);
  EXPECT_EQ(batch_at(payloads, 2).count, 1U);
  EXPECT_EQ(batch_at(payloads, 3).count, 1U) << "one is always sent, however large";
}

}  // namespace
}  // namespace postino::app
