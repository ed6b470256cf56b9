#include "reminders/record/objection.h"

#include <gtest/gtest.h>

#include "item/json_codec.h"

namespace postino::reminders {
namespace {

const base::TimePoint objected_at = base::from_epoch_milliseconds(1'767'323'045'000);

Customer objecting_customer() {
  Customer customer;
  customer.id = "cust_001";
  customer.opted_out = true;
  customer.opted_out_at = objected_at;
  customer.complaints = 2;
  return customer;
}

// What is in tables of users stays readable: a change here needs a way for them.
TEST(Objection, HasTheseAttributesAndNothingAboutThePerson) {
  Customer customer = objecting_customer();
  customer.name = "Ada Lovelace";
  customer.email = "ada@example.org";
  customer.opted_out_reason = "Ada called";
  EXPECT_EQ(item::to_json(objection_item(Keys("acme"), "cust_001", objection_of(customer))),
            R"({"PK":{"S":"TENANT#acme#CUSTOMER#cust_001"},"SK":{"S":"OBJECTION"},"complaints":{"N":"2"},)"
            R"("customer_id":{"S":"cust_001"},"opt_out":{"BOOL":true},"opted_out_at_ms":{"N":"1767323045000"}})");
}

TEST(Objection, IsReadBack) {
  const Objection objection = objection_of(objecting_customer());
  EXPECT_EQ(read_objection(objection_item(Keys(""), "cust_001", objection)).value(), objection);
  const Objection complaint{.opted_out = false, .opted_out_at = {}, .complaints = 1};
  EXPECT_EQ(read_objection(objection_item(Keys(""), "cust_001", complaint)).value(), complaint);
}

TEST(Objection, IsThatOfOneWhoObjects) {
  Customer customer;
  EXPECT_FALSE(objection_of(customer).is_any());
  customer.complaints = -1;
  customer.opted_out_at = objected_at;
  EXPECT_EQ(objection_of(customer), Objection()) << "as another program may have written it";
  customer.complaints = 1;
  EXPECT_TRUE(objection_of(customer).is_any());
}

TEST(Objection, IsAddedAndTakesNothingAway) {
  EXPECT_EQ(with_objection(Customer(), objection_of(objecting_customer())).opted_out_at, objected_at);
  EXPECT_NE(why_stopped(with_objection(Customer(), objection_of(objecting_customer()))), "");
  EXPECT_EQ(with_objection(objecting_customer(), Objection()), objecting_customer());
  Customer later = objecting_customer();
  later.opted_out_at = objected_at + std::chrono::hours(1);
  later.complaints = 5;
  EXPECT_EQ(with_objection(later, objection_of(objecting_customer())), later);
}

}  // namespace
}  // namespace postino::reminders
