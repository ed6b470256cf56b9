#include "reminders/record/invoice_item.h"

#include <gmock/gmock.h>

#include "item/json_codec.h"

namespace postino::reminders {
namespace {

using ::testing::HasSubstr;

Invoice full_invoice() {
  Invoice invoice;
  invoice.customer_id = "cust_001";
  invoice.id = "INV-1";
  invoice.amount = Money::parse("1500.10", "EUR").value();
  invoice.paid = item::Number::parse("0.10").value();
  invoice.due_date = "2026-11-15";
  invoice.payments = {
      {"bank-1", item::Number::parse("0.10").value(), base::from_epoch_milliseconds(1'767'323'046'001)}};
  invoice.version = 2;
  invoice.created_at = base::from_epoch_milliseconds(1'767'323'045'250);
  invoice.updated_at = base::from_epoch_milliseconds(1'767'323'046'002);
  return invoice;
}

// What is in tables of users stays readable: a change here needs a way for them.
TEST(InvoiceItem, HasTheseAttributes) {
  const std::string rest =
      R"("amount":{"N":"1500.1"},"created_at_ms":{"N":"1767323045250"},"currency":{"S":"EUR"},)"
      R"("customer_id":{"S":"cust_001"},"due_date":{"S":"2026-11-15"},"invoice_id":{"S":"INV-1"},"paid":{"N":"0.1"},)"
      R"("payments":{"L":[{"M":{"amount":{"N":"0.1"},"paid_at_ms":{"N":"1767323046001"},)"
      R"("reference":{"S":"bank-1"}}}]},"updated_at_ms":{"N":"1767323046002"},"version":{"N":"2"}})";
  EXPECT_EQ(item::to_json(invoice_item(Keys(""), full_invoice())),
            R"({"GSI1PK":{"S":"INVOICES"},"GSI1SK":{"S":"cust_001#INV-1"},"PK":{"S":"CUSTOMER#cust_001"},)"
            R"("SK":{"S":"INVOICE#INV-1"},)" +
                rest);
  EXPECT_EQ(item::to_json(unpaid_item(Keys("acme"), full_invoice())),
            R"({"GSI1PK":{"S":"TENANT#acme#STATUS#unpaid"},"GSI1SK":{"S":"2026-11-15#cust_001#INV-1"},)"
            R"("PK":{"S":"TENANT#acme#CUSTOMER#cust_001"},"SK":{"S":"UNPAID#2026-11-15#INV-1"},)" +
                rest);
}

TEST(InvoiceItem, IsReadBack) {
  Invoice invoice = full_invoice();
  EXPECT_EQ(read_invoice(invoice_item(Keys(""), invoice)).value(), invoice);
  EXPECT_EQ(read_invoice(unpaid_item(Keys("acme", 8), invoice)).value(), invoice);
  invoice.payments.clear();
  invoice.paid_at = base::from_epoch_milliseconds(1);
  EXPECT_EQ(read_invoice(invoice_item(Keys(""), invoice)).value(), invoice);
  invoice.paid_day_unknown = true;
  EXPECT_EQ(*invoice_item(Keys(""), invoice).find("paid_day_unknown"), item::AttributeValue(true));
  EXPECT_EQ(read_invoice(invoice_item(Keys(""), invoice)).value(), invoice);
}

TEST(InvoiceItem, ThatIsBrokenIsTold) {
  const item::Item good = invoice_item(Keys(""), full_invoice());
  const auto fault_with = [&](const char* name, item::AttributeValue value) {
    item::Item item = good;
    item.set(name, std::move(value));
    const auto read = read_invoice(item);
    EXPECT_TRUE(!read && read.error().code == base::ErrorCode::corrupt) << name;
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(fault_with("amount", "much"),
              HasSubstr("CUSTOMER#cust_001/INVOICE#INV-1 cannot be read: amount must be"));
  EXPECT_THAT(fault_with("amount", item::Number::parse("1.005").value()),
              HasSubstr("amount must not have more than 2"));
  EXPECT_THAT(fault_with("paid", -1), HasSubstr("paid must be"));
  EXPECT_THAT(fault_with("currency", "euro"), HasSubstr("amount the currency must be"));
  EXPECT_THAT(fault_with("due_date", "2026-02-30"), HasSubstr("due_date must be a day"));
  EXPECT_THAT(fault_with("invoice_id", ""), HasSubstr("invoice_id must be"));
  EXPECT_THAT(fault_with("payments", "none"), HasSubstr("payments must be a list"));
  EXPECT_THAT(fault_with("payments", item::List{"x"}), HasSubstr("payments must have maps"));
  EXPECT_THAT(fault_with("payments", item::List{item::Map{{"amount", 1}}}), HasSubstr("payments must have amount"));
  EXPECT_THAT(fault_with("version", 0), HasSubstr("version must be"));
  item::Item without = good;
  without.erase("amount");
  EXPECT_FALSE(read_invoice(without));
}

}  // namespace
}  // namespace postino::reminders
