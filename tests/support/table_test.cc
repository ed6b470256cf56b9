// The table: made as the former system has it, or completed where another program made it.
#include "store/table_setup.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<std::string> index_names(SupportStore& store) {
  std::vector<std::string> names;
  const auto table = store.engine().describe_table(table_name);
  for (const store::IndexDescription& index : table->global_indexes) names.push_back(index.name);
  return names;
}

TEST(TicketTable, HasIndexesStreamExpiryRecoveryAndTags) {
  SupportStore store;
  const SupportOffice office(store);
  const auto table = store.engine().describe_table(table_name);
  ASSERT_TRUE(table);
  EXPECT_THAT(index_names(store), UnorderedElementsAre("GSI1-customer-index", "GSI2-status-index",
                                                       "GSI3-operator-index", "escalated-tickets-index"));
  EXPECT_EQ(table->billing_mode, store::BillingMode::pay_per_request);
  EXPECT_EQ(table->stream, store::StreamViewType::new_and_old_images);
  EXPECT_TRUE(table->deletion_protection);
  EXPECT_EQ(store.engine().describe_time_to_live(table_name)->attribute_name, "ttl");
  EXPECT_TRUE(store.engine().describe_continuous_backups(table_name)->enabled);
  EXPECT_THAT(
      store.engine().list_tags_of_resource(table->arn)->tags,
      UnorderedElementsAre(store::Tag{"Environment", "production"}, store::Tag{"Application", "ai-technical-support"}));
}

// As the former system's template makes it: without the sparse index, and with fewer attributes for operators.
TEST(TicketTable, OfAnotherProgramGetsWhatItLacks) {
  SupportStore store;
  store::CreateTableRequest request = tickets_table({});
  request.stream.reset();
  request.deletion_protection = false;
  std::erase_if(request.attribute_definitions, [](const store::AttributeDefinition& attribute) {
    return attribute.name == "escalated_at" || attribute.name == "assigned_to";
  });
  std::erase_if(*request.global_indexes,
                [](const store::GlobalIndexDefinition& index) { return index.name == escalated_index; });
  (*request.global_indexes)[2].projection.non_key_attributes = {{"ticket_id", "rating", "was_helpful"}};
  ASSERT_TRUE(store.engine().create_table(request));

  SupportOffice office(store);
  EXPECT_THAT(index_names(store), ::testing::Contains("escalated-tickets-index"));
  const auto table = store.engine().describe_table(table_name);
  EXPECT_EQ(table->stream, store::StreamViewType::new_and_old_images);
  EXPECT_TRUE(table->deletion_protection);

  const std::string id = office.make();
  NewFeedback feedback{.operator_id = "op_1", .rating = 4, .comments = "good"};
  ASSERT_TRUE(succeeded(office.feedback.add(id, feedback, operator_of())));
  const auto page = office.feedback.by_operator("op_1", {}, operator_of());
  ASSERT_TRUE(succeeded(page));
  ASSERT_EQ(page->entries.size(), 1U);
  EXPECT_EQ(page->entries.front().comments, "good") << "read from the table";
}

TEST(TicketTable, WithOtherKeysIsRefused) {
  SupportStore store;
  ASSERT_TRUE(store.engine().create_table(store::table_request(table_name, {{"id", item::Type::string}})));
  MemoryMailer mail;
  SupportDesk desk(store.engine(), mail, {}, store.clock(), store.random(), store.retry());
  EXPECT_FALSE(desk.prepare([] { return false; }));
}

}  // namespace
}  // namespace postino::support
