#include "reminders/record/customer_item.h"

#include <gmock/gmock.h>

#include "item/json_codec.h"

namespace postino::reminders {
namespace {

using ::testing::HasSubstr;

base::TimePoint moment_of(std::int64_t milliseconds) { return base::from_epoch_milliseconds(milliseconds); }

Customer full_customer() {
  Customer customer;
  customer.id = "cust_001";
  customer.name = "Ada";
  customer.email = "ada@example.org";
  customer.opted_out = true;
  customer.opted_out_at = moment_of(1'767'323'046'001);
  customer.opted_out_reason = "enough";
  customer.hard_bounces = 1;
  customer.complaints = 2;
  customer.last_bounce = "550";
  customer.last_complaint = "spam";
  customer.reminders_sent = 3;
  customer.late_payments = 4;
  customer.version = 5;
  customer.created_at = moment_of(1'767'323'045'250);
  customer.updated_at = moment_of(1'767'323'047'000);
  return customer;
}

// What is in tables of users stays readable: a change here needs a way for them.
TEST(CustomerItem, HasTheseAttributes) {
  EXPECT_EQ(item::to_json(customer_item(Keys("acme"), full_customer())),
            R"({"GSI1PK":{"S":"TENANT#acme#CUSTOMERS"},"GSI1SK":{"S":"cust_001"},)"
            R"("PK":{"S":"TENANT#acme#CUSTOMER#cust_001"},"SK":{"S":"PROFILE"},"complaints":{"N":"2"},)"
            R"("created_at_ms":{"N":"1767323045250"},"created_date":{"S":"2026-01-02T03:04:05Z"},)"
            R"("customer_email":{"S":"ada@example.org"},"customer_id":{"S":"cust_001"},"customer_name":{"S":"Ada"},)"
            R"("hard_bounces":{"N":"1"},"last_bounce":{"S":"550"},"last_complaint":{"S":"spam"},)"
            R"("late_payments":{"N":"4"},"opt_out":{"BOOL":true},"opt_out_reason":{"S":"enough"},)"
            R"("opted_out_at_ms":{"N":"1767323046001"},"reminders_sent":{"N":"3"},)"
            R"("updated_at_ms":{"N":"1767323047000"},"version":{"N":"5"}})");
  EXPECT_EQ(item::to_json(late_payer_item(Keys(""), "cust_001")),
            R"({"GSI1PK":{"S":"LATE_PAYERS"},"GSI1SK":{"S":"cust_001"},"PK":{"S":"CUSTOMER#cust_001"},)"
            R"("SK":{"S":"LATE_PAYER"},"customer_id":{"S":"cust_001"}})");
}

TEST(CustomerItem, IsReadBack) {
  EXPECT_EQ(read_customer(customer_item(Keys(""), full_customer())).value(), full_customer());
  Customer plain;
  plain.id = "a";
  plain.name = "A";
  plain.email = "a@example.org";
  plain.version = 1;
  EXPECT_EQ(read_customer(customer_item(Keys(""), plain)).value(), plain);
}

TEST(CustomerItem, ThatIsBrokenIsTold) {
  const item::Item good = customer_item(Keys(""), full_customer());
  const auto fault_with = [&](const char* name, item::AttributeValue value) {
    item::Item item = good;
    item.set(name, std::move(value));
    const auto read = read_customer(item);
    EXPECT_TRUE(!read && read.error().code == base::ErrorCode::corrupt) << name;
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(fault_with("opt_out", "yes"), HasSubstr("CUSTOMER#cust_001/PROFILE cannot be read: opt_out must be"));
  EXPECT_THAT(fault_with("complaints", "2"), HasSubstr("complaints must be a number"));
  EXPECT_THAT(fault_with("version", 0), HasSubstr("version must be a whole number from 1 on"));
  EXPECT_THAT(fault_with("customer_id", "a/b"), HasSubstr("customer_id must be"));
  EXPECT_THAT(fault_with("opted_out_at_ms", -1), HasSubstr("opted_out_at_ms"));
}

TEST(CustomerItem, ThatIsBrokenIsReadAsFarAsPossible) {
  item::Item item = customer_item(Keys(""), full_customer());
  item.set("version", *item::Number::parse("9223372036854775807"));
  EXPECT_THAT(read_customer(item).error().message, HasSubstr("version must be a whole number of at most"));
  item.set("customer_name", 5);
  item.set("opt_out", "no");
  item.set("complaints", "none");
  item.set("hard_bounces", item::List{});
  Customer expected = full_customer();
  expected.version = 0;
  expected.name.clear();
  expected.complaints = 1;
  EXPECT_EQ(salvaged_customer(item, "cust_001"), expected) << "what may have stopped reminders stops them";
  for (const std::string& name : customer_attributes()) item.erase(name);
  EXPECT_EQ(item.size(), Keys::key("", "").size() + 2) << "only the keys are left";
}

TEST(ErasedItem, IsReadBack) {
  ErasedCustomer erased;
  erased.customer_id = "cust_001";
  erased.opted_out = true;
  erased.complaints = 2;
  erased.suppressed = true;
  erased.began_at = moment_of(1'767'323'045'250);
  erased.finished_at = moment_of(1'767'323'045'251);
  const item::Item item = erased_item(Keys(""), erased);
  EXPECT_EQ(item::to_json(item),
            R"({"PK":{"S":"CUSTOMER#cust_001"},"SK":{"S":"ERASED"},"began_at_ms":{"N":"1767323045250"},)"
            R"("complaints":{"N":"2"},"customer_id":{"S":"cust_001"},"finished_at_ms":{"N":"1767323045251"},)"
            R"("opt_out":{"BOOL":true},"suppressed":{"BOOL":true}})");
  const auto read = read_erased(item);
  ASSERT_TRUE(read);
  EXPECT_EQ(item::to_json(erased_item(Keys(""), *read)), item::to_json(item));
}

// One look finds those of all tenants.
TEST(ErasedItem, IsFoundUntilItIsFinished) {
  ErasedCustomer erased;
  erased.customer_id = "cust_001";
  erased.began_at = moment_of(1'767'323'045'250);
  EXPECT_EQ(item::to_json(erased_item(Keys("acme"), erased)),
            R"({"GSI1PK":{"S":"ERASURES"},"GSI1SK":{"S":"2026-01-02T03:05:05.250Z"},)"
            R"("PK":{"S":"TENANT#acme#CUSTOMER#cust_001"},"SK":{"S":"ERASED"},"began_at_ms":{"N":"1767323045250"},)"
            R"("customer_id":{"S":"cust_001"},"opt_out":{"BOOL":false},"suppressed":{"BOOL":false},)"
            R"("tenant":{"S":"acme"}})");
}

}  // namespace
}  // namespace postino::reminders
