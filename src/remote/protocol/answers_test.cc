// Answers of services that are not ours: with more than we know, in other forms, or broken. Those of ours are read in
// tests/remote.
#include "remote/protocol/answers.h"

#include <gtest/gtest.h>

namespace postino::remote {
namespace {

TEST(AnswerBody, MayHaveMoreThanIsKnown) {
  const auto page = decode_page(
      R"({"Count":1,"Items":[{"pk":{"S":"a"}}],"ScannedCount":2,"New":{"deep":[1,{"x":null}]},"LastEvaluatedKey":null,)"
      R"("ConsumedCapacity":{"TableName":"t","CapacityUnits":0.5,"Other":1}})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items.size(), 1U);
  EXPECT_EQ(page->scanned_count, 2);
  EXPECT_FALSE(page->last_evaluated_key);
  EXPECT_DOUBLE_EQ(page->consumed_capacity->total, 0.5);
}

TEST(AnswerBody, MayHaveWordsThatAreNotKnown) {
  const auto table =
      decode_table(R"({"Table":{"TableName":"t","TableStatus":"ARCHIVED","CreationDateTime":1.767323045123E9,)"
                   R"("GlobalSecondaryIndexes":[{"IndexName":"i","IndexStatus":"RESTING"}]}})");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_NE(table->status, store::TableStatus::active);
  EXPECT_NE(table->global_indexes.at(0).status, store::IndexStatus::active);
  EXPECT_EQ(base::epoch_milliseconds(table->created), 1'767'323'045'123);
}

TEST(AnswerBody, OfATableThatIsBeingRestoredTellsOfWhat) {
  const auto table = decode_table(
      R"({"TableDescription":{"TableName":"t","TableStatus":"CREATING","RestoreSummary":{"SourceBackupArn":"b",)"
      R"("SourceTableArn":"s","RestoreDateTime":1.767323045E9,"RestoreInProgress":true}}})");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->restore, (store::RestoreSummary{"b", "s", base::from_epoch_milliseconds(1'767'323'045'000), true}));
}

TEST(AnswerBody, OfAStreamTellsWhoDeleted) {
  const auto read =
      decode_records(R"({"Records":[{"eventName":"REMOVE","dynamodb":{"Keys":{"pk":{"S":"a"}},)"
                     R"("SequenceNumber":"100000000000000000007","SizeBytes":12,"ApproximateCreationDateTime":1.7E9},)"
                     R"("userIdentity":{"principalId":"dynamodb.amazonaws.com","type":"Service"}},)"
                     R"({"eventName":"REMOVE","dynamodb":{"SequenceNumber":"100000000000000000008"},)"
                     R"("userIdentity":{"principalId":"somebody","type":"User"}}]})");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->records.size(), 2U);
  EXPECT_EQ(read->records[0].time, base::TimePoint(std::chrono::seconds(1'700'000'000)));
  EXPECT_TRUE(read->records[0].by_time_to_live);
  EXPECT_FALSE(read->records[1].by_time_to_live);
  EXPECT_FALSE(read->next_shard_iterator);
}

TEST(AnswerBody, OfSuccessDoesNotTellOfAnError) {
  const char* const error = R"({"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"x"})";
  EXPECT_FALSE(decode_get_item(error));
  EXPECT_FALSE(decode_write_item(error));
  EXPECT_FALSE(decode_transact_write(error));
  EXPECT_FALSE(decode_batch_write(error));
  EXPECT_TRUE(decode_write_item("{}")) << "as of a write that returns nothing";
}

TEST(AnswerBody, OfSuccessHasWhatEachHas) {
  EXPECT_FALSE(decode_page("{}"));
  EXPECT_FALSE(decode_batch_get("{}", {}));
  EXPECT_FALSE(decode_transact_get("{}"));
  EXPECT_FALSE(decode_table("{}"));
  EXPECT_FALSE(decode_table(R"({"Table":{}})"));
  EXPECT_FALSE(decode_list_tables("{}"));
  EXPECT_FALSE(decode_time_to_live("{}"));
  EXPECT_FALSE(decode_records("{}"));
  EXPECT_FALSE(decode_stream("{}"));
  EXPECT_FALSE(decode_shard_iterator("{}"));
}

TEST(AnswerBody, IsRefusedWhenItIsNotWhatItMustBe) {
  for (const char* body : {"", " ", "[]", "null", "<html></html>", "{\"Item\":", R"({"Item":{"pk":{"S":"a"}})",
                           R"({"Item":[]})", R"({"Item":{"pk":{"S":1}}})", R"({"Item":{"pk":{"X":"a"}}})",
                           R"({"Item":{"pk":{"S":"a"}}} more)", R"({"ConsumedCapacity":{"CapacityUnits":"much"}})"})
    EXPECT_FALSE(decode_get_item(body)) << body;
  EXPECT_FALSE(decode_table(R"({"Table":{"CreationDateTime":1e300}})"));
}

TEST(AnswerBody, OfABatchNamesWhatIsLeft) {
  store::BatchGetTable asked;
  asked.table_name = "t";
  asked.keys = {{{"pk", "a"}}, {{"pk", "b"}}};
  asked.projection = "x";
  asked.consistent_read = true;
  const auto read = decode_batch_get(
      R"({"Responses":{"t":[{"x":{"N":"1"}}]},"UnprocessedKeys":{"t":{"Keys":[{"pk":{"S":"b"}}]}}})", {asked});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->unprocessed.size(), 1U);
  EXPECT_EQ(read->unprocessed[0].keys.at(0), (item::Key{{"pk", "b"}}));
  EXPECT_TRUE(read->unprocessed[0].consistent_read);
  EXPECT_EQ(read->unprocessed[0].projection->text(), "x");

  const auto written = decode_batch_write(
      R"({"UnprocessedItems":{"t":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"b"}}}}]}})");
  ASSERT_TRUE(written) << written.error().message;
  ASSERT_EQ(written->unprocessed.at(0).writes.size(), 2U);
  EXPECT_EQ(std::get<store::BatchDelete>(written->unprocessed[0].writes[1]).key, (item::Key{{"pk", "b"}}));
}

}  // namespace
}  // namespace postino::remote
